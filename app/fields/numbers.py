"""Numbers as people write them, in either language, and as they are stored."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

# What begins with nothing has no thousands: "0,500" is a half.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:([,.\u00a0 '])\d{3})+(?:[.,]\d+)?")
_POINT_AND_THREE = re.compile(r"[+\-\u2212]?\d{1,3}\.\d{3}")


def plain_number(number: Decimal) -> str:
    """Without an exponent and without zeros that say nothing: 38, 38.5, 0."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def parse_number(raw: Any) -> Decimal | None:
    """A number as people write it, "1,250.5" or "1.250,5" or "38,5"; None for anything else.

    One text is one number, whatever language the page is in: "1,250" is 1250 and "1.250" is 1.25,
    in the English and the Spanish of both sides of the border.
    """
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str, Decimal)):
        return None
    text = str(raw).strip().replace("\u2212", "-")
    # What is a number already is not taken apart as somebody's writing.
    grouped = _THOUSANDS.fullmatch(text) if isinstance(raw, str) else None
    if grouped and not _POINT_AND_THREE.fullmatch(text):
        text = text.replace(grouped[1], "")
    text = text.replace(",", ".")
    if not re.fullmatch(r"[+-]?(?:\d{1,12}(?:\.\d{0,6})?|\.\d{1,6})", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def is_between_two(raw: Any) -> bool:
    """Whether it is 1.25 to one and 1250 to another: "1.250", as somebody writes it."""
    is_so = isinstance(raw, str) and _POINT_AND_THREE.fullmatch(raw.strip()) is not None
    return is_so and not raw.strip().lstrip("+-\u2212").startswith("0")
