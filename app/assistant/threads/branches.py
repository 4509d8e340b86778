"""A conversation as a tree: what is shown is one path through it, from its head up.

A question that was asked again in other words, and a reply that was made again, are
siblings of what was there before. Nothing is lost: the other branch is one step away. No
query here reads more of a long thread than a page of it; only going back to a fork walks
down from there, by an index, a message at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Uuid,
    and_,
    bindparam,
    func,
    literal,
    select,
    true,
)
from sqlalchemy.orm import aliased

from app.assistant.models import Message, Thread, own
from app.db import ScopedSession

# What a page shows of a branch, and how far up a "yes" may mean something.
IN_SIGHT = 30


def language_of(session: ScopedSession, thread_id: UUID) -> str:
    """The language that a conversation of one's own has come to: that of its last message."""
    query = (
        select(Message.language)
        .join(Thread, Thread.head_id == Message.id)
        .where(Thread.id == thread_id, *own(session, Thread))
    )
    return session.scalar(query) or "en"


@dataclass(frozen=True)
class Place:
    """Where a message stands among its siblings: number `number` of `of`, from 1."""

    number: int
    of: int
    before: UUID | None
    after: UUID | None


def _mine(model: type[Message | Thread]) -> tuple[ColumnElement[bool], ...]:
    return (model.group_id == bindparam("group_id"), model.user_id == bindparam("user_id"))


def _upwards(start: Any, *wanted: Any) -> Select[Any]:
    """The path from a message up, at most `limit` of it, the oldest first."""
    step = (
        select(Message.id, Message.parent_id, literal(1).label("depth"))
        .where(Message.id == start, *_mine(Message))
        .cte("path", recursive=True)
    )
    parent = aliased(Message)
    step = step.union_all(
        select(parent.id, parent.parent_id, step.c.depth + 1)
        .join(step, parent.id == step.c.parent_id)
        .where(step.c.depth < bindparam("limit"), *_mine(parent))
    )
    return select(*wanted).join(step, Message.id == step.c.id).order_by(step.c.depth.desc())


# Made once: to put such a statement together takes longer than to run it.
_START = bindparam("start", type_=Uuid())
_HEAD = select(Thread.head_id).where(Thread.id == bindparam("thread_id"), *_mine(Thread))
_MESSAGES_UP = _upwards(_START, Message)
_IDS_UP = _upwards(_START, Message.id)
_SAID_UP = _upwards(
    _START,
    Message.id,
    Message.role,
    Message.status,
    Message.content,
    Message.internal_content,
)
_LATEST = _upwards(_HEAD.scalar_subquery(), Message)


def path_up(session: ScopedSession, start: UUID | None, limit: int) -> list[Message]:
    """The message `start` and those it follows, at most `limit`, oldest first."""
    return list(session.scalars(_MESSAGES_UP, _from(session, limit, start=start)))


def path_to_head(session: ScopedSession, thread_id: UUID, limit: int) -> list[Message]:
    """The last `limit` messages of the branch that the thread shows, oldest first."""
    return list(session.scalars(_LATEST, _from(session, limit, thread_id=thread_id)))


def said_up(session: ScopedSession, start: UUID | None, limit: int) -> Sequence[Row[Any]]:
    """As `path_up`, of each message its id, role, status, content and step alone."""
    return session.execute(_SAID_UP, _from(session, limit, start=start)).all()


def _from(session: ScopedSession, limit: int, **start: UUID | None) -> dict[str, Any]:
    scope = session.scope
    return {"group_id": scope.group_id, "user_id": scope.user_id, "limit": limit, **start}


def ids_up(session: ScopedSession, start: UUID, limit: int) -> Sequence[UUID]:
    """The ids of the message `start` and of those it follows, at most `limit`."""
    return session.scalars(_IDS_UP, _from(session, limit, start=start)).all()


def is_shown(session: ScopedSession, thread: Thread, message: Message, within: int) -> bool:
    """True when the message is among the last `within` of the branch that is shown."""
    return leads_to(session, message.id, thread.head_id, within)


def leads_to(session: ScopedSession, message_id: UUID, end: UUID | None, within: int) -> bool:
    """True when the message is among the last `within` of those up to `end`."""
    return end is not None and message_id in ids_up(session, end, within)


def places(session: ScopedSession, messages: Iterable[Message]) -> dict[UUID, Place]:
    """Of these messages, those that have siblings, with their place among them, by id."""
    shown = list(messages)
    if not shown:
        return {}
    parents = {message.parent_id for message in shown if message.parent_id}
    # By their parents, whose index leads to these few however long the conversation is.
    siblings: ColumnElement[bool] = Message.parent_id.in_(parents)
    if any(message.parent_id is None for message in shown):
        thread_id = shown[0].thread_id
        siblings |= and_(Message.thread_id == thread_id, Message.parent_id.is_(None))
    rows = session.execute(
        select(func.array_agg(Message.id).label("ids"))
        .where(siblings, *own(session, Message))
        .group_by(Message.parent_id)
        .having(func.count() > 1)
    ).scalars()
    found: dict[UUID, Place] = {}
    for ids in rows:
        ordered = sorted(ids)
        for at, id_ in enumerate(ordered):
            before = ordered[at - 1] if at else None
            after = ordered[at + 1] if at + 1 < len(ordered) else None
            found[id_] = Place(at + 1, len(ordered), before, after)
    return {message.id: found[message.id] for message in shown if message.id in found}


def newest_below(session: ScopedSession, message_id: UUID, steps: int | None = None) -> UUID:
    """The last message of the branch below this one, the newest way at each fork.

    With `steps`, the one that is so many messages below, or the last if that is nearer.
    """
    start = select(literal(message_id).label("id"), literal(0).label("depth"))
    step = start.cte("branch", recursive=True)
    child = (
        select(Message.id)
        .where(Message.parent_id == step.c.id, *own(session, Message))
        .order_by(Message.id.desc())
        .limit(1)
        .lateral()
    )
    further = select(child.c.id, step.c.depth + 1).select_from(step.join(child, true()))
    if steps is not None:
        further = further.where(step.c.depth < steps)
    step = step.union_all(further)
    last = select(step.c.id).order_by(step.c.depth.desc()).limit(1)
    found: UUID = session.scalars(last).one()
    return found
