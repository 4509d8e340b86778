"""A conversation as one command: each answer to a question goes on with what it was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from app.skills.expenses.nlu.amendments import amended
from app.skills.expenses.nlu.answers import answered
from app.skills.expenses.nlu.categories import Category
from app.skills.expenses.nlu.command import Command
from app.skills.expenses.nlu.reader import read_sentence
from app.skills.expenses.nlu.sentence import ReadingContext

MOST_TURNS = 20
_ASKED = re.compile(r"\?[\s*_\"'»”)]*$")


def read_conversation(
    turns: Sequence[tuple[str, str]],
    message: str,
    language: str,
    today: date,
    categories: Sequence[Category],
    currency: str = "",
) -> Command | None:
    """What `message` wants after these turns, pairs of role ("user", "assistant") and text.

    A command goes on only where the assistant's turn after it ended in a question.
    """
    around = ReadingContext(language, today, tuple(categories), currency)
    open_command: Command | None = None
    is_asked = False
    for role, text in turns[-MOST_TURNS:]:
        if role == "user":
            open_command, is_asked = _next(open_command if is_asked else None, text, around), False
        elif role == "assistant":
            is_asked = bool(_ASKED.search(text))
    return _next(open_command if is_asked else None, message, around)


def _next(waiting: Command | None, text: str, around: ReadingContext) -> Command | None:
    if waiting and not waiting.missing:
        # It was shown, and the message may change it.
        return amended(waiting, text, around) or read_sentence(text, around)
    answer = answered(waiting, text, around) if waiting else None
    return answer or read_sentence(text, around)
