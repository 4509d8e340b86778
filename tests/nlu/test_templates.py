"""Templates of a skill, as sentences that the model learns from."""

from __future__ import annotations

import pytest

from app.nlu.trainer import MOST_SAMPLES, UnreadableTemplate, sample_template


def test_a_template_stands_for_sentences_with_its_slots_filled() -> None:
    samples = sample_template("(add|log) [the] {money} for {item}", "en")
    assert 10 < len(samples) <= MOST_SAMPLES
    assert len(set(samples)) == len(samples)
    assert {sample.split()[0] for sample in samples} == {"add", "log"}
    assert not any("{" in sample or "(" in sample for sample in samples)


def test_samples_are_always_the_same() -> None:
    template = "se (acabó|terminó) {product}"
    assert sample_template(template, "es") == sample_template(template, "es")


def test_one_without_a_choice_is_itself() -> None:
    assert sample_template("what is sold out", "en") == ["what is sold out"]


@pytest.mark.parametrize("template", ["(add|log", "log {moon_phase}", "", "{"])
def test_what_is_no_template_is_told(template: str) -> None:
    with pytest.raises(UnreadableTemplate, match="cannot be read"):
        sample_template(template, "en")


def test_many_alternatives_are_read_no_further_than_needed() -> None:
    assert len(sample_template(" ".join(["(a|b|c|d|e|f|g|h)"] * 12), "en")) <= MOST_SAMPLES
