"""Days for short: how people type them on a phone, and what looks like one and is none."""

from __future__ import annotations

from datetime import date

import pytest

from app.fields.extraction.dates import find_days
from app.fields.extraction.sentence import Sentence

# A Wednesday.
TODAY = date(2027, 1, 6)


def read(text: str, when: str = "future") -> list[date | None]:
    return [day.on(TODAY, when) for day in find_days(Sentence.of(text), is_spanish=False)]


@pytest.mark.parametrize(
    ("text", "day", "before"),
    [
        ("can someone cover me fri", 8, date(2027, 1, 1)),
        ("thurs night", 7, date(2026, 12, 31)),
        ("on sat", 9, date(2027, 1, 2)),
        ("Sun.", 10, date(2027, 1, 3)),
        ("el sáb en la noche", 9, date(2027, 1, 2)),
        ("el vie", 8, date(2027, 1, 1)),
        ("on the 12th", 12, date(2026, 12, 12)),
        ("the 31st", 31, date(2026, 12, 31)),
        ("swap for the 6th, please", 6, TODAY),
    ],
)
def test_a_day_for_short_is_the_nearest_on_its_side(text: str, day: int, before: date) -> None:
    assert read(text) == [date(2027, 1, day)]
    assert read(text, "past") == [before]


def test_where_it_may_lie_on_either_side_a_day_of_the_month_is_open() -> None:
    assert read("on the 12th", "any") == [None]
    assert read("tmrw morning", "any") == [date(2027, 1, 7)]


@pytest.mark.parametrize(
    "text",
    [
        "he sat down",
        "two chairs in the sun",
        "on the 2nd floor",
        "for the 3rd time",
        "the 12th guest",
        "el mar",
        "el 12",
        "i cannot work saturdays",
        "not on fri",
    ],
)
def test_what_is_no_day_is_none(text: str) -> None:
    assert read(text) == []
