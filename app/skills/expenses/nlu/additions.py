"""Sentences that tell an outlay: "add electricity bill £200 today", "gasté 30 en servilletas"."""

from __future__ import annotations

import re

from app.skills.expenses.nlu.command import Command, addition
from app.skills.expenses.nlu.evidence import (
    are_items,
    are_marked,
    are_paid_for,
    are_rows,
    have_prices,
    is_bill,
    is_cost,
    is_list,
    is_short,
)
from app.skills.expenses.nlu.lexicon import NOTHING, SUM, TIME, compiled, either, one_of
from app.skills.expenses.nlu.rows import Row, is_promised, read_rows
from app.skills.expenses.nlu.sentence import Sentence

# Never in the middle of a run of them, which would be gone through from each of its words.
_ARTICLES = rf"(?<!\w)(?:{one_of('articles')}\s){{0,4}}"
_LEADING_TIME = re.compile(rf"{TIME}+[\s,:-]*")
_OF = rf"{one_of('behind_things')}(?!\w)"
_CUES = {
    name: re.compile(rf"{either(name)}\s?[:,-]?\s*") for name in ("spent", "record", "add", "got")
}
_TOLD = re.compile(rf"(?:(?:that|que|q)\s)?(?:{TIME}+\s)?{either('spent')}\s?[:,-]?\s*")
_THING = re.compile(rf"{_ARTICLES}(?P<thing>{either('things')})(?=\s*(?:[:,=-]|{_OF}|$|{SUM}))")
# A receipt of something is called by both words: "recibo de luz".
_PAPER = re.compile(rf"{_ARTICLES}{either('papers')}\s{one_of('behind_papers')}(?!\w)")
_LEDGER = re.compile(
    rf"(?:(?<!\w){one_of('into_ledger')}\s)?{_ARTICLES}"
    rf"(?:list of\s|lista de\s)?{either('ledger')}(?:\s{one_of('lists_of_it')})?"
    rf"(?:\s?:|\s{one_of('of_ledger')}(?!\w))?"
)
_LEDGER_LEAD = re.compile(
    rf"{_ARTICLES}(?:(?:expense|gasto)(?!\w)|(?:\w+\s)?(?:expenses|gastos)\s?:)[\s:,-]*"
)
_RECORD_SURELY = compiled("record_surely")
_NEW = compiled("new")
_LATER = re.compile(rf"[,;.]\s(?:and |y |so )?(?={either('spent')})")
_NEVER = (compiled("no_outlays"), compiled("never_in_rows"))
_COST = re.compile(rf"(?P<item>[^{SUM}]{{2,60}}?)\s{either('cost')}\s(?:\w+ ){{0,2}}?{SUM}")
# "An item to the menu", unless it is the ledger that it goes to.
_ELSEWHERE = re.compile(rf"\s*{one_of('into_others')}\s(?!{NOTHING})(?!.*{SUM})")
# An expense of which nothing but that has been said.
_UNTOLD = Row("", None, None, "", "")


def read_addition(sentence: Sentence, start: int, end: int) -> Command | None:
    """The rows that a sentence adds; None where it may be about anything else."""
    if any(each.search(sentence.masked, start, end) for each in _NEVER):
        return None
    leading = _LEADING_TIME.match(sentence.masked, start, end)
    start = leading.end() if leading else start
    rows = _told_later(sentence, start, end) or _after_cue(sentence, start, end)
    if rows is None:
        lead = _LEDGER_LEAD.match(sentence.masked, start, end)
        rows = _headed(sentence, lead, end) if lead else _uncued(sentence, start, end)
    return addition(rows) if rows else None


def is_told_to_add(sentence: Sentence, start: int, end: int) -> bool:
    """Whether a sentence says itself that it adds something: "add taxi $5", "gasté 5 en taxi"."""
    return any(cue.match(sentence.masked, start, end) for cue in _CUES.values())


def is_ordered(sentence: Sentence, start: int, end: int) -> bool:
    """Whether it is an order to add something, and not told as a part of a story."""
    orders = (_CUES["record"], _CUES["add"])
    return any(cue.match(sentence.masked, start, end) for cue in orders)


def rows_told(sentence: Sentence, start: int, end: int) -> list[Row]:
    """The rows of a sentence that is known to add some, whatever leads up to them."""
    leading = _LEADING_TIME.match(sentence.masked, start, end)
    start = leading.end() if leading else start
    later = _LATER.search(sentence.masked, start, end)
    if later and not sentence.sums_in(start, later.start()):
        start = later.end()
    cued = (cue.match(sentence.masked, start, end) for cue in _CUES.values())
    start = next((cue.end() for cue in cued if cue), start)
    if told := _TOLD.match(sentence.masked, start, end):
        start = told.end()
    thing = _THING.match(sentence.masked, start, end)
    if thing and not _PAPER.match(sentence.masked, start, end):
        start = thing.end()
    if lead := _LEDGER_LEAD.match(sentence.masked, start, end):
        start = lead.end()
    return _rest(sentence, start, end)


