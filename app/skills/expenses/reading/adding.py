"""Sentences that tell an outlay: "add electricity bill £200 today", "gasté 30 en servilletas"."""

from __future__ import annotations

import re

from app.retrieval.folding import fold
from app.skills.expenses.reading.categories import guess_category
from app.skills.expenses.reading.lexicon import NOTHING, SUM, TIME, compiled, either
from app.skills.expenses.reading.rows import LONGEST_ITEM, Row, read_rows
from app.skills.expenses.reading.sentence import Sentence
from app.skills.expenses.reading.wish import Wish, addition

_ARTICLES = (
    r"(?:(?:an?|another|one more|new|some|the|my|our|this|these|following|un|una|otro|otra|nuevo"
    r"|nueva|el|la|los|las|mi|mis|este|esta|unos|unas|siguiente)\s)*"
)
_LEADING_TIME = re.compile(rf"{TIME}+[\s,:-]*")
_OF = r"(?:for|of|called|named|to|worth|de|por|para|en|del|llamado)(?!\w)"
_CUES = {
    name: re.compile(rf"{either(name)}\s?[:,-]?\s*") for name in ("spent", "record", "add", "got")
}
_TOLD = re.compile(rf"(?:(?:that|que)\s)?{either('spent')}\s?[:,-]?\s*")
_THING = re.compile(rf"{_ARTICLES}(?P<thing>{either('things')})(?=\s*(?:[:,=-]|{_OF}|$|{SUM}))")
# A receipt of something is called by both words: "recibo de luz".
_PAPER = re.compile(rf"{_ARTICLES}{either('papers')}\s(?:of|to|de|del)(?!\w)")
_LEDGER = re.compile(
    rf"(?:(?<!\w)(?:to|in|into|on|onto|under|as|a|en|como|al|de|for)\s)?{_ARTICLES}"
    rf"(?:list of\s|lista de\s)?{either('ledger')}(?:\s(?:list|log|sheet))?(?:\s?:|\s(?:of|for|on|de|del|en|por)(?!\w))?"
)
_LEDGER_LEAD = re.compile(
    rf"{_ARTICLES}(?:(?:expense|gasto)(?!\w)|(?:\w+\s)?(?:expenses|gastos)\s?:)[\s:,-]*"
)
_LATER = re.compile(rf"[,;.]\s(?:and |y |so )?(?={either('spent')})")
_NO_OUTLAY = re.compile(
    # What one got may be money itself.
    r"(?<!\w)(?:got|made|earned|received|hicimos|sacamos|dieron|recibi|recibimos|gane|ganamos)\s.*(?<!\w)(?:tips?|refund|change|propinas?|cambio)(?!\w)|"
    r"(?<!\w)(?:expenses?|spending)\s(?:report|form|policy|policies|account|categor|sheet|approval|limit|reimburse)"
    r"|(?<!\w)(?:reporte|formato|formulario|politica|categorias?|hoja|comprobacion|limite) de (?:los )?gastos?"
)
_COST = re.compile(rf"(?P<item>[^{SUM}]{{2,60}}?)\s{either('cost')}\s(?:\w+ ){{0,2}}?{SUM}")
_SURE_COST = re.compile(rf"{either('cost_surely')}\s(?:\w+ ){{0,2}}?{SUM}")
_BILL = re.compile(r"(?:the |la |el |their |that )?(?:bill|check|tab|cuenta|total|ticket)")
_NEVER_IN_ITEMS, _NEVER_IN_ROWS = compiled("never_in_items"), compiled("never_in_rows")
_BILLS = compiled("bills")
_FOR = re.compile(rf"{SUM}+\s(?:for|on|por|en|para)\s")
# "An item to the menu", unless it is the ledger that it goes to.
_ELSEWHERE = re.compile(r"\s*(?:to|into|on|in|al?|en)\s(?!¬)(?!.*¤)")
_LETTER = re.compile(r"[^\W\d_]")
# A plain number beside one of these is money; beside food it may be a count, beside a fridge
# a temperature.
_SURE = frozenset({"transport", "utilities", "fees", "repairs", "office", "cleaning"})
_SURE_ALONE = frozenset({"transport", "utilities", "fees"})
_COUNTED = frozenset({"ingredients", "drinks", "equipment", "staff"})
_MOST_WORDS, _MOST_WORDS_ALONE, _MOST_WORDS_IN_LIST = 12, 4, 8
_MOST_ROWS = 20


