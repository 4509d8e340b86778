"""Threads and their messages: loading one's own, and accepting what somebody wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from app.assistant.models import UNFINISHED, Message, Thread, Turn, own
from app.assistant.proposals.proposals import set_aside
from app.assistant.threads.branches import newest_below, path_to_head, path_up
from app.assistant.turns.cancel import NOTIFY_CHANNEL, stop_turns, unfinished
from app.assistant.usage.message_quotas import count_message
from app.db import ScopedSession, new_id, utc_now
from app.errors import Conflict, InvalidInput, NotFound
from app.nlu.control import last_line, listed_act, may_be_answer, read_answer
from app.nlu.courtesies import read_courtesy
from app.text.plain_text import clean_line, clean_lines, compose

MESSAGE_LIMIT = 4000
# Marks and runs of blanks may leave a quarter of what was sent.
LONGEST_READ = 4 * MESSAGE_LIMIT
PAGE_MESSAGES = 30
HISTORY_THREADS = 60
TITLE_LENGTH = 60
# Of more blanks in a row, of one sign more often in a row, or of more signs and blanks mixed,
# nobody means anything else; what reads messages looks at each of them.
_SIGN = r"[\s!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u2027]"
_RUN = re.compile(rf"(\s{{16}})\s+|((?:([!-/:-@\[-`{{-~])\3{{15}}))\3+|({_SIGN}{{64}}){_SIGN}+")
# Threads of another kind belong to what they are about, and are no chats.
CHAT = "manual"
# What words that are listed do to what is open, beside agreeing to it.
ENDING = ("cancel", "skip", "finish", "submit", "undo")


@dataclass(frozen=True)
class Accepted:
    """A message that is stored, and the turn that will answer it."""

    thread: Thread
    message: Message
    reply: Message
    turn: Turn
    is_first: bool = False  # the thread began with it
    is_titled: bool = False  # the thread is called by it
    repeated: bool = False


def clean_message(raw: str) -> str:
    """The message as it is stored: NFC, without control characters or outer blanks.

    Raises:
        InvalidInput: nothing is left of it, or it is longer than 4,000 characters.
    """
    message = raw
    # What is far too long is read by nothing else: a book of joiners takes seconds.
    if len(raw) <= LONGEST_READ:
        kept = clean_lines(compose(raw)).strip()
        message = _RUN.sub(lambda run: run[1] or run[2] or run[4], kept)
    if len(message) > MESSAGE_LIMIT:
        raise InvalidInput(
            "That is %(length)s characters; a message can have %(limit)s. Shorten it or send it"
            " in two.",
            field="message",
            length=f"{len(message):,}",
            limit=f"{MESSAGE_LIMIT:,}",
        )
    if not clean_line(message):
        raise InvalidInput("Write a message first.", field="message")
    return message


def load_thread(session: ScopedSession, thread_id: UUID, *, lock: bool = False) -> Thread:
    """The person's own thread; with `lock`, nobody else adds to it until the commit.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    query = select(Thread).where(
        Thread.id == thread_id, *own(session, Thread), Thread.deleted_at.is_(None)
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    thread = session.scalar(query)
    if thread is None:
        raise NotFound("This chat does not exist, or it is not yours.")
    return thread


def load_message(session: ScopedSession, thread_id: UUID, message_id: UUID) -> Message:
    """A message of the person's own thread, or NotFound."""
    message = session.scalar(
        select(Message).where(
            Message.id == message_id, Message.thread_id == thread_id, *own(session, Message)
        )
    )
    if message is None:
        raise NotFound("This message does not exist, or it is not yours.")
    return message


def latest_messages(
    session: ScopedSession,
    thread_id: UUID,
    limit: int = PAGE_MESSAGES,
    before: UUID | None = None,
) -> list[Message]:
    """The last `limit` messages of the branch that is shown, oldest first.

    With `before`, those that lead up to that message, whichever branch it is on; an id that
    names none of them counts as not given.
    """
    if before is not None:
        with suppress(NotFound):
            return path_up(session, load_message(session, thread_id, before).parent_id, limit)
    return path_to_head(session, thread_id, limit)


