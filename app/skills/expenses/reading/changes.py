"""Values for a row that is there already: "to 15", "was 12, not 10", "a limpieza"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from app.amounts import FoundAmount
from app.currencies import CODE, WORD, currency_named
from app.skills.expenses.reading.categories import named_category
from app.skills.expenses.reading.lexicon import FIELDS, MASKS, NOTHING, SUM, either
from app.skills.expenses.reading.rows import with_details
from app.skills.expenses.reading.sentence import Sentence
from app.skills.expenses.reading.wish import amount_text

# The number that it is not: "12, not 10". A "no" before a comma says no to the whole.
_NOT_SUM = re.compile(
    rf"(?:(?<=\S)[\s,]+(?:and |but |y )?{either('not')}|^[\s,.]*{either('not')})\s(?:de\s)?{SUM}+"
)
_BUT_SUM = re.compile(rf"{SUM}")
_FIELD = {name: re.compile(either("fields", name)) for name in FIELDS}
_CURRENCY = re.compile(rf"(?<![\w{SUM}])(?P<said>{WORD}|{CODE})(?!\w)")
_WORD = re.compile(r"[a-z]+(?:\s(?:and|y)\s[a-z]+)?")
_NAME_FIELD = re.compile(
    rf"{either('fields', 'item')}\s?(?:is|was|should be|to|es|era|debe ser|a|por|:)\s(?P<item>[^{SUM}]{{2,80}}?)(?=[,;.]|$)"
    r"|(?<!\w)(?:call it|rename (?:it|that) to|name it|llamalo|ponle de nombre|renombralo(?: a| como)?)\s(?P<called>[^¤]{2,80}?)(?=[,;.]|$)"
)


@dataclass
class Change:
    """What changes, by field, and the masked words of the sentence that said nothing of it."""

    values: dict[str, Any]
    rest: str


def read_change(sentence: Sentence, start: int, end: int) -> Change | None:
    """The values in these words; None where two of them contradict one another."""
    sentence = with_details(sentence, start, end)
    values: dict[str, Any] = {}
    masked = sentence.masked[start:end]
    masked = _take_item(sentence, start, masked, values)
    kept = _NOT_SUM.sub(lambda match: NOTHING * len(match[0]), masked)
    sums = [each for each in sentence.sums_in(start, end) if kept[each.start - start] == SUM]
    times = sentence.times_in(start, end)
    if len({each.value for each in sums}) > 1 or len({time.day for time in times}) > 1:
        return None
    if any(time.day is None for time in times):
        return None
    if sums:
        values |= _sum(sums[0])
    if times and times[0].day:
        values["date"] = times[0].day.isoformat()
    if sentence.named:
        values["category"] = next(iter(sentence.named.values()))
    if sentence.notes:
        values["note"] = ", ".join(sentence.notes.values())
    rest = _take_currency(sentence, kept, values)
    return Change(values, _take_category(sentence, rest, values))


def _sum(amount: FoundAmount) -> dict[str, Any]:
    said = {"amount": amount_text(amount), "currency": amount.currency}
    return {name: value for name, value in said.items() if value}


def _take_item(sentence: Sentence, start: int, masked: str, values: dict[str, Any]) -> str:
    match = _NAME_FIELD.search(masked)
    if match is None:
        return masked
    group = "item" if match["item"] else "called"
    values["item"] = sentence.said(start + match.start(group), start + match.end(group)).strip()
    return masked[: match.start()] + NOTHING * len(match[0]) + masked[match.end() :]


def _take_currency(sentence: Sentence, masked: str, values: dict[str, Any]) -> str:
    """ "In euros": a currency without a number, unless it is a word of something else."""
    match = _CURRENCY.search(masked)
    if match is None or values.get("currency"):
        return masked
    code = currency_named(match["said"], sentence.around.currency)
    if not code:
        return masked
    values["currency"] = code
    return masked[: match.start()] + NOTHING * len(match[0]) + masked[match.end() :]


def _take_category(sentence: Sentence, masked: str, values: dict[str, Any]) -> str:
    """The name of a category, as one word or as "rent and fees"."""
    for match in _names(masked):
        slug = named_category(match[0], sentence.around.categories)
        if slug:
            values["category"] = slug
            return masked[: match.start()] + NOTHING * len(match[0]) + masked[match.end() :]
    return masked


def _names(masked: str) -> list[re.Match[str]]:
    singles = [*re.finditer(r"(?<!\w)[a-z]{3,}(?!\w)", masked)]
    return [*_WORD.finditer(masked), *singles]


def words_left(rest: str, fillers: re.Pattern[str]) -> list[str]:
    """The words that are neither values nor among the small ones of `fillers`."""
    return re.sub(rf"{MASKS}|[^\w\s]", " ", fillers.sub(" ", rest)).split()
