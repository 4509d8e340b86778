"""Steps of a structured task: what a message means beside its words, kept with the message.

What a conversation is collecting is a function of its steps, on the branch that is shown, and
of nothing else. A person's message is one step at most, validated by the skill that knows it
before anything is stored; a reply has those that its tools have taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

from app.assistant.branches import ids_up
from app.assistant.models import AGENT, Message, Thread, own
from app.db import JsonObject, ScopedSession
from app.fields.typed import TypedForm

# How far up a branch steps are looked for, in messages.
LOOK_BACK = 1_000
LONGEST_STEP = 20_000
# The `type` of what a reply keeps: a list of steps, under `steps`.
TAKEN = "steps"
Step = Mapping[str, Any]


@dataclass(frozen=True)
class Posted:
    """A step that somebody has posted with a widget, as it came, and what it is posted to.

    `language` is that of the conversation; `steps` are those before it. A page without scripts
    sends the value of a field beside the step, as its `form`.
    """

    internal: Step
    thread: Thread
    language: str
    steps: Sequence[Step]
    form: TypedForm | None = None


@dataclass(frozen=True)
class ValidStep:
    """A step that can be stored, and what the chat shows of it."""

    internal: JsonObject
    content: str


# Validates a step that was posted. Raises InvalidInput or Conflict.
StepReader = Callable[[ScopedSession, Posted], ValidStep]


def load_steps(session: ScopedSession, thread_id: UUID, end: UUID | None) -> list[Step]:
    """The steps on the branch that ends in message `end`, oldest first, with their message."""
    taken = session.execute(
        select(Message.id, Message.internal_content).where(
            Message.thread_id == thread_id,
            Message.internal_content.is_not(None),
            Message.role != AGENT,
            *own(session, Message),
        )
    ).all()
    if not taken or end is None:
        return []
    # In the order of the branch: hosts whose clocks differ make ids that do not tell it.
    by_message = {row.id: row.internal_content for row in taken}
    return [
        {**step, "message_id": str(message_id)}
        for message_id in ids_up(session, end, LOOK_BACK)
        if message_id in by_message
        for step in _steps_in(by_message[message_id] or {})
    ]


def _steps_in(internal: JsonObject) -> Sequence[Step]:
    if internal.get("type") != TAKEN:
        return [internal]
    steps: Sequence[Step] = internal["steps"]
    return steps


def keep_steps(session: ScopedSession, reply_id: UUID, steps: Sequence[Step]) -> None:
    """Add steps to those that a reply has taken. Never commits."""
    its_row = (Message.id == reply_id, *own(session, Message))
    known = session.scalar(select(Message.internal_content).where(*its_row).with_for_update())
    before = [] if known is None else [*_steps_in(known)]
    kept = {"type": TAKEN, "steps": [*before, *map(dict, steps)]}
    session.execute(update(Message).where(*its_row).values(internal_content=kept))


def as_told(content: str, internal: Step | None) -> str:
    """A person's message as a model is given it: the step instead of the words for it."""
    return content if internal is None else json.dumps(dict(internal), ensure_ascii=False)