def own_threads(session: ScopedSession) -> Select[Thread]:
    """The person's chats in this group that are not deleted, the last used first."""
    return (
        select(Thread)
        .where(*own(session, Thread), Thread.context_type == CHAT, Thread.deleted_at.is_(None))
        .order_by(Thread.last_message_at.desc(), Thread.id)
    )


def recent_threads(session: ScopedSession, limit: int = HISTORY_THREADS) -> list[Thread]:
    """The threads that were used last."""
    return list(session.scalars(own_threads(session).limit(limit)))


def accept_message(
    session: ScopedSession,
    *,
    thread_id: UUID,
    may_begin: bool,
    message: str,
    message_key: str | None = None,
    language: str,
    request: dict[str, Any] | None = None,
    reserve: tuple[str, float] | None = None,
    instead_of: UUID | None = None,
    seen: str | None = None,
    kind: str = CHAT,
) -> Accepted:
    """Store what somebody wrote and queue the turn that answers it, in one transaction.

    With `reserve` (runner id, seconds) the turn is claimed for that runner, which answers it
    itself: the command line does. A thread that begins here is of that `kind` (`context_type`),
    and only under an id that `may_begin` one. In place of `instead_of`, an earlier question of
    the person's own, it is on a branch of its own, and what is still being answered is stopped.
    `seen` is the last message up to which all was whole on the page that it was written on, ""
    where nothing was; None of a program, which reads whole replies. The same `message_key` with the
    same words is the same message; with other words it is refused.

    Raises:
        InvalidInput: the message or the key cannot be taken.
        NotFound: the thread is somebody else's, or there is none and none may begin.
        Conflict: another message is being answered (`reserve`), or this is a plain yes or no and
            more was said than was on its page.
        LimitReached: the person's day or the group's month is used up.
    """
    words = clean_message(message)
    check_key(message_key)
    # What a reply says that is whole only after this moment was not before whoever wrote.
    arrived = utc_now()
    try:
        thread, is_first = _own_thread(session, thread_id, words, kind, may_begin=may_begin)
        after = thread.head_id if instead_of is None else _place_of(session, thread, instead_of)
        is_behind = not _has_seen(seen, after, is_last=instead_of is None)
        if is_behind and (known := _look_again(session, thread.id, after, words, message_key)):
            return known
        if instead_of is not None:
            _make_room(session, thread)
        facts = {"message_key": message_key, "language": language, "created_at": arrived}
        question = _question_in(thread, after, words, facts)
        # What is asked there, and what "the request" is, the page has not shown.
        behind = {"is_behind": True} if is_behind else {}
        told = {**(request or {}), **behind}
        is_titled = is_first or _is_titled_by(session, thread, words)
        accepted = queue_turn(session, thread, question, told, reserve, is_first)
        session.commit()
    except IntegrityError as error:
        session.rollback()
        # The same post before, which is not looked for as long as nothing stands in the way.
        known = find_accepted(session, thread_id, message_key, words)
        if known:
            return known
        raise_if_busy(error)
        raise
    return replace(accepted, is_titled=is_titled)


def _question_in(
    thread: Thread, after: UUID | None, words: str, facts: Mapping[str, Any]
) -> Message:
    return Message(
        id=new_id(),
        group_id=thread.group_id,
        user_id=thread.user_id,
        thread_id=thread.id,
        parent_id=after,
        role="user",
        content=words,
        **facts,
    )


def _has_seen(seen: str | None, after: UUID | None, *, is_last: bool) -> bool:
    """Whether all that a message follows stood whole on its page.

    Ids are in the order in which messages were stored: on a page on which a message is whole,
    so are those that it follows.
    """
    if seen is None or after is None or seen == str(after):
        return True
    return not is_last and seen > str(after)


