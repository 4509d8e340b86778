"""What is no value of any field."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import phonenumbers
import pytest

from app.db import utc_now
from app.fields.definitions import read_fields
from app.fields.display import display
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
        ("1.250", 2, "Enter 1250 if you mean thousands; otherwise, enter 1.25."),
        ("12.000", 0, "Enter 12000 if you mean thousands; otherwise, enter 12."),
        ("-1.250", 1, "Enter -1250 if you mean thousands; otherwise, enter -1.2."),
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


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("210 555 0123", "+12105550123"),
        ("(210) 555-0123", "+12105550123"),
        ("210.555.0123", "+12105550123"),
        ("+52 55 1234 5678", "+525512345678"),
        ("(+52) 55 1234 5678", "+525512345678"),
        ("210 555 0123 ext. 45", "+12105550123;ext=45"),
        ("210 555 0123 extension 007", "+12105550123;ext=007"),
        ("210 555 0123 extensión 45", "+12105550123;ext=45"),
        ("210 555 0123 int. 45", "+12105550123;ext=45"),
        ("210-555-0123 x45", "+12105550123;ext=45"),
        ("210 555 0123 #45", "+12105550123;ext=45"),
        ("210 555 0123 (Ext: 45)", "+12105550123;ext=45"),
        ("210 555 0123 interno 45", "+12105550123;ext=45"),
        ("+52 55 1234 5678 ext 123456789", "+525512345678;ext=123456789"),
    ],
)
def test_a_phone_number_is_stored_with_its_extension_and_read_again_as_it_is_shown(
    typed: str, stored: str
) -> None:
    field, around = FIELDS["phone"], FieldContext(utc_now(), ZoneInfo("UTC"))
    assert read_value(field, typed, around) == stored
    assert read_value(field, stored, around) == stored
    for language in ("en", "es"):
        assert read_value(field, display(field, stored, language), around) == stored


def test_a_number_of_any_country_is_read_again_as_it_is_shown() -> None:
    field, around = FIELDS["phone"], FieldContext(utc_now(), ZoneInfo("UTC"))
    for region in phonenumbers.SUPPORTED_REGIONS:
        number = phonenumbers.example_number(region)
        plain = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        for stored in (plain, f"{plain};ext=45"):
            assert read_value(field, display(field, stored, "en"), around) == stored, region


NO_PHONE = "Enter a phone number with its area code, like 210 555 0123 or 210 555 0123 ext. 45."
TOO_LONG = "An extension has at most 9 digits."


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("not 210 555 0123", NO_PHONE),
        ("210 555 0123 or 0124", NO_PHONE),
        ("210 555 0123 evenings", NO_PHONE),
        ("210 555 nope", NO_PHONE),
        ("210 555 0123, 0124", NO_PHONE),
        ("210 555 0123 z x45", NO_PHONE),
        ("+49 30 123456 z x45", NO_PHONE),
        ("210 555 0123 ext.", NO_PHONE),
        ("210 555 0123;ext=45;isub=1", NO_PHONE),
        ("555 0123", NO_PHONE),
        ("+1 555 0123", NO_PHONE),
        ("555 0123 ext. 45", NO_PHONE),
        ("12", NO_PHONE),
        ("210 555 0123 ext. 1234567890", TOO_LONG),
        ("210 555 0123 ext. 123456789012345678901", TOO_LONG),
        ("210 555 0123 " + "x" * 10_000, NO_PHONE),
        ("(" * 10_000, NO_PHONE),
        ("1 " * 5_000, NO_PHONE),
    ],
)
def test_a_phone_number_of_which_something_would_get_lost_is_refused(typed: str, told: str) -> None:
    around = FieldContext(utc_now(), ZoneInfo("UTC"))
    with pytest.raises(Problem) as raised:
        read_value(FIELDS["phone"], typed, around)
    assert raised.value.message % raised.value.params == told
