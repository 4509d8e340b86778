"""From a piece of a sentence to rows: what was bought, for how much, when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from app.skills.expenses.nlu.categories import named_category
from app.skills.expenses.nlu.lexicon import EACH, MASKS, NOTHING, SUM, compiled, either, one_of
from app.skills.expenses.nlu.sentence import Sentence, Time
from app.text.money import FoundAmount
from app.text.normalize import fold
from app.text.numbers import find_number_words

LONGEST_ITEM = 200
_SEPARATOR = re.compile(rf"\s*(?:[,;+&]|\.\s|{either('joins_rows')})\s*")
_MASKED = re.compile(rf"{MASKS}+")
_EDGE = r"[\s,.;:!?¡¿=*\"'()\[\]/–—-]"
_BEFORE = re.compile(rf"(?:{_EDGE}|{either('before_items')}(?=\W|$))*+")
_AFTER = re.compile(rf"(?:{_EDGE}+|{either('after_items')}|{either('cost')})$")
# None of them is longer, so that no more is searched for each that is taken off.
_LONGEST_AFTER = 40
_NOTE = re.compile(
    rf"{either('notes')}|(?<!\w)(?:note|nota)\s?:\s?(?P<said>.+)$|\((?P<aside>[^()]+)\)"
)
_VAGUE = compiled("vague_items")
_ALTOGETHER = compiled("altogether")
_LATER = re.compile(rf"(?<=\w)[\s,.;]+(?:and |but |pero |y )?(?={either('sum_comes_later')}$)")
_MAY_BE_TWO = re.compile(
    rf"{either('before_numbers')}\s?[0-9]+,?\s{one_of('joins_sums')}\s(?![0-9])"
)
# How many there are of an item.
_COUNT = re.compile(rf"(?<![\w.,])[1-9][0-9]{{0,2}}(?=\s(?!{one_of('sizes')}\s))")
_NAME = r"[a-z]+(?: (?:and|y) [a-z]+)?"
_NAMED = re.compile(
    rf"(?:(?<!\w){one_of('into_category')}\s)?(?:the\s|la\s)?(?:(?<!\w)category|(?<!\w)categoria)"
    rf"\s?:?\s?(?:is\s|es\s|of\s|de\s)?(?P<after>{_NAME})"
    rf"|(?<!\w){one_of('into_named_category')}\s(?:the\s)?(?P<before>{_NAME})\scategory(?!\w)"
    rf"|(?<!\w){one_of('filed_under')}\s(?P<plain>{_NAME})(?=\s?(?:$|[,.;{MASKS[1:-1]}]))"
    rf"|,\s(?P<last>{_NAME})$"
)


class Piece(NamedTuple):
    """From which letter to which."""

    start: int
    end: int


@dataclass(frozen=True)
class Row:
    """What one expense was said to be; empty and None where it was not said."""

    item: str
    amount: FoundAmount | None
    time: Time | None
    category: str
    note: str

    @property
    def is_plain(self) -> bool:
        """Whether nothing but its place says that its number is a sum."""
        return self.amount is None or not (self.amount.is_marked or self.amount.has_cents)


def with_details(sentence: Sentence, start: int, end: int) -> Sentence:
    """With the notes ("in cash") and the named categories ("under cleaning") hidden."""
    for match in _NAMED.finditer(sentence.masked, start, end):
        # A word behind the last comma names a category only where a row has been told.
        is_told = match["last"] is None or SUM in sentence.masked[start : match.start()]
        slug = _slug_of(sentence, match) if is_told else ""
        if slug:
            sentence = sentence.with_category(*match.span(), slug)
    for match in _NOTE.finditer(sentence.masked, start, end):
        slug = named_category(match["aside"] or "", sentence.around.categories)
        if slug:
            sentence = sentence.with_category(*match.span(), slug)
        elif not _MASKED.search(match[0]):
            said = sentence.said(*match.span(match.lastgroup or 0))
            sentence = sentence.with_note(*match.span(), said)
    return sentence


def _summed_up(rows: list[Row]) -> list[Row]:
    """ "2 at $13.95 each so 27.90" is one row, and what it came to is its sum."""
    if len(rows) == 2 and rows[0].amount and _ALTOGETHER.fullmatch(fold(rows[1].item)):
        return [replace(rows[0], amount=rows[1].amount or rows[0].amount)]
    return rows


def _without_promise(sentence: Sentence, start: int, end: int) -> Sentence:
    """With "I'll tell you how much" hidden, where no sum stands in it."""
    match = _promise(sentence, start, end)
    return sentence.hiding(match.start(), end, NOTHING) if match else sentence


def _promise(sentence: Sentence, start: int, end: int) -> re.Match[str] | None:
    match = _LATER.search(sentence.masked, start, end)
    return None if match is None or sentence.sums_in(match.start(), end) else match


def is_promised(sentence: Sentence, start: int, end: int) -> bool:
    """Whether a sum is promised for later: "bought cups, I'll tell you how much"."""
    return _promise(sentence, start, end) is not None


def _slug_of(sentence: Sentence, match: re.Match[str]) -> str:
    name = next(each for each in match.groups() if each)
    return named_category(name, sentence.around.categories)


def read_rows(sentence: Sentence, start: int, end: int) -> list[Row]:
    """The rows that these words tell, in their order."""
    sentence = _without_promise(with_details(sentence, start, end), start, end)
    pieces = list(_pieces(sentence, start, end))
    sums = sentence.sums_in(start, end)
    is_sum_first = bool(sums) and not _words(sentence, start, sums[0].start)
    parts = [part for piece in pieces for part in _at_sums(sentence, piece, is_sum_first)]
    joined = _joined(sentence, parts, is_sum_first)
    rows = _summed_up([_row(sentence, piece) for piece in joined])
    leading = [time for time in sentence.times if time.start < start]
    return _share_time(rows, sentence.times_in(start, end), leading)


def _pieces(sentence: Sentence, start: int, end: int) -> Iterator[Piece]:
    """What stands between commas and "and"s."""
    for match in _SEPARATOR.finditer(sentence.masked, start, end):
        if match.start() > start:
            yield Piece(start, match.start())
        start = match.end()
    if start < end:
        yield Piece(start, end)


def _at_sums(sentence: Sentence, piece: Piece, is_sum_first: bool) -> Iterator[Piece]:
    """Cut where one sum follows another without a comma, as in what was spoken."""
    start = piece.start
    sums = sentence.sums_in(*piece)
    for each in sums[1:] if is_sum_first else sums[:-1]:
        cut = each.start if is_sum_first else each.end
        yield Piece(start, cut)
        start = cut
    yield Piece(start, piece.end)


def _joined(sentence: Sentence, parts: list[Piece], is_sum_first: bool) -> list[Piece]:
    """Pieces without a sum belong to the one that they are a part of: "salt and pepper 5"."""
    rows: list[Piece] = []
    waiting: Piece | None = None
    for part in parts:
        has_sum = bool(sentence.sums_in(*part))
        if has_sum:
            rows.append(Piece((waiting or part).start, part.end))
            waiting = None
        elif rows and (is_sum_first or not _words(sentence, *part)):
            rows[-1] = Piece(rows[-1].start, part.end)
        else:
            waiting = Piece((waiting or part).start, part.end)
    if waiting is None:
        return rows
    return [*rows[:-1], Piece(rows[-1].start, waiting.end)] if rows else [waiting]


def _row(sentence: Sentence, piece: Piece) -> Row:
    item = _words(sentence, *piece)
    sums = sentence.sums_in(*piece)
    times = sentence.times_in(*piece)
    named = [slug for at, slug in sentence.named.items() if piece.start <= at < piece.end]
    notes = [note for at, note in sentence.notes.items() if piece.start <= at < piece.end]
    # Of "a bulb for aisle 7 and a cord of 15" nobody knows whether the bulb was 7.
    is_told = bool(sums) and not _MAY_BE_TWO.search(fold(item))
    return Row(
        "" if _VAGUE.fullmatch(fold(item)) else item,
        _of_all(sentence, sums[0], item) if is_told else None,
        times[0] if times else None,
        named[0] if named else "",
        ", ".join(notes),
    )


def _of_all(sentence: Sentence, amount: FoundAmount, item: str) -> FoundAmount:
    """The sum of a row: of "3 taxis at $12 each" that of all three."""
    if not sentence.masked.startswith(EACH, amount.end):
        return amount
    folded = fold(item)
    counts = list(_COUNT.finditer(folded))
    # "Strawberries, 4 boxes at 5 each": behind the item it is a count where it is the only one.
    is_count = bool(counts) and (counts[0].start() == 0 or len(counts) == 1)
    figures = counts[0] if is_count else None
    spoken = next(find_number_words(folded, sentence.around.language), None)
    count = Decimal(figures[0]) if figures else spoken.value if spoken and not spoken.start else 1
    or_value = amount.or_value and amount.or_value * count
    return replace(amount, value=amount.value * count, or_value=or_value)


def _words(sentence: Sentence, start: int, end: int) -> str:
    """The item of a piece: its words without sums, times and what only ties them together."""
    kept: list[str] = []
    for fragment in _fragments(sentence, start, end):
        said = trimmed(sentence, fragment, is_first=not kept)
        if said:
            kept.append(said)
    return " ".join(kept)


def _fragments(sentence: Sentence, start: int, end: int) -> Iterator[Piece]:
    for match in _MASKED.finditer(sentence.masked, start, end):
        yield Piece(start, match.start())
        start = match.end()
    yield Piece(start, end)


def trimmed(sentence: Sentence, piece: Piece, *, is_first: bool = True) -> str:
    """The words as they were said, without small ones at their edges."""
    start, end = piece
    leading = _BEFORE.match(sentence.masked, start, end)
    if leading and (is_first or leading.end() == end):
        start = leading.end()
    while trailing := _AFTER.search(sentence.masked, max(start, end - _LONGEST_AFTER), end):
        end = trailing.start()
        if start >= end:
            break
    return sentence.said(start, end).strip(" ,.;:!?¡¿-–—")


def _share_time(rows: list[Row], times: list[Time], leading: list[Time]) -> list[Row]:
    """A time that is said once is that of all rows; else of those before it, or behind it."""
    if leading or _is_time_first(rows):
        return _from_first(rows, leading[-1] if leading else None)
    if len({time.day for time in times}) == 1:
        return [_at(row, row.time or times[0]) for row in rows]
    return _from_first(rows[::-1], None)[::-1]


def _is_time_first(rows: list[Row]) -> bool:
    """Whether a time begins a row behind others: "taxi 12 and yesterday coffee 4.50"."""
    later = next((row for row in rows if row.time), None)
    if later is None or later is rows[0] or not (later.time and later.amount):
        return False
    return later.time.start < later.amount.start


def _from_first(rows: list[Row], time: Time | None) -> list[Row]:
    """Each row that has no time of its own with that of the row before it."""
    found: list[Row] = []
    for row in rows:
        time = row.time or time
        found.append(_at(row, time))
    return found


def _at(row: Row, time: Time | None) -> Row:
    return replace(row, time=time)


def day_of(row: Row) -> date | None:
    """The one day on which it was; None where it was not said."""
    return row.time.day if row.time else None
