"""Numbers into the fields whose unit or label is said with them; never a number alone."""

from __future__ import annotations

import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from typing import Any, NamedTuple

from app.fields.extraction.extract import Reading, cue_words, label_words, stem
from app.fields.extraction.lexicon import AND, WORDS, either, lexicon, unit_words
from app.fields.extraction.sentence import Sentence, Span
from app.fields.numbers import parse_number, plain_number
from app.text.normalize import fold
from app.text.numbers import SMALL_NUMBERS

# More numbers than that are a table, not a sentence.
MOST_AMOUNTS = 60
_WORDS = "|".join(sorted(SMALL_NUMBERS, key=len, reverse=True))
# The parts that people weigh and measure by; "11/12" is a day far more often.
_BOTTOMS = (2, 3, 4, 5, 6, 8, 10, 16)
_PARTS = "|".join(
    sorted((f"{top}[/⁄]{b}" for b in _BOTTOMS for top in range(1, b)), key=len, reverse=True)
)
_SIGNS = "[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
# With the groups `fraction`, `whole` and `part`.
_FRACTION = (
    rf"(?P<fraction>(?:(?P<whole>\d{{1,3}})(?:\s+(?:and\s+|y\s+)?|-))?"
    rf"(?P<part>(?:{_PARTS})(?![\d/⁄]|-\d)))"
    rf"|(?P<signed>\d{{0,3}}\s?{_SIGNS})"
)
_WRITTEN = re.compile(rf"(?<![\w.,:/⁄#-])(?:{_FRACTION})")
# Of a number in a form no more places are kept than that.
_PLACES = Decimal("0.000001")
_AMOUNT = (
    rf"(?P<amount>(?:{_FRACTION})|\d{{1,3}}(?:[,.]\d{{3}})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
    rf"|\b(?:{_WORDS})\b)"
)
_SIGN = r"(?:(?P<sign>(?<![\w-])-\s?|\bminus\s+|\bmenos\s+)|(?<![\w.:/-])(?<!\d,))"
_NUMBER = re.compile(
    rf"{_SIGN}(?P<money>\$\s?)?{_AMOUNT}(?![\d:/]|\.\d)"
    # "10-12 lb" is a range; "10-4-2026" and "2-B" are none.
    r"(?P<until>[-–]\d+(?:[.,]\d+)?(?![\w:/–-]))?"
    # "3/4 of a case", "3/4 de taza".
    r"(?:(?(fraction)(?:\s+(?:of|de)\b)?(?:\s+an?\b)?)"
    rf"\s?(?P<unit>°\s?[fc]\b|[°º]|[a-z]+(?:\s+(?:{either('numbers', 'scales')}|[fc]\b))?))?"
)
_FILLER = re.compile(rf"(?:\b(?:{either('numbers', 'filler')})\b|[#:=.~,]|\s)+$")
_READS = re.compile(rf"(?:\b(?:{either('numbers', 'reads')})|'s at)$")
# "It was at 8" says when, and "3 times" how often: neither is the number of anything.
_WHEN = re.compile(rf"\b(?:{either('numbers', 'when')})$")
_OFTEN = re.compile(rf"\s*(?:{either('numbers', 'often')})\b")
_DEGREES, _PLAIN = (frozenset(WORDS["numbers"][name].split()) for name in ("degrees", "plain"))
# A fraction behind these is a day: "on 1/2", "el 1/2".
_ON_A_DAY = re.compile(rf"\b(?:{either('numbers', 'on_a_day')})$")
_SPACE = re.compile(r"\s+")
_OF_MEASURES = re.compile(
    rf"\s*(?:(?:of|de)\s+(?:(?:{either('numbers', 'articles_of_measures')})\s+)?|an?\s+|-)?"
)
# What may stand after "5 below" where that is below zero, and not below a limit.
_GOES_ON = re.compile(rf"\s*(?:$|[^\w\s]|(?:{either('numbers', 'goes_on')})\b)")


class Amount(NamedTuple):
    """A number that was said, with what follows it; `number` are its digits alone.

    `is_open` is one end of a range, and what is below something else than zero.
    """

    span: Span
    number: Span
    raw: str
    unit: str
    is_money: bool
    is_fraction: bool
    is_below: bool
    is_open: bool


