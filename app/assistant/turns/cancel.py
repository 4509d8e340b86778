"""Ending turns before they are done: those that wait are over at once, a running one is told."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import ColumnElement, func, text, update

from app.assistant.models import Message, Turn, own
from app.assistant.turns import outcome
from app.db import ScopedSession

# Runners listen here for what they should do.
NOTIFY_CHANNEL = "comanda_turns"


def stop_turns(session: ScopedSession, thread_id: UUID, *which: ColumnElement[bool]) -> list[UUID]:
    """End the thread's unfinished turns, or those that are meant; the replies that are over.

    A turn that no runner has claimed yet is over at once; a running one is told through
    its runner, which keeps the text so far.
    """
    mine = (*unfinished(session, thread_id), *which)
    waiting = session.scalars(
        update(Turn)
        .where(*mine, Turn.status == "queued")
        .values(status="stopped", finished_at=func.clock_timestamp())
        .returning(Turn)
    ).all()
    for turn in waiting:
        _end_unclaimed(session, turn)
    running = session.scalars(
        update(Turn)
        .where(*mine, Turn.status == "running")
        .values(stop_requested=True)
        .returning(Turn.id)
    ).all()
    for turn_id in running:
        session.execute(
            text("SELECT pg_notify(:channel, :payload)"),
            {"channel": NOTIFY_CHANNEL, "payload": f"stop:{turn_id}"},
        )
    return [turn.reply_message_id for turn in waiting]


def unfinished(session: ScopedSession, thread_id: UUID) -> tuple[ColumnElement[bool], ...]:
    """What the turns of a thread have in common that are not over yet."""
    return (Turn.thread_id == thread_id, *own(session, Turn), Turn.finished_at.is_(None))


def _end_unclaimed(session: ScopedSession, turn: Turn) -> None:
    """Write the last state of a reply that nobody has begun."""
    language = session.scalar(
        update(Message)
        .where(Message.id == turn.reply_message_id, *own(session, Message))
        .values(status="stopped")
        .returning(Message.language)
    )
    outcome.record(session, turn, "stopped", language or "")
