"""How single turns went: timings for admins and for whose turn it is, words for the latter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from app.assistant.models import Message, Turn
from app.assistant.turns.outcome import TurnFacts
from app.db import ScopedSession
from app.errors import NotFound

PAGE_TURNS = 50
STATUSES = ("complete", "stopped", "interrupted", "failed")


@dataclass(frozen=True)
class Span:
    """A stretch of a turn, in milliseconds since it was asked; `tool` is empty but for tools."""

    kind: str  # queued, thinking, tool or writing
    start: int
    milliseconds: int
    tool: str = ""
    ok: bool = True


@dataclass(frozen=True)
class OwnWords:
    """What only the person themselves may see of a turn."""

    question: str
    answer: str
    language: str
    calls: list[Mapping[str, object]]


def list_turns(
    session: ScopedSession,
    *,
    person: UUID | None = None,
    provider: str = "",
    status: str = "",
    before: datetime | None = None,
) -> list[TurnFacts]:
    """The group's finished turns, the newest first, at most a page of them."""
    query = (
        select(TurnFacts)
        .where(TurnFacts.group_id == session.scope.group_id)
        .order_by(TurnFacts.at.desc())
        .limit(PAGE_TURNS)
    )
    if person:
        query = query.where(TurnFacts.user_id == person)
    if provider:
        query = query.where(TurnFacts.provider == provider)
    if status:
        query = query.where(TurnFacts.status == status)
    if before:
        query = query.where(TurnFacts.at < before)
    return list(session.scalars(query))


def load_turn(session: ScopedSession, turn_id: UUID) -> TurnFacts:
    """A turn of one's own; for an admin, any of the group.

    Raises:
        NotFound: there is none, or it is not theirs to see.
    """
    query = select(TurnFacts).where(
        TurnFacts.turn_id == turn_id, TurnFacts.group_id == session.scope.group_id
    )
    if session.scope.role != "admin":
        query = query.where(TurnFacts.user_id == session.scope.user_id)
    found = session.scalar(query)
    if found is None:
        raise NotFound("This message does not exist, or you don't have access to it.")
    return found


def own_words(session: ScopedSession, facts: TurnFacts) -> OwnWords | None:
    """What was asked and answered, if it was by the one who looks; nobody else's, ever."""
    if facts.user_id != session.scope.user_id:
        return None
    # Through the turn: a question that was answered again belongs to its first one.
    of_turn = Message.id.in_([Turn.user_message_id, Turn.reply_message_id])
    messages = session.scalars(
        select(Message)
        .join(Turn, of_turn)
        .where(
            Turn.id == facts.turn_id,
            Message.group_id == session.scope.group_id,
            Message.user_id == session.scope.user_id,
        )
    ).all()
    said = {message.role: message for message in messages}
    if not {"user", "assistant"} <= set(said):
        return None
    reply = said["assistant"]
    return OwnWords(said["user"].content, reply.content, reply.language, reply.tool_trace)


def timeline(facts: TurnFacts) -> list[Span]:
    """The stretches of a turn in the order they began; tools lie within the others."""
    spans = [Span("queued", 0, facts.queued_ms)]
    for tool in facts.tools:
        start = facts.queued_ms + tool.get("at", 0)
        spans.append(Span("tool", start, tool["ms"], tool["tool"], tool["ok"]))
    if facts.latency_ms is not None:
        thought = facts.latency_ms if facts.first_token_ms is None else facts.first_token_ms
        spans.append(Span("thinking", facts.queued_ms, thought))
        if facts.first_token_ms is not None:
            wrote = facts.latency_ms - facts.first_token_ms
            spans.append(Span("writing", facts.queued_ms + facts.first_token_ms, wrote))
    order = {"queued": 0, "thinking": 1, "tool": 2, "writing": 3}
    return sorted(spans, key=lambda span: (span.start, order[span.kind]))
