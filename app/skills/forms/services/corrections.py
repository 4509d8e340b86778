"""What a page has otherwise than the submission that its form was handed in as.

Whoever goes back to a page after sending it and sends it once more may have corrected something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from app.db import ScopedSession
from app.fields.definitions import FILE_TYPES, FormField
from app.fields.display import display
from app.fields.form_data import TypedForm, mark_of, raw_of, read_seen, read_shape, shape_of
from app.fields.validation import shown_fields
from app.fields.values import FieldContext, Problem, has_value, read_value
from app.files.uploads import tidy_name
from app.skills.forms.models import FormDraft, FormSubmission
from app.skills.forms.services.drafts import read_fields_of
from app.skills.forms.services.field_context import field_context


@dataclass(frozen=True)
class Correction:
    """A field as a page has it, and as it was filed, in words; without any where it is empty."""

    label: str
    typed: str
    filed: str


@dataclass(frozen=True)
class _Typed:
    """A field of a page: its raw value, what it is read as (None: it cannot be), in words."""

    raw: Any
    value: Any
    text: str
    is_same: bool


def list_corrections(
    session: ScopedSession,
    draft: FormDraft,
    submission: FormSubmission,
    form: TypedForm,
    chosen: Mapping[str, Sequence[str]],
    language: str,
) -> list[Correction]:
    """The fields that a page has otherwise than they were filed, in their order.

    `chosen` are the names of the files that came with the page, by field. What the page's own
    answers hide counts for nothing, as when it is handed in.
    """
    fields = [field for field in read_fields_of(session, draft) if has_value(field)]
    around, filed = field_context(session, language, draft.id), submission.values
    typed = {
        field.name: _files_on(field, form, chosen.get(field.name, ()), filed, around)
        if field.type in FILE_TYPES
        else _read_field(field, form, draft.typed.get(field.name), filed, around)
        for field in fields
        if read_seen(form.get(f"s-{field.name}"))
    }
    read = {name: filed.get(name) if each.is_same else each.value for name, each in typed.items()}
    values = {name: value for name, value in {**filed, **read}.items() if value is not None}
    return [
        Correction(
            field.label.text(language),
            typed[field.name].text,
            display(field, filed.get(field.name), language),
        )
        for field in shown_fields(fields, values)
        if field.name in typed and not typed[field.name].is_same
    ]


def _read_field(
    field: FormField, form: TypedForm, sent: Any, filed: Mapping[str, Any], around: FieldContext
) -> _Typed:
    """A field that holds no files; `sent` is the raw value that was handed in."""
    before = filed.get(field.name)
    shape = read_shape(field, form, shape_of(field, sent, before))
    raw = raw_of(field, shape)
    # What was taken then is so still, whatever day it is now and whoever is a contact.
    if raw == sent and before is not None:
        return _Typed(raw, before, "", is_same=True)
    try:
        value = read_value(field, raw, around)
    except Problem:
        return _Typed(raw, None, ", ".join(_texts(raw)), is_same=False)
    text = display(field, value, around.language)
    return _Typed(raw, value, text, is_same=value == before)


def _texts(raw: Any) -> Iterator[str]:
    """What was typed that cannot be read, piece by piece."""
    if isinstance(raw, Mapping):
        yield from (str(text) for name, text in raw.items() if name != "contact_id")
    elif isinstance(raw, list):
        yield from map(str, raw)
    else:
        yield str(raw)


def _files_on(
    field: FormField,
    form: TypedForm,
    chosen: Sequence[str],
    filed: Mapping[str, Any],
    around: FieldContext,
) -> _Typed:
    """A field that holds files: those that the page kept, and those that came with it once more.

    A file that comes a second time is known by its name alone: it was changed as it was stored.
    Of one that does not, nothing is said: going back to a page chooses no file again.
    """
    before = filed.get(field.name) or []
    known = {each["id"]: str(each["name"]) for each in before}
    names = list(chosen)
    for each in read_shape(field, form, None):
        found = None if each in known else around.find_file(each)
        names += [known[each]] if each in known else [found.name] if found else []
    seen = read_seen(form.get(f"s-{field.name}"))
    is_untouched = not names and seen is not None and mark_of([]) == seen.mark
    is_same = is_untouched or sorted(map(_stem, names)) == sorted(map(_stem, known.values()))
    return _Typed(names, names or None, ", ".join(names), is_same)


def _stem(name: str) -> str:
    """What a file is called, without the ending that depends on what it is stored as."""
    return PurePath(tidy_name(name, "image/jpeg")).stem
