"""The request that a conversation is about, read from its steps; nothing of it is cached."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from flask_babel import gettext as _
from sqlalchemy import select

from app.assistant.models import Thread, own
from app.assistant.threads.steps import Step, load_steps
from app.assistant.tools.tool import ToolContext, ToolFailure
from app.db import ScopedSession
from app.errors import ComandaError
from app.fields.values import FieldContext
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.services.definitions import RequestForm
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.requests import ALREADY_FILED, find_filed
from app.skills.service_requests.services.type_catalog import load_form
from app.skills.service_requests.workflow.reducer import BEGINS_OR_ENDS, read_state
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
    RequestState,
)
from app.web.fair_queue import with_rests


class FormFinder:
    """Looks types up in the session's group, each version once."""

    def __init__(self, session: ScopedSession) -> None:
        self._session = session
        self._known: dict[tuple[UUID, int], RequestForm | None] = {}

    def __call__(self, type_id: UUID, version: int) -> RequestForm | None:
        key = type_id, version
        if key not in self._known:
            try:
                self._known[key] = load_form(self._session, type_id, version)
            except ComandaError:
                self._known[key] = None
        return self._known[key]


def state_of(
    session: ScopedSession,
    steps: Sequence[Step],
    around: FieldContext,
    memo: dict[Any, Any] | None = None,
) -> RequestState:
    """What these steps come to; worked out once for each turn, whose `memo` this is."""
    if not any(step.get("type") == "type_offered" or "type_id" in step for step in steps):
        return NoRequest()
    if memo is None:
        return read_state(with_rests(steps), FormFinder(session), around)
    key = "service request", around.language, json.dumps(steps)
    if key not in memo:
        memo[key] = read_state(steps, FormFinder(session), around)
    state: RequestState = memo[key]
    return state


def load_begun(session: ScopedSession, thread_id: UUID, end: UUID | None) -> OpenRequest | None:
    """The request that a conversation is about, as it was begun; its answers are not read."""
    steps = load_steps(session, thread_id, end)
    marks = [step for step in steps if str(step.get("type")) in BEGINS_OR_ENDS]
    state = read_state(with_rests(marks), FormFinder(session), field_context(session, "en"))
    if isinstance(state, NoRequest) or filed_elsewhere(session, thread_id, state) is not None:
        return None
    return state


def load_state(
    session: ScopedSession, thread_id: UUID, end: UUID | None, language: str
) -> RequestState:
    """The request of a conversation, on the branch that ends in message `end`."""
    return _state_after(session, load_steps(session, thread_id, end), language)


def _state_after(
    session: ScopedSession,
    steps: Sequence[Step],
    language: str,
    memo: dict[Any, Any] | None = None,
) -> RequestState:
    if not steps:
        return NoRequest()
    return state_of(session, steps, field_context(session, language), memo)


def load_state_at_head(session: ScopedSession, thread_id: UUID, language: str) -> RequestState:
    """The request of a conversation as it is shown now."""
    mine = (Thread.id == thread_id, *own(session, Thread), Thread.deleted_at.is_(None))
    head_id = session.scalar(select(Thread.head_id).where(*mine))
    return load_state(session, thread_id, head_id, language)


def state_in(session: ScopedSession, context: ToolContext) -> RequestState:
    """The request of the conversation that a tool runs in, with what this reply has taken.

    One that was filed on another branch, behind words that were changed since, is not open.

    Raises:
        ToolFailure: nothing that is said here is kept.
    """
    if context.load_steps is None or context.take_steps is None:
        raise ToolFailure("There is no conversation here that could be kept.", recoverable=False)
    state = _state_after(session, context.load_steps(session), context.language, context.memo)
    filed = filed_elsewhere(session, context.thread_id, state)
    if filed is None or isinstance(state, NoRequest):
        return state
    step = {"type": "request_submitted", "number": filed.reference, "begun_at": state.begun_at}
    take(context, step)
    return NoRequest(submitted=filed.reference)


def filed_elsewhere(
    session: ScopedSession, thread_id: UUID | None, state: RequestState
) -> ServiceRequest | None:
    """What an open request was filed as on another branch of its conversation, if it was."""
    if isinstance(state, NoRequest) or thread_id is None:
        return None
    return find_filed(session, thread_id, UUID(state.begun_at))


def not_open(state: NoRequest) -> ToolFailure:
    """What a tool says that needs a request which is being put together."""
    if state.submitted:
        return ToolFailure(
            f"The request of this conversation is filed already as {state.submitted}.",
            suggestion="For anything new call suggest_service_request_type.",
            say=_(ALREADY_FILED, number=state.submitted),
            code="not_found",
        )
    return ToolFailure(
        "No request is open in this conversation.",
        suggestion="Call suggest_service_request_type first.",
        say=_("No request is open here. Tell me what is broken or needed."),
        code="not_found",
    )


def selection_of(form: RequestForm) -> dict[str, Any]:
    """The step that begins a request of a type, as it is now."""
    begun = {"type_id": str(form.type_id), "version": form.version}
    return {"type": "type_selection", **begun, "is_guided": form.is_guided}


def take(context: ToolContext, *steps: dict[str, Any]) -> None:
    """Keep steps with the reply that is being made."""
    if context.take_steps is not None and steps:
        context.take_steps(steps)
