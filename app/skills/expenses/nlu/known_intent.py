"""A message of which is known what it wants of the ledger, in whatever words it says so.

Only values that stand in it are taken; what is missing is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from app.skills.expenses.nlu.additions import rows_told
from app.skills.expenses.nlu.command import (
    ADD,
    BALANCE,
    DELETE,
    LIST,
    UPDATE,
    Command,
    addition,
    change,
)
from app.skills.expenses.nlu.lexicon import SUM, either
from app.skills.expenses.nlu.questions import answer_limits
from app.skills.expenses.nlu.reader import asks_only, core_of
from app.skills.expenses.nlu.rows import read_rows
from app.skills.expenses.nlu.sentence import ReadingContext, Sentence

LONGEST_WHICH = 300
WRITING = (ADD, UPDATE, DELETE)
# What leads up to the things that were bought, once it is clear that they were.
_CUES = "|".join(either(name) for name in ("spent", "record", "add", "got"))
_LEAD = re.compile(rf"(?:[^,;{SUM}]*?\W)?(?:{_CUES})\s?[:,-]?\s*")


def read_intended(tool: str, message: str, around: ReadingContext) -> Command | None:
    """What a message that is for `tool` says for it; None for a tool of another skill."""
    read = _READERS.get(tool)
    # "Do we toss those?" asks, and deletes nothing.
    if tool in WRITING and asks_only(message):
        return None
    return read(Sentence.of(message, around, tells_prices=tool == ADD)) if read else None


def _addition(sentence: Sentence) -> Command:
    start, end = core_of(sentence)
    rows = rows_told(sentence, start, end)
    if not all(row.item and row.amount for row in rows):
        # A story may come before it.
        lead = _LEAD.match(sentence.masked, start, end)
        rows = read_rows(sentence, lead.end(), end) if lead else rows
    priced = [row for row in rows if row.amount]
    # Beside sums, words without one tell the story and name nothing.
    command = addition(priced or rows[:1])
    if not priced or all(row.item for row in priced):
        return command
    return replace(command, missing=tuple(dict.fromkeys(("item", *command.missing))))


def _question(tool: str) -> Callable[[Sentence], Command]:
    return lambda sentence: Command(tool, answer_limits(sentence))


def _change(sentence: Sentence) -> Command:
    """Which one is meant, in the person's words; what it becomes is asked for."""
    return change(sentence.text[:LONGEST_WHICH], {})


def _deletion(sentence: Sentence) -> Command:
    return Command(DELETE, {"which": sentence.text[:LONGEST_WHICH]})


_READERS: Mapping[str, Callable[[Sentence], Command]] = {
    ADD: _addition,
    BALANCE: _question(BALANCE),
    LIST: _question(LIST),
    UPDATE: _change,
    DELETE: _deletion,
}
