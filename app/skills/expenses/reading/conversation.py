"""A conversation as one wish: each answer to a question goes on with what it was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from app.skills.expenses.reading.amending import amended
from app.skills.expenses.reading.answering import answered
from app.skills.expenses.reading.categories import Category
from app.skills.expenses.reading.sentence import Surroundings
from app.skills.expenses.reading.wish import Wish
from app.skills.expenses.reading.wishes import read_sentence

MOST_TURNS = 20
_ASKED = re.compile(r"\?[\s*_\"'»”)]*$")


def read_conversation(
    turns: Sequence[tuple[str, str]],
    message: str,
    language: str,
    today: date,
    categories: Sequence[Category],
    currency: str = "",
) -> Wish | None:
    """What `message` wants after these turns, pairs of role ("user", "assistant") and text.

    A wish goes on only where the assistant's turn after it ended in a question.
    """
    around = Surroundings(language, today, tuple(categories), currency)
    open_wish: Wish | None = None
    is_asked = False
    for role, text in turns[-MOST_TURNS:]:
        if role == "user":
            open_wish, is_asked = _next(open_wish if is_asked else None, text, around), False
        elif role == "assistant":
            is_asked = bool(_ASKED.search(text))
    return _next(open_wish if is_asked else None, message, around)


def _next(waiting: Wish | None, text: str, around: Surroundings) -> Wish | None:
    if waiting and not waiting.missing:
        # It was shown, and the message may change it.
        return amended(waiting, text, around) or read_sentence(text, around)
    answer = answered(waiting, text, around) if waiting else None
    return answer or read_sentence(text, around)