def _look_again(
    session: ScopedSession,
    thread_id: UUID,
    after: UUID | None,
    words: str,
    message_key: str | None,
) -> Accepted | None:
    """What becomes of words that were written before all that was said had been seen.

    Sent once more they are what they were; others are taken as they are.

    Raises:
        Conflict: they are a plain yes or no, or end or take back what is open: it would be done to
            what nobody has looked at.
    """
    is_act = listed_act(words) in ENDING
    if not is_act and not may_be_answer(words):
        return None
    query = select(Message.content, Message.status)
    asked = session.execute(query.where(Message.id == after, *own(session, Message))).one()
    if not is_act and read_answer(words, last_line(asked.content)) is None:
        return None
    if known := find_accepted(session, thread_id, message_key, words):
        return known
    if asked.status in UNFINISHED:
        raise Conflict("An answer is still being written. Read it, then answer again.")
    raise Conflict("There are newer messages in this chat. Read them, then answer again.")


def raise_if_busy(error: IntegrityError) -> None:
    """Say so where a turn was claimed at once while another one of its thread runs.

    Raises:
        Conflict
    """
    if "uq_turns_running_thread" in str(error.orig):
        raise Conflict(
            "An answer is being written in this chat. Ask again when it is done."
        ) from None


def check_key(message_key: str | None) -> None:
    # Halves of characters and other signs that no database keeps are not printable.
    if message_key is not None and not (8 <= len(message_key) <= 64 and message_key.isprintable()):
        raise InvalidInput("The message's key must have 8 to 64 characters.", field="message_key")


def find_accepted(
    session: ScopedSession, thread_id: UUID, message_key: str | None, words: str | None = None
) -> Accepted | None:
    """What was accepted with this key before, with these words (or whichever it has).

    Raises:
        InvalidInput: it was sent with other words.
    """
    if message_key is None:
        return None
    found = session.scalar(
        select(Message).where(
            Message.thread_id == thread_id,
            Message.message_key == message_key,
            *own(session, Message),
        )
    )
    if found is None:
        return None
    if words is not None and found.content != words:
        raise InvalidInput(
            "This message was already sent with other words. Reload the page and send it again.",
            field="message_key",
        )
    turn = _turn_of(session, found)
    reply = load_message(session, thread_id, turn.reply_message_id)
    return Accepted(load_thread(session, thread_id), found, reply, turn, repeated=True)


def _turn_of(session: ScopedSession, message: Message) -> Turn:
    """The turn that the message began, or that wrote it."""
    return session.scalars(
        select(Turn).where(Turn.id == message.turn_id, *own(session, Turn))
    ).one()


def ask_again(session: ScopedSession, thread_id: UUID, reply_id: UUID) -> Accepted:
    """Have a reply made again, beside the one there is; the question stays the same.

    Raises:
        NotFound: there is no such reply of theirs. InvalidInput: it is no reply.
    """
    thread = load_thread(session, thread_id, lock=True)
    reply = load_message(session, thread_id, reply_id)
    if reply.role != "assistant" or reply.parent_id is None:
        raise InvalidInput("Only answers can be generated again.")
    question = load_message(session, thread_id, reply.parent_id)
    before = _turn_of(session, reply)
    stop_turns(session, thread_id)
    set_aside(session, thread_id)
    accepted = queue_turn(session, thread, question, before.request, None, is_first=False)
    session.commit()
    return accepted


def show_branch(session: ScopedSession, thread_id: UUID, message_id: UUID) -> Thread:
    """Show the branch of the conversation that goes on from this message.

    Raises:
        NotFound: it is not theirs.
    """
    thread = load_thread(session, thread_id, lock=True)
    message = load_message(session, thread_id, message_id)
    # What was proposed on the other branch cannot be seen from here.
    set_aside(session, thread_id)
    thread.head_id = newest_below(session, message.id)
    session.commit()
    return thread


def _place_of(session: ScopedSession, thread: Thread, message_id: UUID) -> UUID | None:
    """What another question in the place of this one follows."""
    asked = load_message(session, thread.id, message_id)
    if asked.role != "user":
        raise InvalidInput("Only your own messages can be changed.", field="edits")
    return asked.parent_id


