"""One's own conversations, later: finding them again, and naming them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from uuid import UUID

from sqlalchemy import func, or_, select, text
from sqlalchemy.dialects.postgresql import distinct_on

from app.assistant.models import Message, Thread, own
from app.assistant.threads.branches import is_shown, newest_below, path_up
from app.assistant.threads.threads import (
    PAGE_MESSAGES,
    load_message,
    load_thread,
    own_threads,
)
from app.db import ScopedSession
from app.errors import InvalidInput, NotFound
from app.text.free_text import MOST_WORDS, has_words, limit_search
from app.text.markdown import plain_line_around
from app.text.normalize import fold, split_marked
from app.text.normalize import words as folded_words
from app.text.plain_text import clean_line
from app.web.fair_queue import in_stretches

Pieces = list[tuple[str, bool]]

PAGE_THREADS = 40
LONGEST_TITLE = 80
LONGEST_SEARCH = 100
# Of a message that was found: what is shown before and after the words.
BEFORE, AFTER = 40, 140
# What is shorter than this is no stem but half of the words there are.
SHORTEST_STEM, SHORTEST_WORD = 4, 3
# The numbers of sources say nothing in a line without them.
_SOURCES = re.compile(r"\s?\[\d+\]")


@dataclass(frozen=True)
class FoundThread:
    """A conversation, and what was said in it where it was found by its words.

    `title` and `excerpt` are cut into pieces, each with whether it is a word that was asked
    for; `message_id` is the message of the excerpt.
    """

    thread: Thread
    title: Pieces = field(default_factory=list)
    excerpt: Pieces = field(default_factory=list)
    message_id: UUID | None = None


def find_threads(
    session: ScopedSession, words: str = "", older_than: datetime | None = None
) -> list[FoundThread]:
    """One's own threads, the last used first, at most `PAGE_THREADS` of them.

    With `words`, those whose title, or one message of theirs, has them all: in any order,
    in any of their forms in either language, as parts of words too, accents and case aside.

    Raises:
        TooMany: so many messages would have to be read that it takes too long.
    """
    with limit_search(session):
        return _find_threads(session, words, older_than)


def _find_threads(
    session: ScopedSession, words: str, older_than: datetime | None
) -> list[FoundThread]:
    query = own_threads(session).limit(PAGE_THREADS)
    if older_than is not None:
        query = query.where(Thread.last_message_at < older_than)
    wanted = _wanted(session, words)[:MOST_WORDS]
    if not wanted:
        return [FoundThread(thread, _pieces(thread.title, ())) for thread in session.scalars(query)]
    says = (
        select(Message.id)
        .where(
            Message.thread_id == Thread.id,
            *own(session, Message),
            has_words(Message.folded, wanted),
        )
        .exists()
    )
    threads = session.scalars(
        query.where(or_(has_words(func.fold_text(Thread.title), wanted), says))
    ).all()
    said = _newest_saying(session, [thread.id for thread in threads], wanted)
    found = (_found(thread, said.get(thread.id), wanted) for thread in threads)
    # What stands around the words is looked for in forty long replies.
    return list(in_stretches(found, session.scope.user_id))


_FORMS = text(
    "SELECT asked.word, is_stop_word(asked.word) AS says_nothing,"
    " word_stem('en', asked.word) AS english, word_stem('es', asked.word) AS spanish"
    " FROM unnest(CAST(:words AS text[])) AS asked (word)"
)


def _wanted(session: ScopedSession, asked: str) -> list[str]:
    """What a text must have of each word: as much of it as all of its forms have.

    Words that say nothing count only where there are no others, and signs likewise.
    """
    folded = fold(clean_line(asked)[:LONGEST_SEARCH])
    found = list(dict.fromkeys(folded_words(folded)))
    if not found:
        return folded.split()
    rows = session.execute(_FORMS, {"words": found}).all()
    telling = [row for row in rows if not row.says_nothing] or rows
    return [_shared_start(row.word, (row.english, row.spanish)) for row in telling]


def _shared_start(word: str, stems: tuple[str | None, ...]) -> str:
    """The longest start of `word` that its stems agree on: "polic" of policies and policy."""
    start = word
    for stem in filter(None, stems):
        pairs = zip(start, stem.removesuffix("i"), strict=False)
        start = "".join(one for one, _other in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if len(start) >= SHORTEST_STEM:
        return start
    # The English one is the careful one with short words: "tip" of tips, "vino" of vinos.
    careful = stems[0] or word
    return careful if word.startswith(careful) and len(careful) >= SHORTEST_WORD else word


def _newest_saying(
    session: ScopedSession, threads: list[UUID], wanted: list[str]
) -> dict[UUID, tuple[UUID, str]]:
    """The newest message of each thread that has the words: its id and what it says."""
    rows = session.execute(
        select(Message.thread_id, Message.id, Message.content)
        .where(
            Message.thread_id.in_(threads),
            *own(session, Message),
            has_words(Message.folded, wanted),
        )
        .order_by(Message.thread_id, Message.id.desc())
        .ext(distinct_on(Message.thread_id))
    )
    return {thread_id: (id_, content) for thread_id, id_, content in rows}


def _found(thread: Thread, said: tuple[UUID, str] | None, wanted: list[str]) -> FoundThread:
    title = _pieces(thread.title, wanted)
    if said is None:
        return FoundThread(thread, title)
    message_id, content = said
    return FoundThread(thread, title, _excerpt(content, wanted), message_id)


def _pieces(line: str, wanted: Sequence[str]) -> Pieces:
    return split_marked(line, lambda word: any(part in word for part in wanted))


def _excerpt(content: str, wanted: list[str]) -> Pieces:
    """What stands around the first of the words, cut between words."""
    text = _SOURCES.sub("", content)
    line, is_preceded, is_followed = plain_line_around(text, _first(text, wanted))
    at = _first(line, wanted)
    start = line.rfind(" ", 0, max(at - BEFORE, 0)) + 1
    end = at + AFTER
    before = "…" if start or is_preceded else ""
    after = "…" if end < len(line) or is_followed else ""
    return _pieces(before + line[start:end] + after, wanted)


def _first(line: str, wanted: list[str]) -> int:
    """Where the first word begins that has one of those; 0 where none has."""
    for word in re.finditer(r"\S+", line):
        folded = fold(word[0])
        if any(part in folded for part in wanted):
            return word.start()
    return 0


def messages_around(
    session: ScopedSession, thread_id: UUID, message_id: UUID, limit: int = PAGE_MESSAGES
) -> list[Message]:
    """A page of the branch that this message is on, with some of what follows it.

    Empty where it is on the last page anyway, or is no message of the person's thread.
    """
    thread = load_thread(session, thread_id)
    with suppress(NotFound):
        found = load_message(session, thread_id, message_id)
        if not is_shown(session, thread, found, PAGE_MESSAGES):
            last = newest_below(session, found.id, PAGE_MESSAGES // 2)
            return path_up(session, last, limit)
    return []


def rename_thread(session: ScopedSession, thread_id: UUID, title: str) -> Thread:
    """Give a conversation another name.

    Raises:
        NotFound: it is not theirs. InvalidInput: no name, or one that is too long.
    """
    thread = load_thread(session, thread_id)
    name = clean_line(title)
    if not name:
        raise InvalidInput("Give the chat a name.", field="title")
    if len(name) > LONGEST_TITLE:
        raise InvalidInput(
            "A name can have up to %(limit)s characters.", field="title", limit=str(LONGEST_TITLE)
        )
    thread.title = name
    session.commit()
    return thread
