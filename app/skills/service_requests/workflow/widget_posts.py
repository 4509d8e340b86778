"""What widgets post, validated before it is stored; the server writes what the chat shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.threads.steps import Posted, Step, ValidStep
from app.db import ScopedSession, read_id
from app.errors import N_, Conflict, InvalidInput
from app.fields.form_data import TypedForm, raw_of, read_shape, shape_of
from app.fields.validation import shown_fields
from app.fields.values import Problem, clean, read_value
from app.skills.service_requests.services.definitions import RequestField
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.requests import ALREADY_FILED
from app.skills.service_requests.services.type_catalog import load_form
from app.skills.service_requests.texts import answered_all, answered_line
from app.skills.service_requests.workflow.reducer import LONGEST_ANSWER
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
    RequestState,
)
from app.skills.service_requests.workflow.state_loader import (
    filed_elsewhere,
    selection_of,
    state_of,
)

LONGEST_ERROR = 300
_FILE = re.compile(r"(?:.*/)?(?P<id>[0-9a-f-]{36})")
Reader = Callable[[ScopedSession, Posted, RequestState], ValidStep]


def _with_state(read: Reader) -> Callable[[ScopedSession, Posted], ValidStep]:
    """A reader of one kind of step, given what the conversation has come to."""

    def reader(session: ScopedSession, posted: Posted) -> ValidStep:
        around = field_context(session, posted.language)
        state = state_of(session, posted.steps, around)
        filed = filed_elsewhere(session, posted.thread.id, state)
        if filed is not None:
            raise Conflict(ALREADY_FILED, number=filed.reference)
        with force_locale(posted.language):
            return read(session, posted, state)

    return reader


def _answered() -> Conflict:
    return Conflict("This was answered already. Look below for what comes next.")


def _select_type(session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """type_selection {type_id}: it exists and can be submitted."""
    if isinstance(state, OpenRequest) or not state.is_choosing:
        raise _answered()
    type_id = read_id(str(posted.internal.get("type_id", "")))
    if type_id is None:
        raise InvalidInput("Choose a type from the list.", field="type_id")
    form = load_form(session, type_id)
    return ValidStep(selection_of(form), f"✓ {form.name.text(posted.language)}")


def _respond(session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """field_response {field_id, value}: a field of this form that is asked for just now."""
    state, field = _field_of(posted.internal, state)
    if state.awaited != field.field.name or not _is_of_now(posted, state):
        raise _answered()
    raw = posted.internal.get("value")
    if "value" not in posted.internal and posted.form is not None:
        raw = _raw_in(posted.form, field)
    value = _read(session, posted, field, raw)
    internal = {"type": "field_response", "field_id": str(field.field_id), "value": value}
    return ValidStep({**internal, "by": "widget"}, answered_line(field, value, posted.language))


def _respond_to_all(session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """fields_response {values} or {field_ids} with a form: what the card of several asks for.

    Taken as a whole or not at all; what may stay open and did is left out.
    """
    if isinstance(state, NoRequest) or not state.awaited or not _is_of_now(posted, state):
        raise _answered()
    answered = []
    for field, raw in _given(posted, state):
        if raw in (None, "", [], {}) and not field.field.required:
            continue
        try:
            answered.append((field, _read(session, posted, field, raw)))
        except InvalidInput as wrong:
            label, why = field.field.label.text(posted.language), _(wrong.message, **wrong.params)
            raise InvalidInput(
                N_("%(label)s: %(why)s"), field=wrong.field, label=label.strip("¿?"), why=why
            ) from None
    values = state.values | {field.field.name: value for field, value in answered}
    shown = {each.name for each in shown_fields(state.form.form_fields, values)}
    # One answer may mean that another question does not apply.
    answered = [(field, value) for field, value in answered if field.field.name in shown]
    if not answered:
        raise InvalidInput("Write an answer first.")
    internal = {str(field.field_id): value for field, value in answered}
    return ValidStep(
        {"type": "fields_response", "values": internal}, answered_all(answered, posted.language)
    )


def _given(posted: Posted, state: OpenRequest) -> list[tuple[RequestField, Any]]:
    """What was given for each field, in the order of the form."""
    values, ids, form = (
        posted.internal.get("values"), posted.internal.get("field_ids"), posted.form
    )  # fmt: skip
    if isinstance(values, Mapping):
        given = [(_field_of({"field_id": each}, state)[1], raw) for each, raw in values.items()]
    elif isinstance(ids, list) and form is not None:
        asked = (_field_of({"field_id": each}, state)[1] for each in ids)
        given = [(field, _raw_in(form, field)) for field in asked]
    else:
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    return sorted(given, key=lambda each: state.fields.index(each[0]))


def _raw_in(form: TypedForm, field: RequestField) -> Any:
    """What a page without scripts sends of a field."""
    raw = raw_of(field.field, read_shape(field.field, form, shape_of(field.field, None)))
    code = form.get(f"v-{field.field.name}-code") or ""
    if field.field.type == "phone" and raw and code:
        return {"country_code": code, "number": raw}
    return raw


def _read(session: ScopedSession, posted: Posted, field: RequestField, raw: Any) -> Any:
    """A value as it is stored.

    Raises:
        InvalidInput: it is none; names the field.
    """
    field_id = str(field.field_id)
    try:
        around = field_context(session, posted.language)
        value = read_value(field.field, as_raw(field, raw), around)
    except Problem as problem:
        raise InvalidInput(problem.message, field=field_id, **problem.params) from None
    if field.is_unanswered(value):
        raise InvalidInput("This is required.", field=field_id)
    return False if value is None else value


def as_raw(field: RequestField, raw: Any) -> Any:
    """A value as a widget gives it: a phone with its country's code, files by their addresses."""
    if field.field.type == "phone" and isinstance(raw, Mapping):
        code = re.sub(r"\D", "", str(raw.get("country_code", "")))
        number = str(raw.get("number", ""))
        return f"+{code} {number}" if code and not number.strip().startswith("+") else number
    if field.field.type == "file" and isinstance(raw, list):
        return [_file_id(each) for each in raw]
    return raw


