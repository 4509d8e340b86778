"""Writing into a draft what its assistant has understood: each value checked, none invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.db import ScopedSession
from app.fields.definitions import (
    FILE_TYPES,
    FormField,
    MultiSelectField,
    RadioField,
    SelectField,
)
from app.fields.validation import shown_fields
from app.fields.values import (
    FieldContext,
    Problem,
    has_value,
    is_empty,
    read_value,
)
from app.skills.forms.models import FormDraft
from app.skills.forms.services.drafts import Change, Filling, change_fields, read_filling
from app.skills.forms.services.field_context import field_context
from app.text.normalize import fold


@dataclass(frozen=True)
class Update:
    """What somebody's words say of a field: a raw value, how sure that is, and the words."""

    name: str
    raw: Any
    confidence: float = 1.0
    words: str = ""


@dataclass(frozen=True)
class Updated:
    """What came of updates: which fields hold them now, and what kept others from it.

    `held` are fields that had these values already, from elsewhere; `unknown` are names that
    the form has no field for.
    """

    filling: Filling
    filled: list[Update] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    refused: dict[str, Problem] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def update_draft(
    session: ScopedSession,
    draft: FormDraft,
    updates: Sequence[Update],
    language: str,
    message: str = "",
) -> Updated:
    """Write the updates that can be taken into a draft that is held. Never commits.

    Twice is once: what a field holds already is left as it is. Where it has it from the same
    `message` it counts as filled all the same: a turn that is run again tells what the first
    run has done.

    Raises:
        Conflict: the form has been handed in meanwhile.
    """
    before = read_filling(session, draft, language)
    fields = {each.name: each for each in before.fields if has_value(each)}
    around = field_context(session, language, draft.id)
    refused: dict[str, Problem] = {}
    taken: dict[str, tuple[Update, Any]] = {}
    for update in updates:
        if update.name in fields:
            _take(fields[update.name], update, around, taken, refused)
    for name in taken.keys() - _asked_with(before, taken):
        del taken[name]
        refused[name] = Problem(
            "The form does not ask for this as it is filled in now. First fill in "
            "what it depends on."
        )
    changes = {name: _change(update, value, message) for name, (update, value) in taken.items()}
    changed = change_fields(session, draft, changes, language)
    filled = [update for update, value in taken.values() if _holds(draft, update, value, message)]
    return Updated(
        changed.filling,
        filled,
        sorted(taken.keys() - {update.name for update in filled}),
        refused,
        [update.name for update in updates if update.name not in fields],
    )


def _asked_with(before: Filling, taken: Mapping[str, tuple[Update, Any]]) -> set[str]:
    """The fields that are shown once these values are there: nobody would see the others."""
    said = {name: value for name, (_update, value) in taken.items()}
    values = {**before.checked.values, **said}
    there = {name: value for name, value in values.items() if value is not None}
    return {each.name for each in shown_fields(before.fields, there)}


def _holds(draft: FormDraft, update: Update, value: Any, message: str) -> bool:
    """Whether the field has this value, and from this message."""
    is_from = update.name in said_in(draft, message)
    return is_from and bool(draft.typed.get(update.name) == value)


def said_in(draft: FormDraft, message: str) -> set[str]:
    """The fields that hold what was said in this message."""
    return {
        name
        for name, origin in draft.origins.items()
        if origin["by"] == "said" and origin.get("message", "") == message
    }


def _take(
    field_: FormField,
    update: Update,
    around: FieldContext,
    taken: dict[str, tuple[Update, Any]],
    refused: dict[str, Problem],
) -> None:
    if field_.type in FILE_TYPES:
        # Words are no file; what was added or signed stays as it is.
        refused[field_.name] = Problem("Only you can add this. Use the field itself.")
        return
    try:
        taken[field_.name] = (update, read_value(field_, _by_label(field_, update.raw), around))
    except Problem as problem:
        refused[field_.name] = problem


def _by_label(field_: FormField, raw: Any) -> Any:
    """Options that are named by their labels, in either language, as their values."""
    if not isinstance(field_, SelectField | RadioField | MultiSelectField):
        return raw
    labels = {
        fold(label): option.value
        for option in field_.options
        for label in (option.label.en, option.label.es)
        if label
    }

    def value_of(named: Any) -> Any:
        if not isinstance(named, str) or field_.option(named):
            return named
        return labels.get(fold(named.strip()), named)

    return [value_of(each) for each in raw] if isinstance(raw, list) else value_of(raw)


def _change(update: Update, value: Any, message: str) -> Change:
    return Change(
        value,
        by="said",
        words=update.words,
        confidence=update.confidence,
        message=message,
    )


def updates_of(
    values: Mapping[str, Any], confidence: Mapping[str, float], words: str
) -> list[Update]:
    """What a model has said of fields, as updates; how sure it is counts from 0 to 1.

    Some models name every field and leave empty what was not said: that takes nothing away.
    """
    return [
        Update(name, value, min(max(confidence.get(name, 1.0), 0.0), 1.0), words)
        for name, value in values.items()
        if not is_empty(value)
    ]
