"""The one tool of the form's assistant: it fills fields, and never hands anything in."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

from flask_babel import gettext as _
from pydantic import Field

from app.assistant.tools.parts import Suggestion
from app.assistant.tools.tool import Arguments, ReadTool, ToolContext, ToolFailure, ToolResult
from app.db import ScopedSession
from app.fields.definitions import MOST_FIELDS, FormField
from app.fields.display import display
from app.fields.extraction import Found, extract, left_alone
from app.skills.forms.models import UPDATE_FORM, FormDraft
from app.skills.forms.parts import FilledField, FormUpdatesPart, RefusedField
from app.skills.forms.services.draft_updates import (
    Update,
    Updated,
    said_in,
    update_draft,
    updates_of,
)
from app.skills.forms.services.drafts import load_draft_of_thread, read_filling
from app.skills.forms.services.field_context import field_context
from app.skills.forms.services.handover import own_words
from app.skills.forms.workflow.conversation import KIND, PROMPT
from app.text.plain_text import was_written

MOST_ASKED_FOR = 3


class FormUpdates(Arguments):
    words: str = Field("", max_length=4000, description="What the person said, word by word.")
    fieldUpdates: dict[str, Any] | None = Field(  # noqa: N815 - the contract spells it so
        None,
        max_length=MOST_FIELDS,
        description="Values by field name, in the form that the field asks for. Only what was"
        " said; never guess, never fill what was not named.",
    )
    confidence: dict[str, float] | None = Field(
        None,
        max_length=MOST_FIELDS,
        description="How sure each value is, from 0 to 1, by field name.",
    )


class UpdateForm(ReadTool):
    """Fills fields of the draft that its conversation is about.

    It changes nothing but that draft, which its person sees, corrects, and hands in or not:
    so it needs no confirmation, and every change can be undone on the page.
    """

    name = UPDATE_FORM
    prompt_slug = PROMPT
    description = (
        "Fill in or correct fields of the form with what the person said. Relative days and"
        " times become dates of the restaurant's calendar. Call it once with everything that was"
        " said."
    )
    arguments = FormUpdates
    activity = MappingProxyType({"en": "Filling in the form…", "es": "Llenando el formulario…"})
    examples = MappingProxyType(
        {
            "en": (
                "John cut his hand on the slicer at 3pm",
                "Actually it was his left hand",
                "The walk-in was at 45 degrees this morning",
                "It happened yesterday in the kitchen",
                "The guest's phone is 210 555 0123",
            ),
            "es": (
                "Juan se cortó la mano con el cuchillo a las 3",
                "En realidad fue la izquierda",
                "La cámara fría estaba a 7 grados esta mañana",
                "Pasó ayer en la cocina",
                "El teléfono del cliente es 210 555 0123",
            ),
        }
    )
    conversation = KIND
    makes_true = ("noted", "added")

    def run(self, arguments: FormUpdates, context: ToolContext) -> ToolResult:
        """Fill what can be filled; where only words are given, what they say is read here."""
        if context.thread_id is None:
            raise ToolFailure("There is no form here.", recoverable=False)
        message = str(context.message_id or "")
        with context.transaction() as session:
            draft = load_draft_of_thread(session, context.thread_id, lock=True)
            updates, others = _read_updates(session, draft, arguments, context.language, message)
            updated = update_draft(session, draft, updates, context.language, message)
            part = _part(updated, context.language)
        reply = None
        if arguments.fieldUpdates is None:
            left = _values_left(updated, others, context.language)
            reply = _reply(updated, part, left)
        return ToolResult(
            _payload(updated, part),
            [part],
            _choices(updated, context.language),
            reply,
            has_taken=bool(updated.filled or updated.held),
        )


def _read_updates(
    session: ScopedSession, draft: FormDraft, arguments: FormUpdates, language: str, message: str
) -> tuple[list[Update], list[Found]]:
    """What is to be filled in, as a model says, or as the words say; and what they say otherwise
    than the form holds it, which stays as it is.
    """
    # What the page puts between quotation marks is the person's, and not a model's of them.
    said = own_words(session, UUID(message)) if message else ""
    is_quoted = was_written(arguments.words, [said])
    if arguments.fieldUpdates is not None:
        words = arguments.words if is_quoted else ""
        return updates_of(arguments.fieldUpdates, arguments.confidence or {}, words), []
    read = arguments.words if is_quoted else said
    filling = read_filling(session, draft, language)
    # What an earlier run of the same turn has read, this one is to read, too.
    known = {
        name: value
        for name, value in filling.checked.values.items()
        if name not in said_in(draft, message)
    }
    around = field_context(session, language, draft.id)
    found = extract(filling.fields, read, around, known)
    others = left_alone(filling.fields, read, around, known, found)
    return [Update(each.name, each.raw, each.confidence, each.words) for each in found], others


def _values_left(updated: Updated, others: Sequence[Found], language: str) -> list[str]:
    """The fields that stay as they were, with what they hold: "Table number: 12"."""
    fields = {each.name: each for each in updated.filling.fields}
    changed = {each.name for each in updated.filled} | updated.refused.keys()
    values = updated.filling.checked.values
    return [
        f"{fields[each.name].label.text(language)}"
        f": {display(fields[each.name], values.get(each.name), language)}"
        for each in others
        if each.name not in changed
    ]


def _part(updated: Updated, language: str) -> FormUpdatesPart:
    filling = updated.filling
    fields = {each.name: each for each in filling.fields}
    return FormUpdatesPart(
        draft_id=filling.draft.id,
        filled=[
            FilledField(
                name=update.name,
                label=fields[update.name].label.text(language),
                value=display(
                    fields[update.name], filling.checked.values.get(update.name), language
                ),
                confidence=update.confidence,
            )
            for update in updated.filled
        ],
        refused=[
            RefusedField(
                name=name,
                label=fields[name].label.text(language),
                reason=_(problem.message, **problem.params),
            )
            for name, problem in updated.refused.items()
        ],
        missing=[fields[name].label.text(language) for name in filling.missing],
    )


def _payload(updated: Updated, part: FormUpdatesPart) -> dict[str, Any]:
    """What a model is told: it answers from this alone."""
    payload: dict[str, Any] = {
        "filled": [{"label": f.label, "value": f.value} for f in part.filled],
        "refused": [
            {
                "label": refused.label,
                "reason": refused.reason,
                "choices": [label for _, label in updated.refused[refused.name].choices][:20],
            }
            for refused in part.refused
        ],
        "missing": part.missing,
    }
    if updated.held:
        payload["held_already"] = updated.held
    if updated.unknown:
        payload["unknown_fields"] = updated.unknown[:20]
    return payload


def _choices(updated: Updated, language: str) -> list[Suggestion]:
    """Chips for the first question that has few answers: which of two people, which option."""
    fields: dict[str, FormField] = {each.name: each for each in updated.filling.fields}
    for name, problem in updated.refused.items():
        label = fields[name].label.text(language)
        if 0 < len(problem.choices) <= 6:
            return [
                Suggestion(label=choice, message=f"{label}: {choice}")
                for _, choice in problem.choices
            ]
    return []


def _reply(updated: Updated, part: FormUpdatesPart, left: Sequence[str]) -> str:
    """The words of the built-in assistant: what it did, what it could not do, what is next."""
    lines = []
    if part.filled:
        lines.append(_("I filled in what you said. Check it before you send the form."))
        doubtful = [f.label for f in part.filled if f.is_doubtful]
        if doubtful:
            lines.append(_("Please check: %(fields)s.", fields=", ".join(doubtful)))
    elif updated.held:
        lines.append(_("The form already says that."))
    elif not part.refused and not left:
        lines.append(_("I found nothing for this form in what you said."))
    if left:
        lines.append(
            _(
                "I left these as they were. %(fields)s. To change one, begin with “change” and its"
                " name.",
                fields="; ".join(left),
            )
        )
    lines += [f"{refused.label}: {refused.reason}" for refused in part.refused]
    if part.missing:
        asked = ", ".join(part.missing[:MOST_ASKED_FOR])
        lines.append(_("Still needed: %(fields)s.", fields=asked))
    elif part.filled:
        lines.append(_("The form has everything it needs."))
    return "\n\n".join(lines)