def _file_id(each: Any) -> Any:
    """A file by its id, or by the end of its path."""
    if not isinstance(each, Mapping):
        return each
    if "id" in each:
        return str(each["id"])
    found = _FILE.fullmatch(str(each.get("path", "")))
    return found["id"] if found else str(each.get("path", "?"))


def _field_of(internal: Step, state: RequestState) -> tuple[OpenRequest, RequestField]:
    """The open request, and its field that a step is about.

    Raises:
        Conflict: no request is open any more.
        InvalidInput: the form has no such field, or does not show it.
    """
    if isinstance(state, NoRequest):
        raise _answered()
    field_id = read_id(str(internal.get("field_id", "")))
    found = state.form.by_id(field_id) if field_id else None
    if found is None or found not in state.fields:
        raise InvalidInput(
            "This field does not belong to this request. Reload the page and try again.",
            field=str(internal.get("field_id", ""))[:60],
        )
    return state, found


def _is_of_now(posted: Posted, state: OpenRequest) -> bool:
    """Whether a page that says which message drew its widget says the one that asked last.

    An old page's is of a request before, or of a question that has been asked anew since.
    """
    asked_by = posted.form.get("asked_by") if posted.form is not None else None
    return not asked_by or not state.asked_by or asked_by == state.asked_by


def _cancel_widget(_session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """widget_cancelled {field_id?}: without a field it closes the type selector."""
    if posted.internal.get("field_id") is None:
        if isinstance(state, OpenRequest) or not state.is_choosing:
            raise _answered()
        return ValidStep({"type": "widget_cancelled"}, "✕ " + _("Not now"))
    state, field = _field_of(posted.internal, state)
    if state.awaited != field.field.name or not _is_of_now(posted, state):
        raise _answered()
    internal = {"type": "widget_cancelled", "field_id": str(field.field_id)}
    label = field.field.label.text(posted.language)
    return ValidStep(internal, "✕ " + _("%(label)s: not now", label=label))


def _break_widget(_session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """widget_error {field_id, error}: it could not be drawn or used."""
    state, field = _field_of(posted.internal, state)
    is_asked = state.awaited == field.field.name and state.asked_by
    if not is_asked or not _is_of_now(posted, state):
        raise _answered()
    error = _text(posted.internal.get("error"), LONGEST_ERROR)
    internal = {"type": "widget_error", "field_id": str(field.field_id), "error": error}
    label = field.field.label.text(posted.language)
    return ValidStep(internal, "⚠ " + _("%(label)s cannot be shown here", label=label))


def _answer_question(_session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """question_answer {question, answer}: to the question that was asked last."""
    answer = _text(posted.internal.get("answer"), LONGEST_ANSWER)
    if isinstance(state, NoRequest) or not state.asked:
        raise _answered()
    if posted.internal.get("question") != state.asked:
        raise _answered()
    if not answer:
        raise InvalidInput("Write an answer first.", field="answer")
    internal = {"type": "question_answer", "question": state.asked, "answer": answer}
    return ValidStep(internal, answer)


def _text(raw: Any, longest: int) -> str:
    """Text without what no database keeps; nothing where it is no text."""
    return clean(raw)[:longest] if isinstance(raw, str) else ""


def _accept_resolution(_session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """resolution {user_accepted}: what was proposed and how surely, the server knows."""
    said = posted.internal.get("user_accepted")
    if isinstance(state, NoRequest) or state.resolution is None:
        raise _answered()
    if state.resolution.is_accepted is not None:
        raise _answered()
    if not isinstance(said, bool):
        raise InvalidInput("Say yes or no.", field="user_accepted")
    internal = {
        "type": "resolution",
        "user_accepted": said,
        "confidence_score": state.resolution.confidence,
        "proposed_answer": state.resolution.answer,
    }
    return ValidStep(internal, _("Yes, it did") if said else _("No, go on"))


def _cancel_request(_session: ScopedSession, posted: Posted, state: RequestState) -> ValidStep:
    """request_cancelled {begun_at?}: everything that was collected is forgotten.

    With `begun_at`, of the request that was begun then, and of no other.
    """
    if isinstance(state, NoRequest) and not state.is_choosing:
        raise _answered()
    meant = posted.internal.get("begun_at")
    if meant is not None and (isinstance(state, NoRequest) or state.begun_at != meant):
        raise _answered()
    return ValidStep({"type": "request_cancelled"}, _("Cancel the request"))


STEPS = {
    "type_selection": _with_state(_select_type),
    "field_response": _with_state(_respond),
    "fields_response": _with_state(_respond_to_all),
    "widget_cancelled": _with_state(_cancel_widget),
    "widget_error": _with_state(_break_widget),
    "question_answer": _with_state(_answer_question),
    "resolution": _with_state(_accept_resolution),
    "request_cancelled": _with_state(_cancel_request),
}
