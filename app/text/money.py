"""Sums of money as people say and type them, in English and Spanish, and as they are shown.

Everything is a `Decimal` and exact. Nothing here knows how much is too much.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from babel.numbers import format_decimal, get_currency_symbol

from app.text.currencies import CODE, SIGN, TYPED_CODE, WORD, currency_named
from app.text.lexicon import WORDS
from app.text.numbers import LONE_ONES, NUMBER_LOCALES, find_number_words

_WORDS = WORDS["money"]
# Signs that part thousands: with three figures after each they are never a decimal point,
# since prices have two decimals. So "1.234" and "1,234" are the same in both languages, and
# who meant one and a quarter sees a thousand in the proposal before it is kept.
_NUMBER = (
    r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]{1,2})?"
    r"|[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]{1,2})?"
    r"|[1-9][0-9]{0,2}(?:['\u00a0\u202f ][0-9]{3})+(?:[.,][0-9]{1,2})?"
    r"|[0-9]+(?:[.,][0-9]{1,2})?)"
)
_MONEY = rf"(?:{CODE}|{WORD})\b"
_CENTS = rf"(?:{_WORDS['cents']})\b"
_FIGURES = re.compile(
    # Not a part of something else: a time, a fraction, a phone number, the "2" of "A-2".
    rf"(?:(?<![a-z])(?P<before>{CODE}|{SIGN})\s?(?:{SIGN})?\s?"
    r"|(?<![0-9a-z_#@/:+-])(?<![0-9][.,']))"
    rf"(?P<number>{_NUMBER}|(?<![^\s($£€])\.[0-9]{{1,2}})"
    rf"(?:\s?(?P<times>{'|'.join(_WORDS['times'])})\b)?"
    rf"(?P<tail>\s?(?:(?:{SIGN})(?!\s?[0-9])|{_MONEY}))?"
)
# The same behind a number: "12k", "12th", "12%", "12:30", "12-pack".
_GOES_ON = re.compile(r"[0-9a-z_%°/]|[.,:'][0-9]|-[0-9a-z]|\s?(?:%|million|millon)")
_ENDS = rf"(?=\s*(?:$|[,;!?]|\.(?:\s|$)|(?:{_WORDS['goes_on']})\s))"
_HUNDREDTHS = re.compile(
    rf"\s?con\s(?P<con>[0-9]{{2}})(?:\s{_CENTS}|{_ENDS}|(?P<late>\s?{_MONEY}))"
    rf"|\s(?:(?:and|y|con)\s)?(?P<cents>[0-9]{{1,2}})\s{_CENTS}|\s(?P<next>[0-9]{{2}}){_ENDS}"
)
_ONLY_CENTS = re.compile(rf"(?<![\w.,])(?P<number>[0-9]{{1,2}})\s?(?:{_CENTS}|¢)")
_TAIL = re.compile(rf"\s?(?P<said>{_MONEY})")
_CENTS_TAIL = re.compile(rf"\s?(?:{_CENTS})")
# "Two pounds of flour", "1 pound ground beef", "dos libras de harina": weighed, not paid.
_WEIGHT = re.compile(
    rf"\s?(?:pounds?|libras?)\s(?!(?:{'|'.join(_WORDS['not_weighed'])})\b)\(?[a-z0-9]"
)
# Where pounds are no money of the group's, "5 libras y pulpo" is weighed too.
_WEIGHT_ELSEWHERE = re.compile(r"\s?(?:pounds?|libras?)(?:\s(?:and|y)\s|\s?[,;])")
_TIMES = {**_WORDS["times"], None: 1}
_HUNDREDTH = Decimal("0.01")
_LONGEST_TYPED = 40
_UNIT = rf"(?:{SIGN}|(?:{TYPED_CODE})\b|\b(?:{TYPED_CODE}))"
_TYPED = re.compile(
    rf"(?P<minus>-?)\s?(?:{_UNIT}\s?)?(?P<inner>-?)(?P<number>{_NUMBER}|\.[0-9]{{1,2}})"
    rf"(?:\s?{_UNIT})?"
)
_NOT_ASCII = str.maketrans("", "", "£€₱¥\u00a0\u202f")


@dataclass(frozen=True)
class FoundAmount:
    """A sum in a text, from which letter to which; `currency` is "" where none was said.

    `is_marked` where a sign or a word says that it is money: "$12", "12 pesos", not "12".
    `or_value` is the other sum that the same words may be: 250 of "two fifty".
    """

    value: Decimal
    currency: str
    start: int
    end: int
    is_marked: bool
    # Said in cents: "fifty cents".
    is_cents: bool = False
    or_value: Decimal | None = None

    @property
    def has_cents(self) -> bool:
        """Whether it was said to the cent, as prices are, and temperatures are not."""
        return self.value.as_tuple().exponent == -2


def fold_in_place(text: str) -> str:
    """Lower case without accents, letter for letter: what is found can be shown as it was said."""
    if text.isascii():
        return text.lower()
    return "".join(map(_bare, text))


def _bare(letter: str) -> str:
    """A letter without its accent; one that would become none, or two, stays as it is."""
    bare = unicodedata.normalize("NFD", letter)[:1].lower()
    return bare if len(bare) == 1 else letter


def find_amounts(text: str, language: str, home: str = "") -> list[FoundAmount]:
    """All sums and lone numbers of a text, in their order.

    `home` is the group's own currency, which "$" stands for where it is written so.
    """
    folded = fold_in_place(text)
    found = [*_cents_alone(folded), *_figures(folded, home), *_words(folded, language, home)]
    kept: list[FoundAmount] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if kept and each.start < kept[-1].end:
            continue
        whole = _with_cents(kept[-1], each, folded) if kept else None
        if whole:
            kept[-1] = whole
        else:
            kept.append(each)
    return kept


def _with_cents(whole: FoundAmount, cents: FoundAmount, folded: str) -> FoundAmount | None:
    """One sum of two that belong together: "twelve dollars and fifty cents"."""
    link = folded[whole.end : cents.start].strip()
    if not whole.is_marked or whole.value % 1 or link not in ("", "and", "y", "con"):
        return None
    value = cents.value if cents.is_cents else None
    if not cents.is_marked and link == "con" and 10 <= cents.value < 100 and not cents.value % 1:
        value = (cents.value / 100).quantize(_HUNDREDTH)
    return replace(whole, value=whole.value + value, end=cents.end) if value else None


def _cents_alone(folded: str) -> Iterator[FoundAmount]:
    for match in _ONLY_CENTS.finditer(folded):
        value = (Decimal(match["number"]) / 100).quantize(_HUNDREDTH)
        yield FoundAmount(value, "", *match.span(), is_marked=True, is_cents=True)


def _figures(folded: str, home: str) -> Iterator[FoundAmount]:
    for match in _FIGURES.finditer(folded):
        before, tail = match["before"] or "", match["tail"] or ""
        is_weight = tail and _is_weight(folded, match.start("tail"), home)
        value = _value(match["number"], is_marked=bool(tail or before))
        if is_weight or value is None or (not tail and _GOES_ON.match(folded, match.end())):
            continue
        value, tail, end = _with_hundredths(folded, value * _TIMES[match["times"]], match)
        # What is said in letters is surer than a sign: "$200 MXN".
        said = tail.strip() or before
        yield FoundAmount(value, currency_named(said, home), match.start(), end, bool(said))


def _is_weight(folded: str, at: int, home: str) -> bool:
    is_elsewhere = home not in ("", "GBP") and _WEIGHT_ELSEWHERE.match(folded, at)
    return bool(_WEIGHT.match(folded, at) or is_elsewhere)


def _with_hundredths(folded: str, value: Decimal, match: re.Match[str]) -> tuple[Decimal, str, int]:
    """With the cents that follow, and the currency: "20 euros con 50", "12 con 50 pesos"."""
    tail = match["tail"] or ""
    more = _HUNDREDTHS.match(folded, match.end())
    # Two numbers side by side are one sum only where the first is called money: "12 dollars 50".
    if more is None or value % 1 or (more["next"] and not tail):
        return value, tail, match.end()
    cents = (more["con"] or more["cents"] or more["next"]).rjust(2, "0")
    return Decimal(f"{value}.{cents}"), more["late"] or tail, more.end()


def _value(number: str, *, is_marked: bool) -> Decimal | None:
    """The number that figures are; two after the last sign are cents, three are thousands."""
    is_spaced = re.search(r"[\s'\u00a0\u202f]", number)
    has_decimals = re.search(r"[.,][0-9]{1,2}$", number)
    if is_spaced and not (is_marked or has_decimals):
        # "2 200" may be two things; with a sign or with cents it is one.
        return None
    whole = re.sub(r"[^0-9]", "", number[: has_decimals.start()] if has_decimals else number)
    if not has_decimals:
        return Decimal(whole)
    return Decimal(f"{whole or 0}.{has_decimals[0][1:]}")


def _words(folded: str, language: str, home: str) -> Iterator[FoundAmount]:
    for number in find_number_words(folded, language):
        cents = _CENTS_TAIL.match(folded, number.end)
        if cents and number.value < 100 and not number.value % 1:
            value = (number.value / 100).quantize(_HUNDREDTH)
            yield FoundAmount(value, "", number.start, cents.end(), is_marked=True, is_cents=True)
            continue
        tail = _TAIL.match(folded, number.end)
        is_article = tail is None and folded[number.start : number.end] in LONE_ONES
        if is_article or _is_weight(folded, number.end, home):
            continue
        currency = currency_named(tail["said"], home) if tail else ""
        end = tail.end() if tail else number.end
        yield FoundAmount(
            number.value,
            currency,
            number.start,
            end,
            is_marked=tail is not None,
            or_value=number.in_hundreds,
        )


def parse_amount(text: str) -> Decimal:
    """The sum that was typed into a field or sent: "1,234.50", "1.234,50 €", "-3", "0".

    Raises:
        ValueError: it is no plain number, or has more than two decimals.
    """
    is_plain = len(text) <= _LONGEST_TYPED and text.translate(_NOT_ASCII).isascii()
    match = _TYPED.fullmatch(text.strip().lower()) if is_plain else None
    if match is None or (match["minus"] and match["inner"]):
        raise ValueError("not an amount")
    value = _value(match["number"], is_marked=True)
    assert value is not None
    return -value if match["minus"] or match["inner"] else value


def format_amount(value: Decimal, currency: str, language: str) -> str:
    """For tables and cards: "£200.00", "MX$1,234.50", "CHF 3.00"; a dollar is a US dollar."""
    return _written(value, currency, language, "#,##0.00")


def amount_words(value: Decimal, currency: str, language: str) -> str:
    """For sentences: "£200" and "£4.50", the cents only where there are some."""
    return _written(value, currency, language, "#,##0.00" if value % 1 else "#,##0")


def _written(value: Decimal, currency: str, language: str, pattern: str) -> str:
    """The English signs in both languages, since they tell "$" from "MX$"."""
    sign = get_currency_symbol(currency, locale=NUMBER_LOCALES["en"]) if currency else ""
    apart = "\u00a0" if sign[-1:].isalpha() else ""
    number = format_decimal(abs(value), format=pattern, locale=NUMBER_LOCALES[language])
    return f"{'-' if value < 0 else ''}{sign}{apart}{number}"
