"""Asking from outside the chat page: the same message, the same turn, the whole reply."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, Literal
from uuid import UUID

import structlog
from pydantic import BaseModel, ConfigDict, Field
from redis import RedisError

from app.assistant.models import Message
from app.assistant.prompts.system_prompt import check_action
from app.assistant.proposals.decisions import CHANGED
from app.assistant.threads.threads import Accepted, load_message
from app.assistant.tools.registry import Registry
from app.assistant.turns.envelope import FINISHED
from app.assistant.turns.events import Event, EventLog, Subscription
from app.db import Database, Scope, ScopedSession
from app.errors import InvalidInput, Unavailable
from app.observability.request_log import request_id

log = structlog.get_logger(__name__)


class AskRequest(BaseModel):
    """The body of POST /api/ask. `question` is another name for `message`."""

    model_config = ConfigDict(extra="forbid")

    message: str | None = None
    question: str | None = None
    language: Literal["en", "es"] | None = None
    domain: str | None = None
    action: str | None = Field(None, max_length=64)
    sessionId: UUID | None = None  # noqa: N815 - the contract spells it so
    message_key: str | None = None

    @property
    def words(self) -> str:
        return self.message if self.message is not None else self.question or ""


def turn_request(
    session: ScopedSession, registry: Registry, domain: str | None, action: str | None
) -> dict[str, Any]:
    """The domain and action of a turn, checked, and the request that it comes from.

    Raises:
        InvalidInput: an unknown domain or action (422), naming the field.
    """
    chosen = domain or "manual"
    if chosen not in registry.domains:
        known = ", ".join(registry.domains)
        raise InvalidInput("The domain must be one of: %(known)s.", field="domain", known=known)
    if action:
        check_action(session, chosen, action)
    # The runner's log names the request that a turn comes from.
    facts = {"domain": chosen, "action": action, "request_id": request_id()}
    return {name: fact for name, fact in facts.items() if fact}


def announce(events: EventLog, accepted: Accepted) -> None:
    """Tell the person's other devices what was asked and that an answer is coming."""
    if accepted.repeated:
        return
    question, reply = accepted.message, accepted.reply
    asked = {"message_id": str(question.id), "role": "user", "message_key": question.message_key}
    coming = {"message_id": str(reply.id), "role": "assistant", "status": "queued"}
    try:
        events.publish(question.thread_id, "message", asked)
        events.publish(question.thread_id, "message", coming)
        if question.internal_content is not None:
            # A widget was answered: it is closed wherever else it is open.
            events.publish(question.thread_id, CHANGED, {"by": str(question.id)})
    except RedisError as error:
        # The message is stored and will be answered; other devices see it when they reload.
        log.warning("message not announced", error=type(error).__name__)


def _is_end_of(reply: Message, event: Event) -> bool:
    about_it = event.payload.get("message_id") == str(reply.id)
    return about_it and event.type in ("done", "error")


def wait_for_reply(
    database: Database, events: EventLog, scope: Scope, reply: Message, seconds: float
) -> Message:
    """Wait until the reply is finished, and return it as it is stored.

    Raises:
        Unavailable: it took longer than `seconds`; the turn goes on and can be read later.
    """
    deadline = time.monotonic() + seconds
    for event in chain([None], _coming(events, reply)):
        # Events only say when to look: what counts is the row.
        if event is None or _is_end_of(reply, event):
            with database.transaction(scope) as session:
                current = load_message(session, reply.thread_id, reply.id)
            if current.status in FINISHED:
                return current
        if time.monotonic() > deadline:
            break
    raise Unavailable("The answer is taking longer than usual. It will be in this chat soon.")


def _coming(events: EventLog, reply: Message) -> Iterator[Event | None]:
    """What happens in the reply's conversation from now on; None whenever it is time to look."""
    tip = ""
    with suppress(RedisError):
        # Nothing of what a long conversation has said already is told again.
        tip = events.tip(reply.thread_id)
    return Subscription(events, reply.thread_id, tip).events(heartbeat_seconds=1.0)
