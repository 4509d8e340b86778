"""What is no value of any field."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.db import utc_now
from app.fields.definitions import read_fields
from app.fields.patterns import compile_pattern
from app.fields.values import FieldContext, Person, Problem, read_value
from tests.skills.forms.filling import EVERY_TYPE

FIELDS = {each.type: each for each in read_fields(EVERY_TYPE)}


UNSEEN = ["", " ", "\0", "\u200b"]
GIVEN = [
    *(("text", each) for each in UNSEEN),
    *(("textarea", each) for each in UNSEEN),
    *(("file", each) for each in [*UNSEEN, [], ["\0"]]),
    ("address", {}),
    ("address", {"line1": "\0"}),
]


@pytest.mark.parametrize(("type_", "raw"), GIVEN)
def test_what_cannot_be_seen_is_none(type_: str, raw: Any) -> None:
    around = FieldContext(utc_now(), ZoneInfo("UTC"))
    assert read_value(FIELDS[type_], raw, around) is None


@pytest.mark.fault(38)
def test_an_id_of_a_contact_that_is_a_book_is_not_looked_for() -> None:
    def find(_wanted: str) -> list[Person]:
        raise AssertionError("somebody looked for it")

    around = FieldContext(utc_now(), ZoneInfo("UTC"), find_people=find)
    with pytest.raises(Problem):
        read_value(FIELDS["person"], {"name": "z", "contact_id": "ab c. " * 10_000}, around)


@pytest.mark.fault(38)
@pytest.mark.parametrize("pattern", [r"(\pL{0,250})|N", r"[\pL ]{1,400}", "(" * 50])
def test_a_pattern_that_unpacks_to_megabytes_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        compile_pattern(pattern)


def test_patterns_for_what_people_write_are_taken() -> None:
    assert compile_pattern(r"[A-Z]{2}-?\d{4,6}").fullmatch("TX-4521")
    assert compile_pattern(r"[a-zA-Z0-9 .-]{1,500}").fullmatch("Walk-in 2")
    assert not compile_pattern(r"\d{5}(?:-\d{4})?").fullmatch("782")


@pytest.mark.parametrize(
    ("typed", "decimals", "told"),
    [
        ("1.250", 2, "Write 1250 if you mean thousands, else 1.25."),
        ("12.000", 0, "Write 12000 if you mean thousands, else 12."),
        ("-1.250", 1, "Write -1250 if you mean thousands, else -1.2."),
        ("1.250", 3, None),
        ("0.250", 2, None),
        ("1,250", 0, "At most 500."),
    ],
)
def test_a_number_that_is_two_numbers_to_two_people_is_asked_about(
    typed: str, decimals: int, told: str | None
) -> None:
    field = FIELDS["number"].model_copy(update={"decimals": decimals})
    around = FieldContext(utc_now(), ZoneInfo("UTC"))
    if told is None:
        assert read_value(field, typed, around)
    else:
        with pytest.raises(Problem) as raised:
            read_value(field, typed, around)
        assert raised.value.message % raised.value.params == told
