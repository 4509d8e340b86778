"""Numbers into the fields whose unit or label is said with them; never a number alone."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, NamedTuple

from app.fields.extraction.extract import Reading, cue_words, label_words, stem
from app.fields.extraction.lexicon import lexicon, unit_words
from app.fields.extraction.sentence import Span
from app.fields.numbers import parse_number
from app.text.normalize import fold
from app.text.numbers import SMALL_NUMBERS

# More numbers than that are a table, not a sentence.
MOST_AMOUNTS = 60
_WORDS = "|".join(sorted(SMALL_NUMBERS, key=len, reverse=True))
_AMOUNT = rf"(?P<amount>\d{{1,3}}(?:[,.]\d{{3}})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\b(?:{_WORDS})\b)"
_SIGN = r"(?:(?P<sign>(?<![\w-])-\s?|\bminus\s+|\bmenos\s+)|(?<![\w.:/-])(?<!\d,))"
_NUMBER = re.compile(
    rf"{_SIGN}(?P<money>\$\s?)?{_AMOUNT}(?![\d:/]|\.\d)"
    r"(?:\s?(?P<unit>°\s?[fc]\b|[°º]|[a-z]+(?:\s+(?:fahrenheit|celsius|centigrados|[fc]\b))?))?"
    r"(?P<below>\s+(?:below(?: zero)?|bajo cero))?"
)
_FILLER = re.compile(
    r"(?:\b(?:of|de|del|number|numero|no|num|is|was|are|were|es|era|fue|son|fueron|at|a|en|esta"
    r"|estaba|to|about|around|approx|como|unos|unas|the|la|el)\b|[#:=.~,]|\s)+"
)
_READS = re.compile(
    r"(?:\b(?:reads?|reading|registers?|registered|shows|showed|showing|measured|is at|was at"
    r"|marca|marco|marcaba|registra|registro|esta a|estaba a|estan a|midio)|'s at)$"
)
_AND = re.compile(r" (?:and|y|e) ")
# "It was at 8" says when, and "3 times" how often: neither is the number of anything.
_WHEN = re.compile(r"\b(?:at|by|until|since|around|a las?|hasta las?|desde las?)$")
_OFTEN = re.compile(r"\s*(?:times|veces)\b")
_DEGREES = frozenset({"degrees", "grados"})


class Amount(NamedTuple):
    """A number that was said, with what follows it."""

    span: Span
    raw: str
    unit: str
    is_money: bool


def find_amounts(reading: Reading) -> list[Amount]:
    """All numbers of a sentence that are not denied, with their units."""
    known = frozenset().union(*lexicon().units)
    found = []
    for match in islice(_NUMBER.finditer(reading.said.folded), MOST_AMOUNTS):
        is_free = reading.said.is_free(Span(*match.span("amount")))
        if not is_free or _OFTEN.match(reading.said.folded, match.end("amount")):
            continue
        unit = (match["unit"] or "").replace(" ", "") if "°" in match[0] else match["unit"] or ""
        unit = unit if unit in known else unit.split()[0] if unit else ""
        is_said = bool(unit) and unit in known
        end = match.end() if is_said or match["below"] else match.end("amount")
        span = Span(match.start(), end)
        if not reading.said.is_negated(Span(match.start("amount"), end)) or match["below"]:
            number = str(SMALL_NUMBERS.get(match["amount"], match["amount"]))
            raw = f"-{number}" if match["sign"] or match["below"] else number
            is_money = bool(match["money"])
            found.append(Amount(span, raw, unit if is_said else "", is_money))
    return found


def fill_numbers(reading: Reading) -> None:
    """Give each number to the one field that is meant; two for one field leave it open."""
    meant: dict[str, list[Amount]] = {}
    for amount in find_amounts(reading):
        field = _field_of(reading, amount) or _corrected(reading, amount)
        if field is not None and parse_number(amount.raw) is not None:
            meant.setdefault(field.name, []).append(amount)
    for name, amounts in meant.items():
        if len({amount.raw for amount in amounts}) == 1:
            _give(reading, name, amounts[0])


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
    named = [each for each in fields if _is_named(reading, each, amount)]
    if len(named) == 1:
        return named[0]
    if amount.unit or amount.is_money:
        near = [each for each in fields if _closeness(reading, each, amount.span)]
        near.sort(key=lambda each: -_closeness(reading, each, amount.span))
        return near[0] if len(fields) > 1 and near else fields[0] if len(fields) == 1 else None
    degrees = [each for each in reading.open("number") if _DEGREES & unit_words(each.unit)]
    is_read = _READS.search(reading.said.before(amount.span, 3))
    return degrees[0] if is_read and len(degrees) == 1 else None


def _has_unit(field: Any, amount: Amount) -> bool:
    """Whether a field's unit is that of a number; one without a unit may be of any."""
    units = unit_words(field.unit)
    if amount.is_money:
        return "$" in units
    return amount.unit in units if amount.unit else True


def _is_named(reading: Reading, field: Any, amount: Amount) -> bool:
    """Whether a word of the label stands right before the number: "table 12", "mesa #5"."""
    before = reading.said.before(amount.span, 6)
    bare = re.sub(rf"{_FILLER.pattern}$", "", f"{before} ").strip()
    last = re.findall(r"[^\W_]+", bare)[-1:]
    labels = [*label_words(field.label.en), *label_words(field.label.es)]
    plain = {"number", "numero", "many", "cuantas", "cuantos"}
    return bool(last) and stem(last[0]) in {stem(word) for word in labels if word not in plain}


def _closeness(reading: Reading, field: Any, span: Span) -> int:
    """How many words of the field's label stand beside a number."""
    before = _AND.split(f" {reading.said.before(span, 3)} ")[-1]
    after = _AND.split(f" {reading.said.after(span, 3)} ")[0]
    beside = f"{before} {after}"
    stems = {stem(word) for word in re.findall(r"[^\W_]+", fold(beside))}
    return len(stems & cue_words(field.label))
