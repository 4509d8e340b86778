"""Prices as people type them: with a point or a comma, with or without a currency sign."""

from __future__ import annotations

import re
from decimal import Decimal

from app.errors import InvalidInput

# What no menu asks for, in whatever currency.
HIGHEST = Decimal(1_000_000)
_WRITTEN = re.compile(r"\d+(?:[.,]\d+)*")


def parse_price(text: str) -> Decimal | None:
    """`12.50`, `12,50`, `$1,250.00` and `1.250,00` as a number; nothing typed is no price.

    One sign with three figures after it parts thousands; a price has two decimals at most.

    Raises:
        InvalidInput: it is no number, below zero, or absurdly high.
    """
    bare = re.sub(r"[\s$€£]|MXN|USD|EUR", "", text.strip())
    if not bare:
        return None
    if bare.startswith("-"):
        raise InvalidInput("A price cannot be below zero.", field="price")
    if not _WRITTEN.fullmatch(bare):
        raise _not_a_price()
    *thousands, last = re.split(r"[.,]", bare)
    signs = re.sub(r"\d", "", bare)
    if thousands and len(last) <= 2:
        whole, cents, parting = thousands, last, signs[:-1]
    else:
        whole, cents, parting = [*thousands, last], "", signs
    if len(set(parting)) > 1 or any(len(part) != 3 for part in whole[1:]):
        raise _not_a_price()
    if parting and (len(whole[0]) > 3 or (cents and parting[0] == signs[-1])):
        raise _not_a_price()
    price = Decimal(f"{''.join(whole)}.{cents or 0}")
    if price > HIGHEST:
        raise InvalidInput("That is more than any price here. Check the figures.", field="price")
    return price.quantize(Decimal("0.01"))


def _not_a_price() -> InvalidInput:
    return InvalidInput("Write a price like 12.50 or 12,50.", field="price")