def read_addition(sentence: Sentence, start: int, end: int) -> Wish | None:
    """The rows that a sentence adds; None where it may be about anything else."""
    if any(each.search(sentence.masked, start, end) for each in (_NO_OUTLAY, _NEVER_IN_ROWS)):
        return None
    leading = _LEADING_TIME.match(sentence.masked, start, end)
    start = leading.end() if leading else start
    later = _told_later(sentence, start, end)
    if later:
        return addition(later)
    for kind, cue in _CUES.items():
        match = cue.match(sentence.masked, start, end)
        if match:
            rows = _cued(sentence, kind, match.end(), end)
            if rows is not None:
                return addition(rows)
    if _LEDGER_LEAD.match(sentence.masked, start, end):
        rows = _new_expense(sentence, start, end)
    else:
        rows = _uncued(sentence, start, end)
    return addition(rows) if rows else None


def _cued(sentence: Sentence, kind: str, start: int, end: int) -> list[Row] | None:
    told = _TOLD.match(sentence.masked, start, end)
    if kind == "spent" or told:
        start = told.end() if told else start
        return _spent(sentence, start, end)
    if kind == "got":
        rows = read_rows(sentence, start, end)
        is_money = all(_is_marked(row) or _is_sure(row, sentence) for row in rows)
        return rows if rows and is_money and _are_items(rows) else None
    return _asked_for(sentence, start, end, is_record=kind == "record")