def find_amounts(reading: Reading) -> list[Amount]:
    """All numbers of a sentence that are not denied, with their units."""
    said = reading.said
    free = [each for each in _amounts(said) if said.is_free(each.number)]
    return [
        each
        for each in free
        if not _OFTEN.match(said.folded, each.number.end)
        and (each.is_below or not said.is_negated(Span(each.number.start, each.span.end)))
    ]


def first_number(text: str, decimals: int) -> str | None:
    """The first number of a text for a field of so many places; None where it is a range."""
    amounts = _amounts(Sentence.of(text))
    return _as_filed(amounts[0], decimals) if amounts else None


def _amounts(said: Sentence) -> list[Amount]:
    found: list[Amount] = []
    for match in islice(_NUMBER.finditer(said.folded), MOST_AMOUNTS):
        amount = _amount(said, match)
        if found and _is_range(said, found[-1], amount):
            unit = found[-1].unit or amount.unit
            found[-1] = found[-1]._replace(unit=unit, is_open=True)
            amount = amount._replace(is_open=True)
        found.append(amount)
    return found


def _amount(said: Sentence, match: re.Match[str]) -> Amount:
    number, unit = Span(*match.span("amount")), _unit(match)
    end = match.end() if unit else number.end
    space = _SPACE.match(said.folded, end)
    below = lexicon().below.match(said.folded, space.end()) if space else None
    is_below = below is not None and _is_below_zero(said.folded, below)
    is_fraction = bool(match["fraction"] or match["signed"])
    written = plain_number(_read_fraction(match)) if is_fraction else match["amount"]
    value = str(SMALL_NUMBERS.get(written, written))
    return Amount(
        Span(match.start(), below.end() if below else end),
        number,
        f"-{value}" if match["sign"] or is_below else value,
        unit,
        bool(match["money"]),
        is_fraction,
        is_below,
        is_open=bool(match["until"]) or (below is not None and not is_below),
    )


def _read_fraction(match: re.Match[str]) -> Decimal:
    """The value of what `_FRACTION` has found, to six places."""
    signed = match["signed"]
    if signed:
        whole, part = signed[:-1].strip(), Decimal(unicodedata.numeric(signed[-1]))
    else:
        top, bottom = re.split("[/⁄]", match["part"])
        whole, part = match["whole"], Decimal(top) / Decimal(bottom)
    return (Decimal(whole or 0) + part).quantize(_PLACES, ROUND_HALF_UP)


def _unit(match: re.Match[str]) -> str:
    """The unit that follows a number, as people call it; else nothing."""
    known = frozenset().union(*lexicon().units)
    unit = (match["unit"] or "").replace(" ", "") if "°" in match[0] else match["unit"] or ""
    unit = unit if unit in known else unit.split()[0] if unit else ""
    return unit if unit in known else ""


def _is_below_zero(folded: str, below: re.Match[str]) -> bool:
    """Whether "5 below" says what it is below: zero, or nothing else."""
    is_said = below[0].endswith(("zero", "cero"))
    return is_said or bool(_GOES_ON.match(folded, below.end()))


def _is_range(said: Sentence, first: Amount, second: Amount) -> bool:
    """Whether two numbers are the ends of a range: "between 2 and 3 kg", "2 or 3"."""
    between = said.folded[first.span.end : second.span.start].strip()
    ranges = lexicon().ranges
    is_begun = said.before(first.span, 1) in ranges["begin"]
    return between in ranges["join"] or (is_begun and between in ranges["join_begun"])


def find_fractions(reading: Reading) -> list[Span]:
    """Where "1/2" is a part of something and no day.

    It is one after a whole number, before something that is measured, and behind the name of
    a field for numbers.
    """
    said = reading.said
    matches = islice(_WRITTEN.finditer(said.folded), MOST_AMOUNTS)
    spans = [(match, Span(*match.span())) for match in matches]
    return [span for match, span in spans if match["whole"] or _is_part(reading, span)]


