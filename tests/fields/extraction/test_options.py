"""Options of a field that are said, many of them and many times."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest

from app.db import utc_now
from app.fields.definitions import Words, read_fields
from app.fields.extraction import extract
from app.fields.extraction.lexicon import MOST_LABELS, phrases_of
from app.fields.extraction.options import _patterns
from app.fields.values import FieldContext
from tests.growth import check_growth


def said_of(labels: list[str], sentence: str) -> object:
    options = [{"value": f"v{n}", "label": {"en": label}} for n, label in enumerate(labels)]
    picked = {"name": "pick", "type": "multi_select", "label": {"en": "Pick"}, "options": options}
    around = FieldContext(utc_now(), ZoneInfo("UTC"))
    found = extract(read_fields([picked]), sentence, around, {})
    return found[0].raw if found else None


@pytest.mark.fault(60)
def test_many_options_that_are_said_alike_cost_what_their_words_cost() -> None:
    """What stands in brackets is not said: each of these options is "bar"."""

    def work(size: int) -> Callable[[], object]:
        labels = [f"bar ({number})" for number in range(min(size, 100))]
        return lambda: said_of(labels, "bar " * size)

    check_growth(work, 100)


@pytest.mark.parametrize(
    ("sentence", "meant"),
    [
        ("patio table 2 is wet", ["v1"]),
        ("the patio is wet", ["v0"]),
        ("patio and patio table 2", ["v0", "v1"]),
        ("patio table " * 20, ["v2"]),
        ("nothing of the kind", None),
    ],
)
def test_the_longer_of_two_options_that_overlap_is_meant(
    sentence: str, meant: list[str] | None
) -> None:
    assert said_of(["Patio", "Patio table 2", "Patio table"], sentence) == meant


def test_only_so_many_labels_are_kept_in_mind() -> None:
    assert phrases_of.cache_info().maxsize == _patterns.cache_info().maxsize == MOST_LABELS
    assert "bar" in phrases_of(Words(en="Bar (1)", es=""))
