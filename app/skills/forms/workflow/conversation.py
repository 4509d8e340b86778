"""The conversation beside a form: its own thread, persona and tools, and nothing of the chat's."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from flask_babel import gettext as _
from sqlalchemy import select

from app.assistant.models import Prompt
from app.assistant.threads.threads import Accepted, accept_message
from app.assistant.tools.registry import Opening
from app.db import ScopedSession
from app.errors import Conflict, NotFound
from app.fields.definitions import (
    FormField,
    MultiSelectField,
    RadioField,
    SelectField,
)
from app.fields.values import has_value
from app.skills.forms.models import UPDATE_FORM, FormDraft, FormTemplate
from app.skills.forms.services.drafts import (
    Filling,
    load_draft_of_thread,
    read_filling,
    require_open,
)
from app.skills.forms.services.field_context import field_context
from app.web.links import Link

KIND = "forms"
# The row that introduces the assistant; switched off, no form has one.
PROMPT = "domain-forms"
# How a model writes a value of each type of field (fields.values says the same of what is stored).
TAKES = {
    "text": "a short text",
    "textarea": "a text",
    "number": "a number",
    "email": "an e-mail address",
    "phone": "a phone number",
    "date": "YYYY-MM-DD",
    "time": "HH:MM, 24 hours",
    "datetime": "YYYY-MM-DDTHH:MM",
    "select": "one of the options, by its key",
    "radio": "one of the options, by its key",
    "checkbox": "true or false",
    "multi_select": "a list of options, by their keys",
    "address": "an object of line1, line2, city, state, postal, country",
    "person": "a name",
    "file": "nothing: only the person can add files",
    "photo": "nothing: only the person can add photos",
    "signature": "nothing: only the person can sign",
}


def has_assistant(session: ScopedSession, template: FormTemplate) -> bool:
    """Whether somebody helps with this form: its group and its makers may say no."""
    row = select(Prompt.is_active).where(
        Prompt.group_id == session.scope.group_id, Prompt.slug == PROMPT
    )
    return template.has_assistant and session.scalar(row) is not False


def begin_conversation(session: ScopedSession, draft: FormDraft, language: str) -> Accepted:
    """Say to the form's assistant what was said in the chat; commits. Twice is once.

    Raises:
        LimitReached: the person's day or the group's month is used up.
    """
    return tell_assistant(session, draft, draft.context, language, f"handover-{draft.id.hex}")


def tell_assistant(
    session: ScopedSession,
    draft: FormDraft,
    words: str,
    language: str,
    message_key: str | None,
    instead_of: UUID | None = None,
    *,
    seen: str | None = None,
) -> Accepted:
    """Say something to the form's assistant, or say it instead of an earlier message; commits.

    `seen` is the last message up to which all was whole on the page, as `accept_message` takes it.

    Raises:
        InvalidInput: the message cannot be taken.
        Conflict: the form was handed in or thrown away.
        LimitReached: the person's day or the group's month is used up.
    """
    require_open(draft)
    return accept_message(
        session,
        thread_id=draft.thread_id,
        may_begin=True,
        message=words,
        message_key=message_key,
        language=language,
        instead_of=instead_of,
        seen=seen,
        kind=KIND,
    )


def page_of_conversation(session: ScopedSession, thread_id: UUID) -> Link:
    """The form that the conversation is beside."""
    return Link.to("forms.fill", draft_id=load_draft_of_thread(session, thread_id).id)


def open_conversation(
    session: ScopedSession, thread_id: UUID, _message: str, language: str
) -> Opening:
    """What the assistant beside a form knows of it, and the one tool that it has.

    Raises:
        LookupError: the form is gone.
    """
    try:
        draft = load_draft_of_thread(session, thread_id)
    except NotFound as error:
        raise LookupError("no form") from error
    filling = read_filling(session, draft, language)
    try:
        require_open(draft)
    except Conflict as closed:
        return _without_tools(_(closed.message))
    if not has_assistant(session, filling.template):
        return _without_tools(
            _("The assistant is switched off for this form. Fill in the fields yourself.")
        )
    return Opening((UPDATE_FORM,), _known_of(session, filling, language), listens=UPDATE_FORM)


def _without_tools(reason: str) -> Opening:
    """Nothing can be filled in: whoever answers says why."""
    return Opening((), (f"You have no tool here. Say only this: {reason}",), says=reason)


def _known_of(session: ScopedSession, filling: Filling, language: str) -> tuple[str, ...]:
    clock = field_context(session, language, filling.draft.id).here
    return (
        f"Form: {filling.form.title(language)}.",
        f"Now, where the restaurant is: {clock:%Y-%m-%dT%H:%M}, {clock.tzname()}.",
        "Fields, one a line, as JSON:",
        *(_described(each, filling, language) for each in filling.shown if has_value(each)),
    )


def _described(field: FormField, filling: Filling, language: str) -> str:
    """A field as a model is told of it: what it is, what it takes, what it holds."""
    facts: dict[str, Any] = {
        "name": field.name,
        "type": field.type,
        "label": field.label.text(language),
        "takes": TAKES[field.type],
    }
    if field.help:
        facts["help"] = field.help.text(language)
    if field.required:
        facts["required"] = True
    if isinstance(field, SelectField | RadioField | MultiSelectField):
        facts["options"] = {each.value: each.label.text(language) for each in field.options}
    if field.name in filling.checked.values:
        facts["now"] = filling.checked.values[field.name]
    return json.dumps(facts, ensure_ascii=False)
