"""A message of which is known what it wants of the ledger, in whatever words it says so.

Only values that stand in it are taken; what is missing is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from app.skills.expenses.reading.adding import rows_told
from app.skills.expenses.reading.asking import answer_limits
from app.skills.expenses.reading.lexicon import SUM, either
from app.skills.expenses.reading.rows import read_rows
from app.skills.expenses.reading.sentence import Sentence, Surroundings
from app.skills.expenses.reading.wish import (
    ADD,
    BALANCE,
    DELETE,
    LIST,
    UPDATE,
    Wish,
    addition,
    change,
)
from app.skills.expenses.reading.wishes import asks_only, core_of

LONGEST_WHICH = 300
WRITING = (ADD, UPDATE, DELETE)
# What leads up to the things that were bought, once it is clear that they were.
_CUES = "|".join(either(name) for name in ("spent", "record", "add", "got"))
_LEAD = re.compile(rf"(?:[^,;{SUM}]*?\W)?(?:{_CUES})\s?[:,-]?\s*")


def read_intended(tool: str, message: str, around: Surroundings) -> Wish | None:
    """What a message that is for `tool` says for it; None for a tool of another skill."""
    read = _READERS.get(tool)
    # "Do we toss those?" asks, and deletes nothing.
    if tool in WRITING and asks_only(message):
        return None
    return read(Sentence.of(message, around, tells_prices=tool == ADD)) if read else None


def _addition(sentence: Sentence) -> Wish:
    start, end = core_of(sentence)
    rows = rows_told(sentence, start, end)
    if not all(row.item and row.amount for row in rows):
        # A story may come before it.
        lead = _LEAD.match(sentence.masked, start, end)
        rows = read_rows(sentence, lead.end(), end) if lead else rows
    priced = [row for row in rows if row.amount]
    # Beside sums, words without one tell the story and name nothing.
    wish = addition(priced or rows[:1])
    if not priced or all(row.item for row in priced):
        return wish
    return replace(wish, missing=tuple(dict.fromkeys(("item", *wish.missing))))


def _question(tool: str) -> Callable[[Sentence], Wish]:
    return lambda sentence: Wish(tool, answer_limits(sentence))


def _change(sentence: Sentence) -> Wish:
    """Which one is meant, in the person's words; what it becomes is asked for."""
    return change(sentence.text[:LONGEST_WHICH], {})


def _deletion(sentence: Sentence) -> Wish:
    return Wish(DELETE, {"which": sentence.text[:LONGEST_WHICH]})


_READERS: Mapping[str, Callable[[Sentence], Wish]] = {
    ADD: _addition,
    BALANCE: _question(BALANCE),
    LIST: _question(LIST),
    UPDATE: _change,
    DELETE: _deletion,
}