def _is_part(reading: Reading, span: Span) -> bool:
    said = reading.said
    if _ON_A_DAY.search(said.before(span, 1)):
        return False
    of = _OF_MEASURES.match(said.folded, span.end)
    if of and lexicon().measures.match(said.folded, of.end()):
        return True
    return any(each.decimals and _is_named(reading, each, span) for each in reading.open("number"))


def fill_numbers(reading: Reading) -> None:
    """Give each number to the one field that is meant; two for one field leave it open."""
    meant: dict[str, list[Amount]] = {}
    decimals = {each.name: each.decimals for each in reading.open("number")}
    for amount in find_amounts(reading):
        field = _field_of(reading, amount) or _corrected(reading, amount)
        if field is not None and parse_number(amount.raw) is not None:
            meant.setdefault(field.name, []).append(amount)
    for name, amounts in meant.items():
        raw = _as_filed(amounts[0], decimals[name])
        if raw is not None and len({amount.raw for amount in amounts}) == 1:
            _give(reading, name, amounts[0]._replace(raw=raw))


def _as_filed(amount: Amount, decimals: int) -> str | None:
    """A number as it is typed into a field; None where it is open, or half of what is counted."""
    number = parse_number(amount.raw)
    if amount.is_open or number is None:
        return None
    if not amount.is_fraction:
        return amount.raw
    is_whole = number == number.to_integral_value()
    return plain_number(round(number, decimals)) if decimals or is_whole else None


def _give(reading: Reading, name: str, amount: Amount) -> None:
    """The number alone is taken: its unit may say more, as in "40 minutes late"."""
    confidence = 0.9 if amount.unit or amount.is_money else 0.8
    reading.add(name, amount.raw, confidence, amount.span, takes=False)
    reading.said.take(Span(amount.span.start, amount.span.start + 1))


def _corrected(reading: Reading, amount: Amount) -> Any:
    """The form's one number, where a few words are about nothing else: "no, 38"."""
    is_bare = not amount.unit and len(reading.said.folded.split()) <= 4
    is_when = bool(_WHEN.search(reading.said.before(amount.span, 3)))
    if is_when or not (reading.is_correction and is_bare):
        return None
    filled = [each for each in reading.open("number") if reading.known.get(each.name)]
    return filled[0] if len(filled) == 1 else None


def _field_of(reading: Reading, amount: Amount) -> Any:
    fields = [each for each in reading.open("number") if _has_unit(each, amount)]
    named = [each for each in fields if _is_named(reading, each, amount.span)]
    if len(named) == 1:
        return named[0]
    if amount.unit or amount.is_money:
        near = [each for each in fields if _closeness(reading, each, amount.span)]
        near.sort(key=lambda each: -_closeness(reading, each, amount.span))
        return near[0] if len(fields) > 1 and near else fields[0] if len(fields) == 1 else None
    degrees = [each for each in reading.open("number") if _DEGREES & unit_words(each.unit)]
    is_read = amount.is_below or _READS.search(reading.said.before(amount.span, 3))
    return degrees[0] if is_read and len(degrees) == 1 else None


def _has_unit(field: Any, amount: Amount) -> bool:
    """Whether a field's unit is that of a number; one without a unit may be of any."""
    units = unit_words(field.unit)
    if amount.is_money:
        return "$" in units
    return amount.unit in units if amount.unit else True


def _is_named(reading: Reading, field: Any, span: Span) -> bool:
    """Whether a word of the label stands right before the number: "table 12", "mesa #5"."""
    before = reading.said.before(span, 6)
    bare = _FILLER.sub("", f"{before} ").strip()
    last = re.findall(r"[^\W_]+", bare)[-1:]
    labels = [*label_words(field.label.en), *label_words(field.label.es)]
    return bool(last) and stem(last[0]) in {stem(word) for word in labels if word not in _PLAIN}


def _closeness(reading: Reading, field: Any, span: Span) -> int:
    """How many words of the field's label stand beside a number."""
    before = AND.split(f" {reading.said.before(span, 3)} ")[-1]
    after = AND.split(f" {reading.said.after(span, 3)} ")[0]
    beside = f"{before} {after}"
    stems = {stem(word) for word in re.findall(r"[^\W_]+", fold(beside))}
    return len(stems & cue_words(field.label))
