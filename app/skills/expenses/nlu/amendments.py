"""Other values for what was proposed: "make it 250", "no, 12.50", "el taxi fueron 15"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from app.skills.expenses.nlu.categories import Category, singular
from app.skills.expenses.nlu.changes import Change, read_change, words_left
from app.skills.expenses.nlu.command import (
    ADD,
    CHANGES,
    DELETE,
    EITHER,
    UPDATE,
    Command,
    arguments_of,
    row_arguments,
    rows_of,
    unsure_row,
)
from app.skills.expenses.nlu.evidence import is_item, is_short
from app.skills.expenses.nlu.kinds import is_known
from app.skills.expenses.nlu.lexicon import MASKS, compiled, either, listed, places
from app.skills.expenses.nlu.reader import core_of, read_sentence
from app.skills.expenses.nlu.references import NONE, VAGUE, kind_of, words_of
from app.skills.expenses.nlu.rows import Row, read_rows
from app.skills.expenses.nlu.sentence import LONGEST_MESSAGE, ReadingContext, Sentence
from app.text.normalize import words

_CORRECTION = re.compile(rf"[\s,.;:!¡-]*(?:{either('corrections')}[\s,;:.!-]+)*+")
_AROUND = compiled("around_changes")
_DROP = re.compile(rf"{either('drop_row')}\s(?P<row>.+)")
_AGREED = re.compile(rf"(?:{either('agreements')}[\s,.;:!-]+)*+")
_ALSO = re.compile(rf"{either('also')}\s(?P<rows>.+)")
_INSTEAD = compiled("instead_of_it")
# What can be asked for when somebody says that it is wrong, and nothing else.
_FIELDS = {
    name: re.compile(rf"{either('fields', name)}(?:\s{either('wrong_behind')})?$")
    for name in ("date", "amount", "item", "category")
}
_BEFORE_FIELDS = re.compile(f"{either('corrections')}|{either('wrong_before')}")
_RENAMED = re.compile(
    rf"(?P<row>[^{MASKS[1:-1]}]*?)\s?{either('was')}\s(?P<item>[^{MASKS[1:-1]}]{{2,60}})"
)
_MOST_WORDS = 5
_FAULTS = listed("faults")
_ORDINALS, _SMALL = places(), listed("small")
_ENDING = re.compile(r"[\s,.!]*$")


def amend_command(
    tool: str,
    arguments: Mapping[str, Any],
    message: str,
    language: str,
    today: date,
    categories: Sequence[Category],
    currency: str = "",
    *,
    is_open: bool = True,
) -> Command | None:
    """A proposal as the message changes it.

    None where it changes nothing, or is about something else. In a proposal of several rows
    the one that is named changes; a day, a currency and a category without a name are for all.
    Where a sum may be one of two, it is still to be asked for. To one that is open a further
    row is added; one that was declined is only told anew.
    """
    around = ReadingContext(language, today, tuple(categories), currency)
    return amended(Command(tool, arguments), message, around, is_open=is_open)


def amended(
    shown: Command, message: str, around: ReadingContext, *, is_open: bool = True
) -> Command | None:
    """The same, with all that it is read with in one."""
    tool, arguments = shown.tool, shown.arguments
    if tool not in (ADD, UPDATE, DELETE) or not message.strip() or len(message) > LONGEST_MESSAGE:
        return None
    if "?" in message or "¿" in message:
        return None
    sentence = Sentence.of(message, around)
    start, end = _core(sentence)
    if start >= end:
        return None
    if tool == DELETE:
        changed = _other_row(arguments, sentence, start, end)
    else:
        changed = _changed(tool, arguments, sentence, start, end)
        if changed is None and tool == ADD and is_open:
            changed = _longer(rows_of(arguments), sentence)
    if not changed or changed == dict(arguments):
        return None
    return Command(tool, changed, ("amount",) if unsure_row(changed) else ())


def begins_as_correction(message: str, around: ReadingContext) -> bool:
    """Whether a message begins by taking back what was said: "no wait, the taxi was 14"."""
    leading = _CORRECTION.match(Sentence.of(message[:LONGEST_MESSAGE], around).masked)
    return leading is not None and any(letter.isalpha() for letter in leading[0])


def _core(sentence: Sentence) -> tuple[int, int]:
    leading = _CORRECTION.match(sentence.masked)
    start = leading.end() if leading else 0
    ending = _ENDING.search(sentence.masked, start)
    return start, ending.start() if ending else len(sentence.masked)


def _other_row(
    arguments: Mapping[str, Any], sentence: Sentence, start: int, end: int
) -> dict[str, Any] | None:
    """ "No, the coffee one": the row is told anew, by words."""
    if kind_of(sentence, start, end) in (NONE, VAGUE):
        return None
    return {"which": words_of(sentence, start, end)}


def _changed(
    tool: str, arguments: Mapping[str, Any], sentence: Sentence, start: int, end: int
) -> dict[str, Any] | None:
    rows = rows_of(arguments)
    if tool == ADD:
        fewer = _without(rows, sentence, start, end)
        if fewer is not None:
            return arguments_of(fewer)
    found = read_change(sentence, start, end)
    if found is not None and found.values:
        changed = _applied(rows, found)
        if changed is not None:
            return arguments_of(changed)
    return _renamed(rows, sentence, start, end) if tool == ADD else None


def _renamed(
    rows: list[dict[str, Any]], sentence: Sentence, start: int, end: int
) -> dict[str, Any] | None:
    """ "It was an uber", "the taxi was an uber": another thing for the same money."""
    match = _RENAMED.fullmatch(sentence.masked, start, end)
    if match is None or len(rows) != 1:
        return None
    named = [word for word in words_left(match["row"], _AROUND) if word not in _SMALL]
    told = read_rows(sentence, *match.span("item"))
    said = match["item"].split()
    if len(told) != 1 or len(said) > _MOST_WORDS or _FAULTS.intersection(said):
        return None
    is_of_it = not {singular(word) for word in named} - _words(rows[0])
    is_thing = told[0].item and is_item(told[0]) and not told[0].amount
    return {**rows[0], "item": told[0].item} if is_of_it and is_thing else None


def asks_for_field(shown: Command, message: str) -> Command | None:
    """The one row that was shown without the field that is said to be wrong: "the date"."""
    if shown.tool != ADD or "more" in shown.arguments or len(message) > LONGEST_MESSAGE:
        return None
    said = " ".join(words(message))
    ends = {name: field.search(said) for name, field in _FIELDS.items()}
    found = [
        name
        for name, end in ends.items()
        if end and not words_left(said[: end.start()], _BEFORE_FIELDS)
    ]
    if len(found) != 1:
        return None
    kept = {name: value for name, value in shown.arguments.items() if name != found[0]}
    return Command(ADD, kept, (found[0],))


def _applied(rows: list[dict[str, Any]], found: Change) -> list[dict[str, Any]] | None:
    """The rows with the change made where it belongs; None where that is not clear."""
    values = {name: value for name, value in found.values.items() if name in (*CHANGES, EITHER)}
    # The row's own words are looked for before the small ones are taken away.
    places = _named(rows, re.findall(r"\w+", found.rest))
    named = {word for place in places for word in _words(rows[place])}
    left = [word for word in words_left(found.rest, _AROUND) if singular(word) not in named]
    if not places and len(rows) > 1 and values.keys() & {"amount", EITHER, "item"}:
        return None
    if [word for word in left if word not in _ORDINALS] or len(places) > 1:
        return None
    chosen = places or range(len(rows))
    return [{**row, **values} if place in chosen else row for place, row in enumerate(rows)]


def _named(rows: list[dict[str, Any]], said: list[str]) -> list[int]:
    """The places of the rows that these words name, by their item or by their number."""
    named = {singular(word) for word in said} - _SMALL
    scores = [len(named & _words(row)) for row in rows]
    best = max(scores)
    if best:
        return [place for place, score in enumerate(scores) if score == best]
    for word in said:
        place = _ORDINALS.get(word)
        if place is not None and place < len(rows) > 1:
            return [place % len(rows)]
    return []


def _words(row: Mapping[str, Any]) -> set[str]:
    return {singular(word) for word in words(str(row.get("item") or ""))} - _SMALL


def _without(
    rows: list[dict[str, Any]], sentence: Sentence, start: int, end: int
) -> list[dict[str, Any]] | None:
    """ "Without the taxi": one row fewer, where there are several."""
    match = _DROP.fullmatch(sentence.masked, start, end)
    if match is None or len(rows) < 2 or sentence.sums_in(start, end):
        return None
    said = re.findall(r"\w+", match["row"])
    places = _named(rows, said)
    if len(places) != 1:
        return None
    known = _words(rows[places[0]])
    left = words_left(match["row"], _AROUND)
    if [word for word in left if singular(word) not in known and word not in _ORDINALS]:
        return None
    return [row for place, row in enumerate(rows) if place != places[0]]


def _longer(rows: list[dict[str, Any]], sentence: Sentence) -> dict[str, Any] | None:
    """ "And a taxi 12", "yes, and limes 3", "uber 20": further rows beside those that are shown.

    None where it takes their place: it says so, or tells the same thing anew.
    """
    if _INSTEAD.search(sentence.masked):
        return None
    agreed = _AGREED.match(sentence.masked)
    also = _ALSO.match(sentence.masked, agreed.end() if agreed else 0)
    told = _further(sentence, also)
    known = {word for row in rows for word in _words(row)}
    is_anew = not also and any(known & _words(row) for row in told)
    return None if is_anew or not told else arguments_of([*rows, *told])


def _is_bare_row(rows: list[Row], language: str) -> bool:
    """ "Limes 3", beside a card: one thing that a restaurant buys, and its price."""
    return len(rows) == 1 and is_short(rows[0]) and is_known(rows[0].item, language)


def _further(sentence: Sentence, also: re.Match[str] | None) -> list[dict[str, Any]]:
    """The rows that a sentence adds, by itself or behind an "and"; none where it adds none."""
    own = read_sentence(sentence.text, sentence.around)
    if own is not None and own.tool == ADD and not own.missing:
        return rows_of(own.arguments)
    start, end = core_of(sentence)
    start = also.start("rows") if also else start
    rows = read_rows(sentence, start, end) if start < end else []
    if not all(row.amount and row.item and is_item(row) for row in rows):
        return []
    if not also and not _is_bare_row(rows, sentence.around.language):
        return []
    return [row_arguments(row) for row in rows]