def _spent(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "I spent 30 on napkins": whatever has a sum was paid for."""
    rows = read_rows(sentence, start, end)
    if not rows or not _are_rows(rows):
        return None
    if all(row.amount for row in rows):
        return rows
    is_alone = len(rows) == 1 and len(rows[0].item.split()) <= _MOST_WORDS_ALONE
    return rows if is_alone and _is_sure(rows[0], sentence) and _are_items(rows) else None


def _asked_for(sentence: Sentence, start: int, end: int, *, is_record: bool) -> list[Row] | None:
    """ "Add …", "log …": of the ledger if it says so, or if what is named has a price."""
    thing = _THING.match(sentence.masked, start, end)
    if thing:
        is_paper = _PAPER.match(sentence.masked, start, end)
        return _thing(sentence, start if is_paper else thing.end(), end)
    without = _without_ledger(sentence, start, end)
    rows = read_rows(without, start, end)
    if not _are_rows(rows):
        return None
    if without is not sentence:
        return rows if _LETTER.search(rows[0].item) or rows[0].amount else [_EMPTY]
    if not rows or not _are_items(rows):
        return None
    if any(row.amount for row in rows):
        return rows if _has_prices(rows, sentence, start, is_record) else None
    return rows if _is_bill(rows, sentence, is_record) else None


def _thing(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "Add an item", "log a payment to the plumber 150"."""
    without = _without_ledger(sentence, start, end)
    if _ELSEWHERE.match(without.masked, start, end):
        return None
    rows = read_rows(without, start, end) or [_EMPTY]
    return rows if _are_rows(rows) else None


_EMPTY = Row("", None, None, "", "")


def _rest(sentence: Sentence, start: int, end: int) -> list[Row]:
    rows = read_rows(_without_ledger(sentence, start, end), start, end)
    return rows or [_EMPTY]


def _without_ledger(sentence: Sentence, start: int, end: int) -> Sentence:
    """With "to the expenses" hidden: it says what kind of thing, not which."""
    match = _LEDGER.search(sentence.masked, start, end)
    return sentence.hiding(*match.span(), NOTHING) if match else sentence


def _new_expense(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "New expense: taxi 12", "gasto de 200 en luz"."""
    lead = _LEDGER_LEAD.match(sentence.masked, start, end)
    rows = _rest(sentence, lead.end() if lead else start, end)
    is_new = bool(lead) and bool(
        re.search(r"new|another|one more|nuev|otr", lead[0] if lead else "")
    )
    has_sums = all(row.amount for row in rows)
    return rows if (is_new or has_sums) and _are_rows(rows) else None


def _uncued(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """What has no verb, "coffee 4.50", or only that of its price, "the taxi cost 12"."""
    if not sentence.sums_in(start, end):
        return None
    cost = _COST.match(sentence.masked, start, end)
    rows = read_rows(sentence, start, end)
    if not rows or not all(row.amount and row.item for row in rows) or not _are_items(rows):
        return None
    if cost:
        return rows if _is_cost(sentence, cost, rows) else None
    is_listed = all(_is_listed(row, sentence) for row in rows)
    has_price = any(not row.is_plain for row in rows)
    is_dated = all(row.time and _is_sure(row, sentence) for row in rows)
    return rows if is_listed and (has_price or is_dated) else None


def _told_later(sentence: Sentence, start: int, end: int) -> list[Row] | None:
    """ "Back from the market, spent 60 on limes"."""
    later = _LATER.search(sentence.masked, start, end)
    if later is None or sentence.sums_in(start, later.start()):
        return None
    cue = _CUES["spent"].match(sentence.masked, later.end(), end)
    rows = _spent(sentence, cue.end(), end) if cue else None
    return rows if rows and all(row.amount for row in rows) else None


def _is_cost(sentence: Sentence, cost: re.Match[str], rows: list[Row]) -> bool:
    if _BILL.fullmatch(cost["item"].strip()):
        return False
    if all(_is_sure(row, sentence) for row in rows):
        return True
    # The price of a dish is spoken of in the same words, unless it was "me" whom it cost.
    is_counted = any(_slug(row, sentence) in _COUNTED for row in rows)
    is_ours = bool(re.search(r"(?<!\w)(?:me|us|nos)(?!\w)", cost[0])) or bool(sentence.times)
    is_surely = bool(_SURE_COST.search(sentence.masked))
    if is_counted:
        return is_ours and (is_surely or all(_is_marked(row) for row in rows))
    return is_ours or not any(row.is_plain for row in rows)


def _is_listed(row: Row, sentence: Sentence) -> bool:
    """Whether a row may stand in a bare list: a few words for a thing, and its price."""
    count = len(row.item.split())
    return count <= _MOST_WORDS_IN_LIST and (count <= 3 or bool(_slug(row, sentence)))


def _has_prices(rows: list[Row], sentence: Sentence, start: int, is_record: bool) -> bool:
    if not all(row.amount for row in rows):
        return False
    if any(not row.is_plain for row in rows):
        return True
    if all(_is_sure(row, sentence) for row in rows):
        return True
    is_for = is_record and bool(_FOR.match(sentence.masked, start))
    return is_for and all(_slug(row, sentence) not in _COUNTED | {""} for row in rows)


def _is_bill(rows: list[Row], sentence: Sentence, is_record: bool) -> bool:
    """ "Add electricity bill", "log the taxi": its sum is asked for."""
    row = rows[0]
    if len(rows) > 1 or len(row.item.split()) > _MOST_WORDS_ALONE:
        return False
    slug = _slug(row, sentence)
    named = bool(_BILLS.search(fold(row.item)))
    return (slug in _SURE and named) or (is_record and slug in _SURE_ALONE)


def _are_rows(rows: list[Row]) -> bool:
    return len(rows) <= _MOST_ROWS and all(_is_row(row) for row in rows)


def _is_row(row: Row) -> bool:
    words = row.item.split()
    is_short = len(words) <= _MOST_WORDS and len(row.item) <= LONGEST_ITEM
    has_letters = not row.item or bool(_LETTER.search(row.item))
    return is_short and has_letters


def _are_items(rows: list[Row]) -> bool:
    return len(rows) <= _MOST_ROWS and all(is_item(row) for row in rows)


def is_item(row: Row) -> bool:
    """Whether a row's words may be a thing alone, and no sentence about something else."""
    return _is_row(row) and not _NEVER_IN_ITEMS.search(fold(row.item))


def _is_marked(row: Row) -> bool:
    return row.amount is not None and row.amount.is_marked


def _slug(row: Row, sentence: Sentence) -> str:
    return guess_category(row.item, sentence.around.categories, sentence.around.language)


def _is_sure(row: Row, sentence: Sentence) -> bool:
    return _slug(row, sentence) in _SURE
