"""What was learned from sentences: the artefact, and what is read with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.errors import ConfigurationError
from app.nlu import model as nlu
from app.nlu import trainer
from app.nlu.features import count_features, sound_of
from app.nlu.model import ARTEFACT, CONTROLS, CRISIS, INTENTS, REPLY, digest, load_model
from app.nlu.trainer import EXAMPLES, SENTENCES, Sentence, calibrate, learn, read_held_out


def likeliest(text: str) -> str:
    shares = load_model()[INTENTS].shares(text)
    return max(shares, key=lambda name: shares[name])


# The artefact


def test_the_artefact_is_made_from_these_sentences() -> None:
    """Fails after a sentence, an example or how they are read has changed: run `make nlu`."""
    with np.load(ARTEFACT) as stored:
        assert str(stored["digest"]) == digest()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half a file", b"\x00" * 4_000])
def test_a_damaged_artefact_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    damaged = tmp_path / "model.npz"
    damaged.write_bytes(content)
    with pytest.raises(ConfigurationError, match="make nlu"):
        load_model(damaged)
    with pytest.raises(ConfigurationError, match="make nlu"):
        load_model(tmp_path / "missing.npz")


def test_an_artefact_that_is_older_than_its_sentences_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "model.npz"
    copy.write_bytes(ARTEFACT.read_bytes())
    monkeypatch.setattr(nlu, "digest", lambda **_: "of other sentences")
    with pytest.raises(ConfigurationError, match="older than its sentences"):
        load_model(copy)


def test_a_skill_of_which_nothing_was_learned_does_not_make_the_artefact_old(
    tmp_path: Path,
) -> None:
    """A new skill is recognised by its examples until `make nlu` has run; then it counts."""
    folder = tmp_path / "nlu"
    folder.mkdir()
    old, new = (tmp_path / "skills" / name / "tools" for name in ("old", "new"))
    for tools, tool in ((old, "look_up"), (new, "write_down")):
        tools.mkdir(parents=True)
        (tools / "examples.yaml").write_text(f"{tool}:\n  en:\n    - say it\n")
        (tools / "templates.yaml").write_text(
            f"# Ways to say it.\n{tool}:\n  en:\n    - (say) it\n"
        )
    before = digest(folder, learned=("look_up", REPLY))
    assert digest(folder) != before
    (new / "examples.yaml").write_text("write_down:\n  en:\n    - something else\n")
    assert digest(folder, learned=("look_up", REPLY)) == before
    everything = digest(folder)
    assert digest(folder, learned=("look_up", "write_down")) == everything
    (old / "examples.yaml").write_text("look_up:\n  en:\n    - something else\n")
    assert digest(folder, learned=("look_up", REPLY)) != before
    assert digest(folder, learned=("look_up", "write_down")) != everything


def test_the_sentences_name_their_writers() -> None:
    for path in sorted(SENTENCES.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            assert json.loads(line)["author"] == path.stem


# What is read


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        (
            "the restroom sink is clogged up and dripping on the floor",
            "suggest_service_request_type",
        ),
        ("no enfría el aire del comedor y hay gente", "suggest_service_request_type"),
        ("i need to put in writing that Dan showed up 40 minutes late", "search_forms"),
        ("paid the window guy 60 bucks this morning", "add_expense"),
        ("cuánto llevamos gastado en hielo este mes", "get_balance"),
        ("which white goes with the sea bass", "search_wines"),
        ("does the caesar have anchovies", "search_dishes"),
        ("qué lleva la paloma de la casa", "search_cocktails"),
        ("do i get paid for my break", "search_manual_v2"),
        ("i dont wanna live anymore", CRISIS),
    ],
)
def test_what_a_message_is_for(text: str, intent: str) -> None:
    assert likeliest(text) == intent


@pytest.mark.parametrize("text", ["", " ", "😀", "?!", "\u200b", "x" * 10_000, "餐廳在哪裡"])
def test_anything_can_be_read_and_the_shares_are_one(text: str) -> None:
    for shares in (
        load_model()[INTENTS].shares(text),
        load_model()[CONTROLS].shares(text, "Shall I add it?"),
    ):
        assert sum(shares.values()) == pytest.approx(1)


def test_a_short_answer_is_one() -> None:
    assert likeliest("since this morning") == REPLY
    controls = load_model()[CONTROLS].shares("never mind, forget the whole thing", "Where is it?")
    assert max(controls, key=lambda name: controls[name]) == "cancel"


def test_words_that_sound_alike_are_the_same() -> None:
    assert sound_of("quiero") == sound_of("kiero")
    assert sound_of("cocinar") == sound_of("kosinar")
    assert sound_of("llave") == sound_of("yabe")


def test_a_pasted_menu_costs_no_more_than_its_first_words() -> None:
    short, long = count_features("soup " * 80), count_features("soup " * 80_000)
    assert short == long


# How it is learned


WRITERS = ("en-a", "en-b", "es-a", "es-b")
SAID = {
    "wine": ("red {}", "a glass of {}", "vino {}"),
    "fix": ("{} is broken", "repair the {}"),
    "form": ("write up {}", "document {}"),
}
THINGS = ("one", "two", "three", "four")


def made_up() -> list[Sentence]:
    return [
        Sentence(said.format(thing), label, writer)
        for writer, thing in zip(WRITERS, THINGS, strict=True)
        for label, lines in SAID.items()
        for said in lines
    ]


def test_each_sentence_is_measured_by_what_never_saw_its_writer() -> None:
    sentences = made_up()
    held = read_held_out(sentences)
    assert sorted(each.text for each, _ in held) == sorted(each.text for each in sentences)
    right = [max(shares, key=lambda name: shares[name]) == each.label for each, shares in held]
    assert all(right)


def test_what_only_a_skill_has_examples_of_is_reached_by_less() -> None:
    written = made_up()
    examples = [
        Sentence(each.text, each.label, EXAMPLES if each.label == "form" else each.author)
        for each in written
    ]
    message = "document the broken three"
    before, after = learn(written).shares(message), learn(examples).shares(message)
    assert after["form"] > before["form"]
    # What shares nothing with the examples is no more likely than before.
    unknown = "?!"
    assert learn(examples).shares(unknown) == pytest.approx(learn(written).shares(unknown))


def test_what_is_learned_is_the_same_each_time() -> None:
    first, second = learn(made_up()), learn(made_up())
    assert (first.weights == second.weights).all()
    assert (first.scale == second.scale).all()


def test_what_was_measured_is_kept_beside_the_artefact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each classifier is named before the minutes that it takes; the report is its own diff."""
    monkeypatch.setattr(trainer, "load_sentences", lambda: {INTENTS: made_up()})
    artefact = tmp_path / "model.npz"
    trainer.main(artefact)
    said = capsys.readouterr().out
    report = artefact.with_suffix(".txt").read_text("utf-8")
    assert said.startswith(f"{INTENTS}: learning from {len(made_up())} sentences")
    assert report in said
    assert report.startswith(f"{INTENTS}: 100.0% of ")
    assert artefact.exists()


def test_calibrating_changes_how_sure_it_is_and_not_what_it_says() -> None:
    sentences = made_up()
    learned = learn(sentences)
    calibrated = calibrate(learned, read_held_out(sentences))
    for each in sentences:
        before, after = learned.shares(each.text), calibrated.shares(each.text)
        assert max(before, key=lambda n: before[n]) == max(after, key=lambda n: after[n])
    assert learned.scale[0] != calibrated.scale[0]
