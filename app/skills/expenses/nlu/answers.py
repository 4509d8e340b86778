"""Answers to what was asked about a command: "taxi", "it was 12 dollars", "la luz".

A conversation is one command: each answer to a question goes on with what it was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from app.nlu.control import read_answer
from app.skills.expenses.nlu.amendments import amended, asks_for_field
from app.skills.expenses.nlu.categories import Category
from app.skills.expenses.nlu.changes import Change, read_change, words_left
from app.skills.expenses.nlu.command import (
    ADD,
    CHANGES,
    EITHER,
    Command,
    addition,
    arguments_of,
    lacks,
    row_arguments,
    rows_of,
    settle,
    unsure_row,
)
from app.skills.expenses.nlu.evidence import is_item
from app.skills.expenses.nlu.lexicon import MASKS, compiled, either
from app.skills.expenses.nlu.reader import core_of, read_sentence
from app.skills.expenses.nlu.references import NONE, VAGUE, kind_of, words_of
from app.skills.expenses.nlu.rows import read_rows
from app.skills.expenses.nlu.sentence import LONGEST_MESSAGE, ReadingContext, Sentence

# "Never mind, thanks": words that answer nothing, and those that are only kind.
_NO_ANSWER = re.compile(f"{either('never_mind')}|{either('small_talk')}|{either('closings')}")
_MASKED = re.compile(MASKS)
_AROUND = compiled("around_answers")
_AROUND_CHANGES = compiled("around_changes")
_LEADING = re.compile(rf"(?:{either('around_answers')}[\s,:]+)*+")
_LONGEST_ANSWER = 8
MOST_TURNS = 20
_ENDS_IN_QUESTION = re.compile(r"\?[\s*_\"'»”)]*$")


def answer_command(
    waiting: Command,
    message: str,
    language: str,
    today: date,
    categories: Sequence[Category],
    currency: str = "",
) -> Command | None:
    """`waiting` with the answer to what was asked, `missing[0]`.

    None where the message is no answer: a question, a new command, "never mind".
    """
    around = ReadingContext(language, today, tuple(categories), currency)
    return answered(waiting, message, around)


def answered(waiting: Command, message: str, around: ReadingContext) -> Command | None:
    """The same, with all that it is read with in one."""
    if not waiting.missing or not message.strip() or len(message) > LONGEST_MESSAGE:
        return None
    sentence = Sentence.of(message, around)
    start, end = _core(sentence)
    said = sentence.masked[start:end]
    if "?" in message or "¿" in message:
        return None
    is_open = bool(_MASKED.search(said)) or bool(words_left(said, _NO_ANSWER))
    if not is_open:
        return None
    return _ANSWERS.get(waiting.missing[0], _no_answer)(waiting, sentence, start, end)


def _core(sentence: Sentence) -> tuple[int, int]:
    """Without greetings, unless they are all: "ok", "no"."""
    start, end = core_of(sentence)
    return (start, end) if start < end else (0, len(sentence.masked.rstrip(" .!")))


def _item(waiting: Command, sentence: Sentence, start: int, end: int) -> Command | None:
    """A thing, perhaps with its price and its day; or only these, then it is asked for again."""
    new = read_sentence(sentence.text, sentence.around)
    if new is not None:
        return _merged(waiting, new.arguments) if new.tool == waiting.tool == ADD else None
    begin = _begin(sentence, start, end)
    rows = read_rows(sentence, begin, end)
    if not rows or len(sentence.masked[begin:end].split()) > _LONGEST_ANSWER:
        return None
    if not all(is_item(row) for row in rows) or (len(rows) > 1 and not all(r.amount for r in rows)):
        return None
    answer = addition(rows).arguments
    return _with_item(_merged(waiting, answer)) if answer else None


def _with_item(command: Command) -> Command:
    """Of "gas 45 monday and 30 on tuesday": each row that has a sum alone is the same thing."""
    item = command.arguments.get("item")
    rows = [row if "item" in row or not item else {**row, "item": item}
            for row in rows_of(command.arguments)]  # fmt: skip
    return replace(command, arguments=arguments_of(rows))


def _begin(sentence: Sentence, start: int, end: int) -> int:
    leading = _LEADING.match(sentence.masked, start, end)
    return leading.end() if leading else start


def _merged(waiting: Command, answer: Mapping[str, Any]) -> Command:
    """What was known and what was answered, with what is still to ask for."""
    arguments = {**waiting.arguments, **answer}
    missing = dict.fromkeys((*waiting.missing, *(("amount",) if unsure_row(arguments) else ())))
    return Command(waiting.tool, arguments, lacks(arguments, tuple(missing)))


def _amount(waiting: Command, sentence: Sentence, start: int, end: int) -> Command | None:
    """The sum, beside which only the thing itself may be named again."""
    found = read_change(sentence, start, end)
    if found is not None and found.values.keys() == {"date"} and _only(sentence, start, end):
        # The day first, and then the sum is asked for again.
        return _merged(waiting, found.values)
    if found is None or not found.values.keys() & {"amount", EITHER}:
        return _priced(waiting, sentence, start, end)
    known = _words_known(waiting, sentence.around)
    if [word for word in words_left(found.rest, _AROUND) if word not in known]:
        return _priced(waiting, sentence, start, end)
    if unsure_row(waiting.arguments) is None:
        return _merged(waiting, found.values)
    # The same words once more say no more: it is asked again.
    is_settled = "amount" in found.values
    settled = settle(waiting.arguments, found.values) if is_settled else waiting.arguments
    return _merged(replace(waiting, arguments=settled), {})


def _words_known(waiting: Command, around: ReadingContext) -> set[str]:
    item = Sentence.of(str(waiting.arguments.get("item") or ""), around)
    return set(re.findall(r"\w+", item.masked))


def _priced(waiting: Command, sentence: Sentence, start: int, end: int) -> Command | None:
    """The sum with a note, or further rows: "12 in cash", "12, and coffee 4.50"."""
    rows = read_rows(sentence, _begin(sentence, start, end), end)
    if not rows or not all(row.amount for row in rows) or not rows[0].note or rows[0].item:
        return None
    return _merged(waiting, row_arguments(rows[0])) if len(rows) == 1 else None


def _date(waiting: Command, sentence: Sentence, start: int, end: int) -> Command | None:
    found = _only(sentence, start, end)
    return _merged(waiting, found.values) if found and "date" in found.values else None


def _category(waiting: Command, sentence: Sentence, start: int, end: int) -> Command | None:
    found = _only(sentence, start, end)
    return _merged(waiting, found.values) if found and "category" in found.values else None


def _only(sentence: Sentence, start: int, end: int) -> Change | None:
    """The values of an answer that says nothing else."""
    found = read_change(sentence, start, end)
    if found is None or words_left(found.rest, _AROUND):
        return None
    return found


def _which(waiting: Command, sentence: Sentence, start: int, end: int) -> Command | None:
    """A row, in any words that are few: after the question nothing else can be meant."""
    new = read_sentence(sentence.text, sentence.around)
    if new is not None and new.tool not in (ADD, waiting.tool):
        return None
    if new is not None and new.tool == waiting.tool and not new.missing:
        return new
    words = words_of(sentence, start, end)
    is_row = kind_of(sentence, start, end) not in (NONE, VAGUE)
    rows = read_rows(sentence, start, end)
    is_thing = len(rows) == 1 and len(words.split()) <= 6 and is_item(rows[0])
    return _merged(waiting, {"which": words}) if words and (is_row or is_thing) else None


def _change(waiting: Command, sentence: Sentence, start: int, end: int) -> Command | None:
    found = read_change(sentence, start, end)
    if found is None or words_left(found.rest, _AROUND_CHANGES):
        return None
    values = {name: value for name, value in found.values.items() if name in (*CHANGES, EITHER)}
    if not values:
        return None
    missing = tuple(name for name in waiting.missing if name != "change")
    return _merged(replace(waiting, missing=missing), values)


def _no_answer(waiting: Command, sentence: Sentence, start: int, end: int) -> None:
    return None


_ANSWERS: Mapping[str, Callable[[Command, Sentence, int, int], Command | None]] = {
    "item": _item,
    "amount": _amount,
    "date": _date,
    "category": _category,
    "which": _which,
    "change": _change,
}


def read_conversation(
    turns: Sequence[tuple[str, str]],
    message: str,
    language: str,
    today: date,
    categories: Sequence[Category],
    currency: str = "",
    asked_about: Callable[[str, str], Command | None] = lambda _said, _reply: None,
    asks_to_differ: Callable[[str], bool] = lambda _reply: False,
) -> Command | None:
    """What `message` wants after these turns, pairs of role ("user", "assistant") and text.

    A command goes on only where the assistant's turn after it ended in a question. Of words that
    are no command by themselves, `asked_about` tells which one the reply to them asked about. One
    that was declined goes on where the reply `asks_to_differ`: it is told anew.
    """
    around = ReadingContext(language, today, tuple(categories), currency)
    command: Command | None = None
    is_asked, is_open, said = False, True, ""
    for role, text in turns[-MOST_TURNS:]:
        if role == "user":
            waiting = command if is_asked else None
            is_declined = waiting and not waiting.missing and read_answer(text) == "no"
            if not is_declined:
                command = _next_command(waiting, text, around, is_open=is_open)
            is_asked, is_open, said = False, not is_declined, text
        elif role == "assistant":
            is_asked = bool(_ENDS_IN_QUESTION.search(text)) if is_open else asks_to_differ(text)
            if is_asked and command is None:
                command = asked_about(said, text)
    return _next_command(command if is_asked else None, message, around, is_open=is_open)


def _next_command(
    waiting: Command | None, text: str, around: ReadingContext, *, is_open: bool
) -> Command | None:
    if waiting and not waiting.missing:
        # It was shown, and the message may change it.
        return (
            amended(waiting, text, around, is_open=is_open)
            or read_sentence(text, around)
            or asks_for_field(waiting, text)
        )
    answer = answered(waiting, text, around) if waiting else None
    return answer or read_sentence(text, around)
