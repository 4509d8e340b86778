"""Fractions as they are written: "1/2", "2 1/2", "2-1/2", "2½"."""

from __future__ import annotations

import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal

# The parts that people weigh and measure by; "11/12" is a day far more often.
_BOTTOMS = (2, 3, 4, 5, 6, 8, 10, 16)
_WRITTEN = "|".join(
    sorted((f"{top}[/⁄]{b}" for b in _BOTTOMS for top in range(1, b)), key=len, reverse=True)
)
_SIGNS = "[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
# A pattern's source, with the groups `fraction`, `whole` and `part`.
FRACTION = (
    rf"(?P<fraction>(?:(?P<whole>\d{{1,3}})(?:\s+(?:and\s+|y\s+)?|-))?"
    rf"(?P<part>(?:{_WRITTEN})(?![\d/⁄]|-\d)))"
    rf"|(?P<signed>\d{{0,3}}\s?{_SIGNS})"
)
WRITTEN = re.compile(rf"(?<![\w.,:/⁄#-])(?:{FRACTION})")
# Of a number in a form no more places are kept than that.
_PLACES = Decimal("0.000001")


def read_fraction(match: re.Match[str]) -> Decimal:
    """The value of what `FRACTION` has found, to six places."""
    signed = match["signed"]
    if signed:
        whole, part = signed[:-1].strip(), Decimal(unicodedata.numeric(signed[-1]))
    else:
        top, bottom = re.split("[/⁄]", match["part"])
        whole, part = match["whole"], Decimal(top) / Decimal(bottom)
    return (Decimal(whole or 0) + part).quantize(_PLACES, ROUND_HALF_UP)
