"""Prices as people type them: sums that a menu may ask for."""

from __future__ import annotations

import re
from decimal import Decimal

from app.errors import InvalidInput
from app.text.money import parse_amount

# What no menu asks for, in whatever currency.
HIGHEST = Decimal(1_000_000)
_SIGNS_ALONE = re.compile(r"(?:[\s$€£]|MXN|USD|EUR)*", re.IGNORECASE)


def parse_price(text: str) -> Decimal | None:
    """A price as a sum is typed (`parse_amount`), in cents; nothing typed is no price.

    Raises:
        InvalidInput: it is no sum, below zero, or absurdly high.
    """
    if _SIGNS_ALONE.fullmatch(text):
        return None
    try:
        price = parse_amount(re.sub(r"\d", lambda figure: str(int(figure[0])), text))
    except ValueError:
        raise InvalidInput("Enter a price like 12.50 or 12,50.", field="price") from None
    if price < 0:
        raise InvalidInput("A price cannot be below zero.", field="price")
    if price > HIGHEST:
        raise InvalidInput("That price is too high. Check the number.", field="price")
    return price.quantize(Decimal("0.01"))
