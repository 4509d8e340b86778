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

from sqlalchemy import func, null, select, update

from app.assistant.models import AGENT, Message, Proposal, Thread, own
from app.assistant.threads.branches import ids_up
from app.db import JsonObject, ScopedSession
from app.fields.form_data import TypedForm

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


# The steps of a conversation up to somewhere in it, oldest first, each with its `message_id`.
StepLoader = Callable[[ScopedSession], Sequence[Step]]
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
        step
        for message_id in ids_up(session, end, LOOK_BACK)
        if message_id in by_message
        for step in _named(_steps_in(by_message[message_id] or {}), message_id)
    ]


def _steps_in(internal: JsonObject) -> Sequence[Step]:
    if internal.get("type") != TAKEN:
        return [internal]
    steps: Sequence[Step] = internal["steps"]
    return steps


class TurnSteps:
    """The steps of a conversation as the tools of one turn need them, one after the other.

    Those before its message are loaded once; after that they change only where a proposal of
    before is confirmed meanwhile, which is looked at each time. Those of the reply are read each
    time, as they are committed: what a tool has taken, and nothing of what was rolled back.
    """

    def __init__(self, question: Message, reply_id: UUID | None = None) -> None:
        self._question, self._reply_id = question, reply_id
        self._before: Sequence[Step] | None = None
        self._as_of: tuple[Any, ...] = ()

    def before(self, session: ScopedSession) -> Sequence[Step]:
        """The steps up to the message that is answered, without its own."""
        return self._load_before(session, self._look(session)[1:])

    def now(self, session: ScopedSession) -> Sequence[Step]:
        """All of them: those before, the message's own, and those that the reply has taken."""
        taken, *as_of = self._look(session)
        posted = self._question.internal_content
        return [
            *self._load_before(session, as_of),
            *([] if posted is None else _named([posted], self._question.id)),
            *([] if taken is None else _named(_steps_in(taken), self._reply_id)),
        ]

    def have_changed(self, session: ScopedSession) -> bool:
        """Whether a proposal was confirmed since a tool has read them.

        To be asked with the thread locked: what is taken then goes by what is so.
        """
        return self._before is not None and self._as_of != tuple(self._look(session)[1:])

    def _load_before(self, session: ScopedSession, as_of: Sequence[Any]) -> Sequence[Step]:
        if self._before is None or self._as_of != tuple(as_of):
            thread_id, end = self._question.thread_id, self._question.parent_id
            self._before, self._as_of = load_steps(session, thread_id, end), tuple(as_of)
        return self._before

    def _look(self, session: ScopedSession) -> Sequence[Any]:
        """What the reply keeps, and how many proposals are confirmed, and since when."""
        kept = select(Message.internal_content).where(
            Message.id == self._reply_id, *own(session, Message)
        )
        return session.execute(
            select(
                kept.scalar_subquery(), func.count(Proposal.id), func.max(Proposal.decided_at)
            ).where(
                Proposal.thread_id == self._question.thread_id,
                Proposal.state == "confirmed",
                *own(session, Proposal),
            )
        ).one()


def _named(steps: Sequence[Step], message_id: UUID | None) -> Sequence[Step]:
    return [{**step, "message_id": str(message_id)} for step in steps]


def load_taken(session: ScopedSession, reply_id: UUID) -> list[Step]:
    """The steps that a reply has taken so far; its row is locked."""
    its_row = (Message.id == reply_id, *own(session, Message))
    known = session.scalar(select(Message.internal_content).where(*its_row).with_for_update())
    return [] if known is None else [*_steps_in(known)]


def keep_steps(session: ScopedSession, reply_id: UUID, steps: Sequence[Step]) -> None:
    """Add steps to those that a reply has taken. Never commits."""
    kept = {"type": TAKEN, "steps": [*load_taken(session, reply_id), *map(dict, steps)]}
    its_row = (Message.id == reply_id, *own(session, Message))
    session.execute(update(Message).where(*its_row).values(internal_content=kept))


def forget_steps(session: ScopedSession, reply_id: UUID) -> None:
    """Let a reply have taken no steps. Never commits."""
    its_row = (Message.id == reply_id, *own(session, Message))
    session.execute(update(Message).where(*its_row).values(internal_content=null()))


def as_told(content: str, internal: Step | None) -> str:
    """A person's message as a model is given it: the step instead of the words for it."""
    return content if internal is None else json.dumps(dict(internal), ensure_ascii=False)
