"""Numbers as people write them, in either language, and as they are stored."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:([,.\u00a0 '])\d{3})+(?:[.,]\d+)?")


def plain_number(number: Decimal) -> str:
    """Without an exponent and without zeros that say nothing: 38, 38.5, 0."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def parse_number(raw: Any, language: str = "en") -> Decimal | None:
    """A number as people write it, "1,250.5" or "1.250,5" or "38,5"; None for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str, Decimal)):
        return None
    text = str(raw).strip().replace("\u2212", "-")
    # What is a number already is not taken apart as somebody's writing.
    grouped = _THOUSANDS.fullmatch(text) if isinstance(raw, str) else None
    if grouped and not _is_decimal_comma(text, grouped[1], language):
        text = text.replace(grouped[1], "")
    text = text.replace(",", ".")
    if not re.fullmatch(r"[+-]?(?:\d{1,12}(?:\.\d{0,6})?|\.\d{1,6})", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _is_decimal_comma(text: str, sign: str, language: str) -> bool:
    """Whether "1,250" means one and a quarter: only where one sign could be either."""
    if sign not in ".," or text.count(sign) > 1 or re.search(r"[.,]\d{3}[.,]\d+$", text):
        return False
    return language == ("en" if sign == "." else "es")
