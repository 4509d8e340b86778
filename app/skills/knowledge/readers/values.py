"""What stands in a menu's cells: prices, allergens, lists, yes and no."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from app.skills.knowledge.readers.columns import folded
from app.skills.knowledge.readers.lexicon import either, named, named_by
from app.skills.knowledge.readers.omissions import must_be_kept
from app.text.allergens import ALLERGENS, FAMILIES, expand_families
from app.text.normalize import fold

MOST_PRICE = Decimal(100_000)
LONGEST_PRICE = 60  # letters, with its currency and the blanks between
_SIGN = rf"(?:(?:mx|us)?\$|€|£|\b{either('currencies')}\b)"
# A currency stands before or behind its sum, and never within.
_BEFORE = re.compile(rf"^([+-]?)\s*(?:{_SIGN}\s*)+", re.IGNORECASE)
_BEHIND = re.compile(rf"(?:\s*{_SIGN})+$", re.IGNORECASE)
# One sign parts groups of three digits, another one the decimals. No menu has a tenth of a cent:
# one sign and three digits after it are thousands.
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,' ])[0-9]{3}(?:\1[0-9]{3})*(?:(?!\1)[.,][0-9]+)?", re.ASCII)
_PLAIN = re.compile(r"[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+")
_PARTS = re.compile(r"[,;/|\n•·]|\s(?:and|y|e|&)\s", re.IGNORECASE)
_ITEMS = re.compile(r"[;|\n•]")
_COMMAS = re.compile(r",(?!(?<=\d,)\d)")
_NOTHING = ("", "-", "–", "—", "?")
# What may stand between the names of a declaration. Any other sign says something: a note that is
# below the table, a doubt, a picture of a nut.
_OTHER_SIGNS = re.compile(r"[^a-z0-9\s_,;/|•·&.()'’:–—-]")
_OF_ALLERGENS = re.compile(rf"\b{either('of_allergens')}")
_NONE, _YES, _NO = (
    frozenset(map(folded, named(section))) for section in ("says_none", "says_yes", "says_no")
)
# What menus call them besides the names that profiles list.
_ALSO = named_by("allergens")


class BadValue(Exception):
    """A cell that does not say what its column is for; carries the problem's code."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail[:100]


def read_price(text: str) -> str | None:
    """An amount such as `1.234,50 €` as `1234.50`; None when nothing is said.

    Raises:
        BadValue: it is no number, below zero, or too high to be true.
    """
    if text.strip() in _NOTHING:
        return None
    if len(text) > LONGEST_PRICE:
        raise BadValue("price_too_high" if text.isdecimal() else "price_not_a_number", text)
    bare = text.replace("−", "-").replace("\u202f", " ").strip()
    # Runs of blanks would be gone through from each of them.
    bare = _BEHIND.sub("", _BEFORE.sub(r"\1", " ".join(bare.split()))).strip()
    if bare.startswith("(") and bare.endswith(")"):
        bare = f"-{bare[1:-1]}"  # as accountants write what is below zero
    is_below = bare.startswith("-")
    bare = bare.lstrip("+-").strip() if bare[:1] in ("+", "-") else bare
    amount = _number(bare)
    if amount is None:
        raise BadValue("price_not_a_number", text)
    amount = -amount if is_below else amount
    if amount < 0:
        raise BadValue("price_negative", text)
    if amount > MOST_PRICE:
        raise BadValue("price_too_high", text)
    return str(amount.quantize(Decimal("0.01"), ROUND_HALF_UP))


def _number(text: str) -> Decimal | None:
    """What figures come to, with whatever parts their thousands; None where they are none."""
    grouped = _GROUPED.fullmatch(text)
    if grouped:
        text = text.replace(grouped[1], "")
    elif not _PLAIN.fullmatch(text):
        return None
    return Decimal(text.replace(",", "."))


def read_allergens(text: str) -> list[str] | None:
    """The codes of what a cell declares; [] for `none`, None when it declares nothing.

    Raises:
        BadValue: it says anything that is no allergen, or `none` and others.
    """
    if text.strip() in _NOTHING:
        return None
    words = re.sub(r"^\s*(?:contains|contiene)\s*:?\s*", "", text, flags=re.IGNORECASE)
    named = [folded(part) for part in [words, *_PARTS.split(words)] if folded(part)]
    if not named or _OTHER_SIGNS.search(fold(words)):
        raise BadValue("allergen_unknown", text)
    # The whole of it may be one name, whatever signs are in it.
    is_one = named[0] in _allergens() or named[0] in _NONE
    named = named[:1] if is_one else named[1:]
    none = [name for name in named if name in _NONE]
    if none and len(none) < len(named):
        raise BadValue("allergens_contradict")
    codes = []
    for name in named:
        if name not in none:
            if name not in _allergens():
                raise BadValue("allergen_unknown", name)
            codes.append(_allergens()[name])
    return list(expand_families(codes))


def is_about_allergens(header: str) -> bool:
    """Whether a column says something of allergens: it names one, or speaks of them at all."""
    words = folded(header)
    names = {*words.split(), words} & _allergens().keys()
    return bool(names) or _OF_ALLERGENS.search(words) is not None or must_be_kept(header)


def read_flag(text: str) -> bool | None:
    """Yes or no in either language; None when nothing is said.

    Raises:
        BadValue: it is neither.
    """
    words = folded(text)
    if not words:
        return None
    if words in _YES:
        return True
    if words in _NO:
        return False
    raise BadValue("not_yes_or_no", text)


def read_list(text: str) -> list[str]:
    """The items of a cell, parted by semicolons or lines, else by commas.

    A comma between two digits is within a number: "2,5 kg", "1,500 g".
    """
    parts = _ITEMS.split(text) if _ITEMS.search(text) else _COMMAS.split(text)
    return [part for part in (" ".join(part.split()).strip(" .") for part in parts) if part]


@cache
def _allergens() -> dict[str, str]:
    """Codes of allergens and families by everything that they are called."""
    names = {folded(name): code for code, also in _ALSO.items() for name in also}
    for code, in_languages in ALLERGENS.items():
        for name in (code, in_languages["en"], in_languages["es"]):
            names[folded(name)] = code
    return {**names, **{family: family for family in FAMILIES}}
