"""What has become of the selectors and widgets that were shown: answered, or not open any more.

Nothing is stored of it: a widget is open as long as its field is awaited and its message was
the one that asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from app.assistant.models import Message, Thread
from app.assistant.threads.steps import Step, load_steps
from app.assistant.tools.parts import Part
from app.db import ScopedSession
from app.errors import ComandaError
from app.skills.service_requests.parts import (
    FieldWidgetPart,
    RequestFieldsPart,
    TypeSelectorPart,
)
from app.skills.service_requests.services.definitions import RequestField
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.type_catalog import load_type
from app.skills.service_requests.texts import shown
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
    RequestState,
)
from app.skills.service_requests.workflow.state_loader import state_of
from app.text.bilingual import reader_language


def refresh_parts(
    session: ScopedSession, messages: Sequence[Message]
) -> Mapping[tuple[UUID, int], Part]:
    """The selectors and widgets of these messages as they are now, by message and place."""
    asked = [
        (message, place, part)
        for message in messages
        for place, part in enumerate(message.parts)
        if part.get("type") in _DRAWN
    ]
    if not asked:
        return {}
    thread = session.get(Thread, asked[0][0].thread_id)
    steps = load_steps(session, thread.id, thread.head_id) if thread else []
    state = state_of(session, steps, field_context(session, "en"))
    found: dict[tuple[UUID, int], Part] = {}
    for message, place, part in asked:
        after = _since(steps, str(message.id))
        draw = _DRAWN[part["type"]]
        found[message.id, place] = draw(session, part, message, after, state)
    return found


def _since(steps: Sequence[Step], message_id: str) -> Sequence[Step]:
    """The steps from those of a message on; none where it has taken none on this branch."""
    first = next((n for n, step in enumerate(steps) if step["message_id"] == message_id), None)
    return steps[first:] if first is not None else ()


def _selector(
    session: ScopedSession,
    part: Mapping[str, object],
    message: Message,
    after: Sequence[Step],
    state: RequestState,
) -> Part:
    drawn = TypeSelectorPart.model_validate(part)
    is_choosing = isinstance(state, NoRequest) and state.is_choosing
    if is_choosing and state.selector == str(message.id):
        return drawn
    chosen = next((step for step in after if _ends_selector(step, message)), None)
    if chosen is None or chosen["type"] != "type_selection":
        return drawn.model_copy(update={"state": "closed"})
    try:
        name = load_type(session, UUID(chosen["type_id"])).name(reader_language())
    except (ComandaError, ValueError):
        name = ""
    return drawn.model_copy(update={"state": "answered", "answer": name})


def _widget(
    session: ScopedSession,
    part: Mapping[str, object],
    message: Message,
    after: Sequence[Step],
    state: RequestState,
) -> Part:
    drawn = FieldWidgetPart.model_validate(part)
    if isinstance(state, OpenRequest):
        field = state.form.by_id(drawn.field_id)
        if field and state.awaited == field.field.name and state.asked_by == str(message.id):
            return drawn
    given = next((step for step in after if _ends_widget(step, drawn, message)), None)
    if given is None or given["type"] != "field_response":
        return drawn.model_copy(update={"state": "closed"})
    answer = _line_for(drawn, given.get("value"), reader_language())
    return drawn.model_copy(update={"state": "answered", "answer": answer})


def _card(
    session: ScopedSession,
    part: Mapping[str, object],
    message: Message,
    after: Sequence[Step],
    state: RequestState,
) -> Part:
    drawn = RequestFieldsPart.model_validate(part)
    if isinstance(state, OpenRequest) and state.asked_by == str(message.id):
        return drawn
    given = next((step for step in after if _ends_card(step, message)), None)
    if given is None or given["type"] != "fields_response":
        return drawn.model_copy(update={"state": "closed"})
    values, language = given["values"], reader_language()
    lines = [
        _line_for(each, values[str(each.field_id)], language)
        for each in (*drawn.missing, *drawn.others)
        if str(each.field_id) in values
    ]
    return drawn.model_copy(update={"state": "answered", "answer": "; ".join(filter(None, lines))})


_DRAWN = {"type_selector": _selector, "field_widget": _widget, "request_fields": _card}


def _ends_card(step: Step, message: Message) -> bool:
    """Whether it was answered then, by itself or in words, or left, or asked anew further down."""
    ends = ("fields_response", "field_response", "widget_cancelled", "widget_error")
    return (
        step.get("type") in (*ends, "request_cancelled", "request_submitted", "type_reopened")
        or _is_asked_anew(step, message, "field_asked")
    )  # fmt: skip


def _ends_selector(step: Step, message: Message) -> bool:
    """Whether a type was chosen then, or choosing ended, or began anew further down."""
    ends = ("type_selection", "widget_cancelled", "request_cancelled")
    return step.get("type") in ends or _is_asked_anew(step, message, "type_offered")


def _ends_widget(step: Step, drawn: FieldWidgetPart, message: Message) -> bool:
    """Whether its field was answered then, or left, or asked for anew further down."""
    if step.get("type") in ("request_cancelled", "request_submitted"):
        return True
    if step.get("field_id") != str(drawn.field_id):
        return False
    ends = ("field_response", "widget_cancelled", "field_skipped")
    return step.get("type") in ends or _is_asked_anew(step, message, "field_asked")


def _is_asked_anew(step: Step, message: Message, kind: str) -> bool:
    return step.get("type") == kind and step["message_id"] != str(message.id)


def _line_for(part: FieldWidgetPart, value: Any, language: str) -> str:
    """Label and value; the label alone where the field cannot be read any more."""
    if part.field is None:
        return ""
    field = RequestField(field_id=part.field_id, field=part.field)
    label = field.field.label.text(language).rstrip("?").lstrip("¿")
    return f"{label}: {shown(field, value, language)}"
