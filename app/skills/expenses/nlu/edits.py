"""Sentences that put a row right or take it away: "change the taxi one to 15"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from app.skills.expenses.nlu.changes import read_change, words_left
from app.skills.expenses.nlu.command import DELETE, EITHER, Command, change
from app.skills.expenses.nlu.kinds import is_on_the_menu
from app.skills.expenses.nlu.lexicon import FIELDS, SUM, TIME, compiled, either, one_of
from app.skills.expenses.nlu.references import (
    LAST_ONE,
    NAMED_ONE,
    NONE,
    VAGUE,
    is_certain,
    kind_of,
    words_of,
)
from app.skills.expenses.nlu.sentence import Sentence

_DELETE_LAST = compiled("delete_last")
_EDIT = compiled("edit")
_RENAME = re.compile(r"(?:rename|renombra)\w*\s")
_DELETE, _DELETE_SURELY = compiled("delete"), compiled("delete_surely")
_CHANGE = re.compile(rf"{either('change')}\s(?P<object>.+)")
_PREPOSITION = re.compile(either("becomes"))
_WAS = re.compile(either("was"))
_NOT = re.compile(rf"(?:[\s,]+(?:and |but )?{either('not')})\s(?:de\s)?[{SUM}{TIME}]")
_FROM = re.compile(rf"\s(?:from|de)\s{SUM}+\s*$")
_FIELD_OF = re.compile(
    rf"(?:{one_of('before_fields')}\s)?(?P<field>"
    + "|".join(f"(?P<{n}>{either('fields', n)})" for n in FIELDS)
    + rf")\s{one_of('behind_fields')}(?!\w)\s?"
)
_PUT_ON = re.compile(rf"ponle\s(?P<sum>{SUM}+)\s(?:al|a la|a los|a)\s(?P<which>.+)")
_SET_TO = re.compile(rf"(?P<which>[^{SUM}]+?)\s(?P<value>{SUM}.*)")
_SO_IT_WAS = re.compile(rf"\s?[,;:.-]?\s(?:{one_of('it')}\s)?{either('was')}\s")
_ACTUALLY, _NOW = compiled("actually"), compiled("now")
_AROUND = compiled("around_changes")
_SPACE = re.compile(r"\s*")
# What these become is whatever is said.
_FREE = ("item", "note")


def read_deletion(sentence: Sentence, start: int, end: int) -> Command | None:
    """The command to take a row away; without a row where "an expense" is all that was said."""
    verb = _DELETE.match(sentence.masked, start, end)
    if verb is None:
        return None
    begin = _behind(sentence, verb, end)
    kind = kind_of(sentence, begin, end)
    is_sure = _DELETE_SURELY.fullmatch(verb[0]) or (
        kind == LAST_ONE and _DELETE_LAST.fullmatch(verb[0])
    )
    if kind == NONE or not (is_sure or kind == VAGUE or is_certain(sentence, begin, end)):
        return None
    if kind == VAGUE:
        return Command(DELETE, {}, ("which",))
    return Command(DELETE, {"which": words_of(sentence, begin, end)})


def intended_deletion(sentence: Sentence, start: int, end: int) -> Command | None:
    """The same of a sentence that is known to be for the ledger: whatever it names is a row."""
    verb = _DELETE.match(sentence.masked, start, end)
    which = words_of(sentence, _behind(sentence, verb, end), end) if verb else ""
    return Command(DELETE, {"which": which}) if which else None


def intended_change(sentence: Sentence, start: int, end: int) -> Command | None:
    """The command to change whatever row is named, known to be one; None where none is."""
    verb = _CHANGE.match(sentence.masked, start, end)
    if verb is None:
        return None
    field, begin = _field_of(sentence, verb.start("object"), end)
    for which, value in _splits(sentence, begin, end):
        row, said = words_of(sentence, *which), sentence.said(*value).strip(" .,!")
        if row and said and field in _FREE:
            return change(row, {field: said})
        if row and (command := _wish(sentence, which, value)):
            return command
    return change(words_of(sentence, begin, end), {})


def _behind(sentence: Sentence, verb: re.Match[str], end: int) -> int:
    """Where the next word begins."""
    space = _SPACE.match(sentence.masked, verb.end(), end)
    return space.end() if space else verb.end()


def intended_correction(sentence: Sentence, start: int, end: int) -> Command | None:
    """ "The limes were 15, not 12", known to put a row right; None where it says no value."""
    for match in _WAS.finditer(sentence.masked, start, end):
        row, changed = words_of(sentence, start, match.start()), _values(sentence, match.end(), end)
        if row and changed:
            return change(row, changed)
    return None


def read_update(sentence: Sentence, start: int, end: int) -> Command | None:
    """The command to change a row; None where no row of the ledger is spoken of for certain."""
    verb = _CHANGE.match(sentence.masked, start, end)
    if verb:
        return _commanded(sentence, verb.start("object"), end)
    return _stated(sentence, start, end)


def _commanded(sentence: Sentence, start: int, end: int) -> Command | None:
    """ "Change X to Y", "change the date of X to Y", "edit X"."""
    put = _PUT_ON.match(sentence.masked, max(0, start - len("ponle ")), end)
    if put and kind_of(sentence, *put.span("which")) not in (NONE, VAGUE):
        return _wish(sentence, put.span("which"), put.span("sum"))
    field, begin = _field_of(sentence, start, end)
    for which, value in _splits(sentence, begin, end):
        command = _named_value(sentence, field, which, value) if field else None
        command = command or _unnamed_value(sentence, which, value)
        if command:
            return command
    return _unsaid(sentence, begin, end) if _EDIT.search(sentence.masked, 0, start) else None


def _field_of(sentence: Sentence, start: int, end: int) -> tuple[str, int]:
    """The field that is said to change, "" where none is, and where the row's words begin."""
    named = _FIELD_OF.match(sentence.masked, start, end)
    field = next((name for name in FIELDS if named and named[name]), "")
    if _RENAME.search(sentence.masked, max(0, start - len("renombrarlo ")), start):
        field = "item"
    return field, named.end() if named else start