def _after_cue(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    for kind, cue in _CUES.items():
        match = cue.match(sentence.masked, start, end)
        rows = _cued(sentence, kind, match.end(), end) if match else None
        if rows is not None:
            return rows
    return None


def _cued(sentence: Sentence, kind: str, start: int, end: int) -> list[Row] | None:
    told = _TOLD.match(sentence.masked, start, end)
    if kind == "spent" or told:
        return _spent(sentence, told.end() if told else start, end)
    if kind == "got":
        return _got(sentence, start, end)
    return _asked_for(sentence, start, end, is_record=kind == "record")


def _spent(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "I spent 30 on napkins": whatever has a sum was paid for."""
    rows = read_rows(sentence, start, end)
    if not rows or not are_rows(rows):
        return None
    if all(row.amount for row in rows):
        return rows
    is_thing = len(rows) == 1 and is_short(rows[0]) and are_items(rows)
    # "Bought deli cups, I'll tell you how much": who says so speaks of a sum.
    is_paid = are_paid_for(rows, sentence.around.language) or is_promised(sentence, start, end)
    return rows if is_thing and is_paid else None


def _got(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "Picked up sponges for $7": only the sum says that it was paid."""
    rows = read_rows(sentence, start, end)
    is_money = are_marked(rows) or are_paid_for(rows, sentence.around.language)
    has_sums = all(row.amount for row in rows)
    return rows if rows and has_sums and is_money and are_items(rows) else None


def _asked_for(sentence: Sentence, start: int, end: int, *, is_record: bool) -> list[Row] | None:
    """ "Add …", "log …": of the ledger if it says so, or if what is named has a price."""
    thing = _THING.match(sentence.masked, start, end)
    if thing:
        is_paper = _PAPER.match(sentence.masked, start, end)
        return _thing(sentence, start if is_paper else thing.end(), end)
    without = _without_ledger(sentence, start, end)
    rows = read_rows(without, start, end)
    if without is not sentence:
        return (rows or [_UNTOLD]) if are_rows(rows) else None
    if not rows or not are_items(rows):
        return None
    if any(row.amount for row in rows):
        return rows if have_prices(rows, sentence, start, is_record=is_record) else None
    is_logged = is_record and bool(_RECORD_SURELY.search(sentence.masked, 0, start))
    return rows if is_bill(rows, sentence.around.language, is_record=is_logged) else None


def _thing(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "Add an item", "log a payment to the plumber 150"."""
    if _ELSEWHERE.match(_without_ledger(sentence, start, end).masked, start, end):
        return None
    rows = _rest(sentence, start, end)
    return rows if are_rows(rows) else None


def _rest(sentence: Sentence, start: int, end: int) -> list[Row]:
    return read_rows(_without_ledger(sentence, start, end), start, end) or [_UNTOLD]


def _without_ledger(sentence: Sentence, start: int, end: int) -> Sentence:
    """With "to the expenses" hidden: it says what kind of thing, not which."""
    match = _LEDGER.search(sentence.masked, start, end)
    return sentence.hiding(*match.span(), NOTHING) if match else sentence


def _headed(sentence: Sentence, lead: re.Match[str], end: int) -> list[Row] | None:
    """ "New expense: taxi 12", "gasto de 200 en luz"."""
    rows = _rest(sentence, lead.end(), end)
    is_new = bool(_NEW.search(lead[0]))
    return rows if (is_new or all(row.amount for row in rows)) and are_rows(rows) else None


def _uncued(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """What has no verb, "coffee 4.50", or only that of its price, "the taxi cost 12"."""
    if not sentence.sums_in(start, end):
        return None
    language = sentence.around.language
    rows = read_rows(sentence, start, end)
    if not rows or not all(row.amount and row.item for row in rows) or not are_items(rows):
        return None
    cost = _COST.match(sentence.masked, start, end)
    if cost:
        return rows if is_cost(sentence, cost, rows) else None
    has_price = any(not row.is_plain for row in rows)
    is_dated = all(row.time for row in rows) and are_paid_for(rows, language)
    is_plain_list = is_list(rows, sentence, start, end)
    return rows if is_plain_list and (has_price or is_dated) else None


def _told_later(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "Back from the market, spent 60 on limes"."""
    later = _LATER.search(sentence.masked, start, end)
    if later is None or sentence.sums_in(start, later.start()):
        return None
    cue = _CUES["spent"].match(sentence.masked, later.end(), end)
    rows = _spent(sentence, cue.end(), end) if cue else None
    return rows if rows and all(row.amount for row in rows) else None
