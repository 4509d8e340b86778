"""Values for a row that is there already: "to 15", "was 12, not 10", "a limpieza"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from app.skills.expenses.nlu.categories import named_category
from app.skills.expenses.nlu.command import sum_arguments
from app.skills.expenses.nlu.lexicon import MASKS, NOTHING, SUM, TIME, either, one_of
from app.skills.expenses.nlu.rows import with_details
from app.skills.expenses.nlu.sentence import Sentence, hide
from app.text.currencies import CODE, WORD, currency_named

# What it is not: "12, not 10", "on Monday, not Tuesday". A "no" before a comma is about all.
_NOT = re.compile(
    rf"(?:(?<=\S)[\s,]+(?:and |but |y )?{either('not')}|^[\s,.]*{either('not')})"
    rf"\s(?:de\s)?[{SUM}{TIME}]+"
)
_CURRENCY = re.compile(rf"(?<![\w{SUM}])(?P<said>{WORD}|{CODE})(?!\w)")
_NAME, _ONE_WORD = re.compile(r"[a-z]+\s(?:and|y)\s[a-z]+"), re.compile(r"(?<!\w)[a-z]{3,}(?!\w)")
_NEW_NAME = re.compile(
    rf"(?:{either('fields', 'item')}\s?{one_of('names_it')}"
    rf"|{either('called')})"
    rf"\s(?P<item>[^{SUM}]{{2,80}}?)(?=[,;.]|$)"
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
    kept = _NOT.sub(lambda match: NOTHING * len(match[0]), masked)
    sums = [each for each in sentence.sums_in(start, end) if kept[each.start - start] == SUM]
    times = [each for each in sentence.times_in(start, end) if kept[each.start - start] == TIME]
    if len({each.value for each in sums}) > 1 or len({time.day for time in times}) > 1:
        return None
    if any(time.day is None for time in times):
        return None
    if sums:
        values |= sum_arguments(sums[0])
    if times and times[0].day:
        values["date"] = times[0].day.isoformat()
    if sentence.named:
        values["category"] = next(iter(sentence.named.values()))
    if sentence.notes:
        values["note"] = ", ".join(sentence.notes.values())
    rest = _take_currency(sentence, kept, values)
    return Change(values, _take_category(sentence, rest, values))


def _take_item(sentence: Sentence, start: int, masked: str, values: dict[str, Any]) -> str:
    match = _NEW_NAME.search(masked)
    if match is None:
        return masked
    values["item"] = sentence.said(start + match.start("item"), start + match.end("item")).strip()
    return hide(masked, *match.span(), NOTHING)


def _take_currency(sentence: Sentence, masked: str, values: dict[str, Any]) -> str:
    """ "In euros": a currency without a number, unless it is a word of something else."""
    match = _CURRENCY.search(masked)
    if match is None or values.get("currency"):
        return masked
    code = currency_named(match["said"], sentence.around.currency)
    if not code:
        return masked
    values["currency"] = code
    return hide(masked, *match.span(), NOTHING)


def _take_category(sentence: Sentence, masked: str, values: dict[str, Any]) -> str:
    """The name of a category, as one word or as "rent and fees"."""
    for match in (*_NAME.finditer(masked), *_ONE_WORD.finditer(masked)):
        slug = named_category(match[0], sentence.around.categories)
        if slug:
            values["category"] = slug
            return hide(masked, *match.span(), NOTHING)
    return masked


def words_left(rest: str, fillers: re.Pattern[str]) -> list[str]:
    """The words that are neither values nor among the small ones of `fillers`."""
    return re.sub(rf"{MASKS}|[^\w\s]", " ", fillers.sub(" ", rest)).split()
