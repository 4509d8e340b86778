"""Searching what people wrote for words: how many count, and how long it may take.

Whatever looks for words in texts without an index reads all of them. It looks in texts that are
folded already, for a few words, and gives up after a few seconds, so that no search keeps the
database from others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import ColumnElement, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY, TEXT

from app.db import Impatient, ScopedSession
from app.errors import TooMany

MOST_WORDS = 6
# In milliseconds: nobody waits longer for a list that follows what they type.
LONGEST_WAIT = 3_000
_ESCAPED = re.compile(r"[\\%_]")


@contextmanager
def limit_search(session: ScopedSession, *, alone: bool = True) -> Iterator[None]:
    """No statement of a search, which this is around, may take long.

    Until the transaction ends no other search of the same person runs, from whatever page or
    turn; one that is no search for words, and may last, is not `alone`.

    Raises:
        TooMany: one did, or waited so long for another; the transaction is rolled back.
    """
    try:
        with session.patience(LONGEST_WAIT):
            if alone and session.scope.user_id:
                name = f"search of {session.scope.user_id}"
                lock = func.pg_advisory_xact_lock(func.hashtextextended(name, 0))
                session.execute(select(lock))
            yield
    except Impatient:
        raise TooMany("That search takes too long. Try a longer or a rarer word.") from None


def has_words(folded: Any, words: Sequence[str]) -> ColumnElement[bool]:
    """Every one of the first folded words stands in a folded text, be it within another word."""
    patterns = [f"%{_ESCAPED.sub(_escape, word)}%" for word in words[:MOST_WORDS]]
    has_all: ColumnElement[bool] = folded.op("LIKE", is_comparison=True)(
        func.all(literal(patterns, ARRAY(TEXT)))
    )
    return has_all


def _escape(sign: re.Match[str]) -> str:
    return "\\" + sign[0]
