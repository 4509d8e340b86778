"""Values of fields as people read them: on paper, in lists and in tables, in either language.

And what stands before a phone number: the countries' codes, by the countries' names.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache
from typing import NamedTuple

import phonenumbers
from babel import Locale
from babel.dates import format_date, format_time
from babel.numbers import format_decimal

from app.fields.definitions import (
    FILE_TYPES,
    FormField,
    MultiSelectField,
    NumberField,
    RadioField,
    SelectField,
)
from app.fields.values import ADDRESS_PARTS, Value
from app.text.normalize import fold
from app.text.numbers import NUMBER_LOCALES

_YES = {"en": "Yes", "es": "Sí"}
_NO = {"en": "No", "es": "No"}
HOME_CODE = 1
# Where those who work in restaurants come from, and most of their numbers; the first is at home.
COMMON_REGIONS = (
    "US",
    "MX",
    "CA",
    "GT",
    "HN",
    "SV",
    "NI",
    "CR",
    "PA",
    "CO",
    "VE",
    "EC",
    "PE",
    "DO",
    "CU",
)


def display(field: FormField, value: Value | None, language: str) -> str:
    """A stored value in words, its lines apart; empty where there is none.

    Moments are stored as the group's clock shows them, and are shown so.
    """
    if field.type == "checkbox":
        return (_YES if value else _NO)[language]
    if value is None:
        return ""
    if isinstance(field, NumberField):
        return _number(field, value, language)
    if field.type == "date":
        return str(format_date(date.fromisoformat(value), "long", locale=language))
    if field.type == "time":
        return _time(time.fromisoformat(value), language)
    if field.type == "datetime":
        return display_moment(datetime.fromisoformat(value), language)
    return plain(field, value, language)


def plain(field: FormField, value: Value | None, language: str) -> str:
    """A stored value for a table that is reckoned with: numbers and days as machines read them."""
    if field.type == "checkbox":
        return (_YES if value else _NO)[language]
    if value is None:
        return ""
    if isinstance(field, SelectField | RadioField):
        return _label(field, value, language)
    if isinstance(field, MultiSelectField):
        return ", ".join(_label(field, each, language) for each in value)
    if field.type == "phone":
        return _phone(value)
    if field.type == "address":
        return _address(value)
    if field.type == "person":
        return str(value.get("name", ""))
    if field.type in FILE_TYPES:
        return ", ".join(str(each["name"]) for each in value)
    return str(value).replace("T", " ") if field.type == "datetime" else str(value)


def display_moment(moment: datetime, language: str) -> str:
    """A moment as the group's clock shows it, to the minute."""
    day = format_date(moment.date(), "long", locale=language)
    return f"{day}, {_time(moment.time(), language)}"


def _number(field: NumberField, value: str, language: str) -> str:
    # As many places as there are: a number is not rounded on its way to paper.
    written = str(format_decimal(Decimal(value), "#,##0.####", locale=NUMBER_LOCALES[language]))
    unit = field.unit.text(language)
    return f"{written} {unit}" if unit else written


def _time(moment: time, language: str) -> str:
    return str(format_time(moment, "short", locale=language)).replace("\u202f", " ")


def _label(field: SelectField | RadioField | MultiSelectField, value: str, language: str) -> str:
    option = field.option(value)
    return option.label.text(language) if option else value


def _phone(value: str) -> str:
    """As it is dialled here; with its country's code where it is of another one."""
    try:
        number = phonenumbers.parse(value)
    except phonenumbers.NumberParseException:
        return value
    formats = phonenumbers.PhoneNumberFormat
    is_home = number.country_code == HOME_CODE
    return str(
        phonenumbers.format_number(number, formats.NATIONAL if is_home else formats.INTERNATIONAL)
    )


def _address(value: Mapping[str, str]) -> str:
    """As on an envelope: street, more, city with state and code, country."""
    given = {part: value.get(part, "") for part in ADDRESS_PARTS}
    region = " ".join(filter(None, (given["state"], given["postal"])))
    town = ", ".join(filter(None, (given["city"], region)))
    return "\n".join(filter(None, (given["line1"], given["line2"], town, given["country"])))


class CallingCode(NamedTuple):
    """A country's code, as "52", and the country's name."""

    code: str
    name: str
    is_common: bool


@cache
def calling_codes(language: str, home: str) -> tuple[CallingCode, ...]:
    """All countries by name, before them the common ones: first that of `home`, by its code."""
    names = Locale.parse(language).territories
    first = tuple(dict.fromkeys((home, *COMMON_REGIONS)))
    common = [_code_of(region, names[region], is_common=True) for region in first]
    others = (
        _code_of(region, names[region], is_common=False)
        for region in phonenumbers.SUPPORTED_REGIONS
        if region in names and region not in first
    )
    return (*common, *sorted(others, key=lambda each: fold(each.name)))


def _code_of(region: str, name: str, *, is_common: bool) -> CallingCode:
    return CallingCode(str(phonenumbers.country_code_for_region(region)), name, is_common)
