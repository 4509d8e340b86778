"""What shows that rows are outlays, and not the menu, an order or a sentence about a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.skills.expenses.nlu.kinds import (
    is_counted,
    is_known,
    is_logged_for_cost,
    is_on_the_menu,
    is_paid_for,
)
from app.skills.expenses.nlu.lexicon import SUM, compiled, either, one_of
from app.skills.expenses.nlu.rows import LONGEST_ITEM, Row
from app.skills.expenses.nlu.sentence import Sentence
from app.text.normalize import fold

_NEVER_IN_ITEMS, _BILLS, _OURS = compiled("never_in_items"), compiled("bills"), compiled("ours")
_NEVER_FIRST, _NOW = compiled("never_first"), compiled("now")
_BILL_ALONE = compiled("bills_alone")
_SURE_COST = re.compile(rf"{either('cost_surely')}\s(?:\w+ ){{0,2}}?{SUM}")
_AT = re.compile(rf"(?<!\w){one_of('at_sums')}\s{SUM}")
_FOR = re.compile(rf"{SUM}+\s{one_of('behind_sums')}\s")
_LETTER = re.compile(r"[^\W\d_]")
_MOST_WORDS, _MOST_WORDS_ALONE, _MOST_WORDS_IN_LIST, _FEW_WORDS = 12, 4, 8, 3
_MOST_ROWS = 20


def are_rows(rows: Sequence[Row]) -> bool:
    """Whether these words may be rows of a ledger at all."""
    return len(rows) <= _MOST_ROWS and all(map(_is_row, rows))


def _is_row(row: Row) -> bool:
    is_short = len(row.item.split()) <= _MOST_WORDS and len(row.item) <= LONGEST_ITEM
    return is_short and (not row.item or bool(_LETTER.search(row.item)))


def are_items(rows: Sequence[Row]) -> bool:
    """Whether all rows are things, and no sentence about something else."""
    return len(rows) <= _MOST_ROWS and all(map(is_item, rows))


def is_item(row: Row) -> bool:
    """Whether a row's words may be a thing, and no sentence about something else."""
    said = fold(row.item)
    return _is_row(row) and not (_NEVER_IN_ITEMS.search(said) or _NEVER_FIRST.match(said))


def are_marked(rows: Sequence[Row]) -> bool:
    """Whether every sum says that it is money."""
    return all(row.amount is not None and row.amount.is_marked for row in rows)


def are_paid_for(rows: Sequence[Row], language: str) -> bool:
    return all(is_paid_for(row.item, language) for row in rows)


def is_short(row: Row) -> bool:
    """Whether a row says a thing in so few words that it can be nothing but a thing."""
    return len(row.item.split()) <= _MOST_WORDS_ALONE


def is_list(rows: Sequence[Row], sentence: Sentence, start: int, end: int) -> bool:
    """Whether rows may be a bare list: a few words for a thing that one buys, and its price."""
    language = sentence.around.language
    known = [is_known(row.item, language) for row in rows]
    # "Corkage is $25", "the ribeye at $48": what is so, or is to be, is the menu's.
    is_told = _NOW.search(sentence.masked, start, end) or is_tag(rows, sentence, start, end)
    return any(known) and not is_told and all(map(_is_listed, rows, known))


def _is_listed(row: Row, is_known: bool) -> bool:
    count = len(row.item.split())
    return count <= (_MOST_WORDS_IN_LIST if is_known else _FEW_WORDS)


def is_tag(rows: Sequence[Row], sentence: Sentence, start: int, end: int) -> bool:
    """ "The ribeye at $48": what the menu should say."""
    is_at = bool(_AT.search(sentence.masked, start, end))
    return is_at and any(is_on_the_menu(row.item, sentence.around.language) for row in rows)


def have_prices(rows: Sequence[Row], sentence: Sentence, start: int, *, is_record: bool) -> bool:
    """Whether rows that are to be added or logged have sums, and not counts."""
    language = sentence.around.language
    if not all(row.amount for row in rows):
        return False
    if is_tag(rows, sentence, start, len(sentence.masked)):
        return False
    if any(not row.is_plain for row in rows) or are_paid_for(rows, language):
        return True
    # "Log 12 for napkins" is a sum, "add 20 for ribeye" an order.
    is_for = is_record and bool(_FOR.match(sentence.masked, start))
    return is_for and all(
        is_known(row.item, language) and not is_counted(row.item, language) for row in rows
    )


def is_bill(rows: Sequence[Row], language: str, *, is_record: bool) -> bool:
    """ "Add electricity bill", "log the taxi": its sum is asked for."""
    row = rows[0]
    if len(rows) > 1 or not is_short(row):
        return False
    is_named = bool(_BILLS.search(fold(row.item))) and is_paid_for(row.item, language)
    return is_named or (is_record and is_logged_for_cost(row.item, language))


def is_cost(sentence: Sentence, cost: re.Match[str], rows: Sequence[Row]) -> bool:
    """ "The taxi cost me 12"; the price of a dish is spoken of in the same words."""
    language = sentence.around.language
    if _BILL_ALONE.fullmatch(cost["item"].strip()):
        return False
    if are_paid_for(rows, language):
        return True
    # What it cost "me", or yesterday, is not what it costs.
    is_ours = bool(_OURS.search(cost[0])) or bool(sentence.times)
    if any(is_counted(row.item, language) for row in rows):
        return is_ours and (bool(_SURE_COST.search(sentence.masked)) or are_marked(rows))
    return is_ours or not any(row.is_plain for row in rows)
