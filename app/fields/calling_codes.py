"""What stands before a phone number: the countries' codes, by the countries' names."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import phonenumbers
from babel import Locale

from app.text.normalize import fold

# Where those who work in such houses come from, and most of their numbers; the first is at home.
COMMON = ("US", "MX", "CA", "GT", "HN", "SV", "NI", "CR", "PA", "CO", "VE", "EC", "PE", "DO", "CU")


class CallingCode(NamedTuple):
    """A country's code, as "52", and the country's name."""

    code: str
    name: str
    is_common: bool


@cache
def calling_codes(language: str) -> tuple[CallingCode, ...]:
    """All countries by name, the common ones before them."""
    names = Locale.parse(language).territories
    common = [_code_of(region, names[region], is_common=True) for region in COMMON]
    others = (
        _code_of(region, names[region], is_common=False)
        for region in phonenumbers.SUPPORTED_REGIONS
        if region in names and region not in COMMON
    )
    return (*common, *sorted(others, key=lambda each: fold(each.name)))


def _code_of(region: str, name: str, *, is_common: bool) -> CallingCode:
    return CallingCode(str(phonenumbers.country_code_for_region(region)), name, is_common)
