"""One's own conversations, later: finding them again, naming them, taking them off the list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on

from app.assistant.models import Message, Thread
from app.assistant.threads import load_thread, own_threads, stop_turns
from app.db import ScopedSession, utc_now
from app.errors import InvalidInput
from app.retrieval.folding import fold

PAGE_THREADS = 40
LONGEST_TITLE = 80
LONGEST_SEARCH = 100
# Of a message that was found: what is shown before and after the words.
BEFORE, AFTER = 40, 120
# Markdown's marks and the numbers of sources say nothing in a line without either.
_MARKS = re.compile(r"\*\*|`|\s?\[\d+\]|^#+ |^[-*] ", re.MULTILINE)


@dataclass(frozen=True)
class FoundThread:
    """A conversation, and what was said in it where it was found by its words."""

    thread: Thread
    excerpt: str = ""


def find_threads(
    session: ScopedSession, words: str = "", older_than: datetime | None = None
) -> list[FoundThread]:
    """One's own threads, the last used first, at most `PAGE_THREADS` of them.

    With `words`, those whose title or messages have them, accents and case aside.
    """
    query = own_threads(session).limit(PAGE_THREADS)
    if older_than is not None:
        query = query.where(Thread.last_message_at < older_than)
    wanted = fold(" ".join(words.split())[:LONGEST_SEARCH])
    if not wanted:
        return [FoundThread(thread) for thread in session.scalars(query)]
    says = (
        select(Message.id)
        .where(
            Message.thread_id == Thread.id,
            Message.user_id == session.scope.user_id,
            func.strpos(func.fold_text(Message.content), wanted) > 0,
        )
        .exists()
    )
    named = func.strpos(func.fold_text(Thread.title), wanted) > 0
    threads = session.scalars(query.where(or_(named, says))).all()
    excerpts = _excerpts(session, [thread.id for thread in threads], wanted)
    return [FoundThread(thread, excerpts.get(thread.id, "")) for thread in threads]


def _excerpts(session: ScopedSession, threads: list[UUID], wanted: str) -> dict[UUID, str]:
    """The newest message of each thread that has the words, cut around them."""
    rows = session.execute(
        select(Message.thread_id, Message.content)
        .where(
            Message.thread_id.in_(threads),
            Message.user_id == session.scope.user_id,
            func.strpos(func.fold_text(Message.content), wanted) > 0,
        )
        .order_by(Message.thread_id, Message.id.desc())
        .ext(distinct_on(Message.thread_id))
    )
    return {thread_id: _excerpt(content, wanted) for thread_id, content in rows}


def _excerpt(content: str, wanted: str) -> str:
    line = " ".join(_MARKS.sub("", content).split())
    # Folding hardly ever changes the length, and an excerpt need not be exact.
    at = max(fold(line).find(wanted), 0)
    start, end = max(at - BEFORE, 0), at + len(wanted) + AFTER
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def rename_thread(session: ScopedSession, thread_id: UUID, title: str) -> Thread:
    """Give a conversation another name.

    Raises:
        NotFound: it is not theirs. InvalidInput: no name, or one that is too long.
    """
    thread = load_thread(session, thread_id)
    name = " ".join(title.replace("\0", "").split())
    if not name:
        raise InvalidInput("Give the conversation a name.", field="title")
    if len(name) > LONGEST_TITLE:
        raise InvalidInput(
            "A name can have %(limit)s characters.", field="title", limit=str(LONGEST_TITLE)
        )
    thread.title = name
    session.commit()
    return thread


def delete_thread(session: ScopedSession, thread_id: UUID) -> None:
    """End what is being answered there, and take the conversation off every list."""
    # Held, so that no message is taken into a conversation that is no more.
    thread = load_thread(session, thread_id, lock=True)
    stop_turns(session, thread_id)
    thread.deleted_at = utc_now()
    session.commit()