def _unsaid(sentence: Sentence, start: int, end: int) -> Command | None:
    """ "Edit the taxi expense": what it becomes is asked for, unless something else was said."""
    kind = kind_of(sentence, start, end)
    if kind == VAGUE:
        return change("", {})
    is_one = kind == NAMED_ONE and is_certain(sentence, start, end)
    is_said = _PREPOSITION.search(sentence.masked, start, end)
    return change(words_of(sentence, start, end), {}) if is_one and not is_said else None


def _splits(
    sentence: Sentence, start: int, end: int
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Each way to part a row from what it becomes."""
    for match in _PREPOSITION.finditer(sentence.masked, start, end):
        of = _FROM.search(sentence.masked[start : match.start()].rstrip())
        which_end = start + of.start() if of else match.start()
        yield (start, which_end), (match.end(), end)
    for time in sentence.times_in(start, end):
        yield (start, time.start), (time.start, end)
    for match in _SO_IT_WAS.finditer(sentence.masked, start, end):
        yield (start, match.start()), (match.end(), end)
    plain = _SET_TO.fullmatch(sentence.masked, start, end)
    if plain:
        yield plain.span("which"), plain.span("value")


def _named_value(
    sentence: Sentence, field: str, which: tuple[int, int], value: tuple[int, int]
) -> Command | None:
    """The field is said, so that what it becomes is taken at its word."""
    if kind_of(sentence, *which) in (NONE, VAGUE):
        return None
    if field in _FREE:
        said = sentence.said(*value).strip(" .,!")
        return change(words_of(sentence, *which), {field: said}) if said else None
    command = _wish(sentence, which, value)
    said = EITHER if command and EITHER in command.arguments and field == "amount" else field
    return command if command and said in command.arguments else None


def _unnamed_value(
    sentence: Sentence, which: tuple[int, int], value: tuple[int, int]
) -> Command | None:
    kind = kind_of(sentence, *which)
    if kind in (NONE, VAGUE):
        return None
    command = _wish(sentence, which, value)
    if command is None:
        return None
    # "Change the taxi to Friday" may be a booking; with its price it is an expense.
    has_sum = "amount" in command.arguments or EITHER in command.arguments
    return command if kind in (NAMED_ONE, LAST_ONE) or has_sum else None


def _wish(sentence: Sentence, which: tuple[int, int], value: tuple[int, int]) -> Command | None:
    changed = _values(sentence, *value)
    return change(words_of(sentence, *which), changed) if changed else None


def _values(sentence: Sentence, start: int, end: int) -> dict[str, Any] | None:
    """What changes, where nothing else is said."""
    found = read_change(sentence, start, end)
    if found is None or not found.values or words_left(found.rest, _AROUND):
        return None
    return found.values


def _stated(sentence: Sentence, start: int, end: int) -> Command | None:
    """ "The last one was 12, not 10", "el taxi fueron 15, no 12"."""
    for match in _WAS.finditer(sentence.masked, start, end):
        kind = kind_of(sentence, start, match.start())
        changed = _values(sentence, match.end(), end) if kind not in (NONE, VAGUE) else None
        if changed and (kind in (NAMED_ONE, LAST_ONE) or _is_correction(sentence, match, end)):
            return change(words_of(sentence, start, match.start()), changed)
        if kind == NONE and changed is None and _is_correction(sentence, match, end):
            return _corrected(sentence, start, match, end)
    return None


def _is_correction(sentence: Sentence, was: re.Match[str], end: int) -> bool:
    return bool(_NOT.search(sentence.masked, was.end(), end) or _ACTUALLY.search(was[0]))


def _corrected(sentence: Sentence, start: int, was: re.Match[str], end: int) -> Command | None:
    """A thing that was so much, not so much; what is on the menu may be a guest's bill."""
    which = words_of(sentence, start, was.start())
    if is_on_the_menu(which, sentence.around.language) or _NOW.search(was[0]):
        return None
    changed = _values(sentence, was.end(), end)
    return change(which, changed) if changed else None