def _make_room(session: ScopedSession, thread: Thread) -> None:
    """End what is being answered, and put away what waits for a yes, for another question."""
    stop_turns(session, thread.id)
    set_aside(session, thread.id)


def queue_turn(
    session: ScopedSession,
    thread: Thread,
    question: Message,
    request: dict[str, Any],
    reserve: tuple[str, float] | None,
    is_first: bool,
) -> Accepted:
    """Queue the turn that answers `question`, and show the branch that it is on.

    The thread's row is held, so that turns get their ids, which order them, one after the
    other.
    """
    owner = {"group_id": thread.group_id, "user_id": thread.user_id, "thread_id": thread.id}
    turn_id, reply_id = new_id(), new_id()
    if thread.context_type != CHAT:
        request = {**request, "conversation": thread.context_type}
    reply = Message(
        id=reply_id,
        role="assistant",
        status="queued",
        language=question.language,
        parent_id=question.id,
        turn_id=turn_id,
        **owner,
    )
    turn = Turn(
        id=turn_id,
        user_message_id=question.id,
        reply_message_id=reply_id,
        request=request,
        **owner,
    )
    if reserve:
        turn.status, turn.fence, turn.attempts, turn.runner_id = "running", 1, 1, reserve[0]
        turn.lease_until = utc_now() + timedelta(seconds=reserve[1])
    question.turn_id = question.turn_id or turn_id
    thread.head_id, thread.last_message_at = reply_id, utc_now()
    session.add_all([question, reply, turn])
    session.flush()
    session.execute(text("SELECT pg_notify(:channel, '')"), {"channel": NOTIFY_CHANNEL})
    # Last, because the whole group waits for its counter until this is committed.
    count_message(session)
    return Accepted(thread, question, reply, turn, is_first)


def _own_thread(
    session: ScopedSession, thread_id: UUID, words: str, kind: str, *, may_begin: bool
) -> tuple[Thread, bool]:
    """The person's thread, held, and whether it was made just now; it begins with these words."""
    try:
        return load_thread(session, thread_id, lock=True), False
    except NotFound:
        # Here, whether it is somebody else's or nobody's: what follows would tell them apart.
        if not may_begin:
            raise
    owner = {"group_id": session.scope.group_id, "user_id": session.scope.user_id}
    new = insert(Thread).values(id=thread_id, title=_title(words), context_type=kind, **owner)
    # Two first messages at once make one thread; an id of somebody else's makes none.
    made = session.execute(new.on_conflict_do_nothing().returning(Thread.id))
    is_first = made.scalar() is not None
    return load_thread(session, thread_id, lock=True), is_first


def _is_titled_by(session: ScopedSession, thread: Thread, words: str) -> bool:
    """Call a thread that began with a greeting by the first words that say something."""
    if read_courtesy(thread.title).rest or not read_courtesy(words).rest:
        return False
    asked = (Message.thread_id == thread.id, Message.role == "user", *own(session, Message))
    first = session.scalar(select(Message.content).where(*asked).order_by(Message.id).limit(1))
    if first is None or _title(first) != thread.title:
        # Its person calls it so.
        return False
    thread.title = _title(words)
    return True


def _title(words: str) -> str:
    """A thread is called by its first words until somebody renames it, without a greeting."""
    rest = read_courtesy(words).rest or words
    # "Hola, ¿cuánto cuesta?" without its greeting keeps the sign that it opens with.
    before = words[: words.rfind(rest)]
    line = clean_line(before[-1] + rest if before.endswith(("¿", "¡")) else rest)
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0] + "…"


def request_stop(session: ScopedSession, thread_id: UUID) -> list[UUID]:
    """Ask that the answer which is being made end now; the replies that are over already.

    A message that waits for it is answered next, and can be stopped then.
    """
    load_thread(session, thread_id)
    running = select(Turn.id).where(*unfinished(session, thread_id))
    current = session.scalar(running.order_by(Turn.id).limit(1))
    waiting = stop_turns(session, thread_id, Turn.id == current) if current else []
    session.commit()
    return waiting
