"""From a sentence in English or Spanish to a form's values, without a model.

It works from the fields alone: their types, labels, units and options. What was not said is
left empty, and so is what may be meant one way or another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from app.fields.definitions import FormField
from app.fields.extraction.answers import fill_answers
from app.fields.extraction.extract import Found, Reading, content_stems
from app.fields.extraction.lexicon import either
from app.fields.extraction.moments import fill_moments
from app.fields.extraction.numbers import fill_numbers
from app.fields.extraction.options import fill_boxes, fill_options
from app.fields.extraction.people import fill_people
from app.fields.extraction.sentence import Sentence
from app.fields.extraction.texts import (
    account_of,
    fill_account,
    fill_codes,
    fill_details,
    fill_machines,
    fill_names,
)
from app.fields.validation import check_values, shown_fields
from app.fields.values import FieldContext
from app.text.normalize import fold

__all__ = ["Found", "extract", "left_alone"]

# Each takes the words that it has understood away from those after it.
_STEPS = (
    fill_answers, fill_details, fill_names, fill_codes, fill_moments, fill_numbers, fill_people,
    fill_options, fill_boxes, fill_machines, fill_account,
)  # fmt: skip
# Values that a sentence says plainly or not at all.
_PLAIN_TYPES = ("phone", "email", "number", "date", "time", "datetime")
_CORRECTION = re.compile(
    rf"^\W*(?:{either('corrections', 'begin')})\b"
    rf"|\b(?:{either('corrections', 'anywhere')})\b"
    r"|,\s*(?:not|y no|no)\s+\S+\W*$"
)


def extract(
    fields: Sequence[FormField],
    text: str,
    around: FieldContext,
    known: Mapping[str, Any] | None = None,
) -> list[Found]:
    """The values that a sentence says, in the order of the fields.

    `known` is what the form holds already, by field: a correction changes it ("actually it was
    his left hand"), and a plain value beside the words of its label ("the guest's phone is 210 555
    4444"); anything else fills what is empty. A person who may be several contacts is given by
    name, so that reading the value asks which one.
    """
    filled = _filled(known)
    named = _named(fields, text, filled)
    return _read(fields, text, around, filled, named)


def left_alone(
    fields: Sequence[FormField],
    text: str,
    around: FieldContext,
    known: Mapping[str, Any],
    changed: Sequence[Found],
) -> list[Found]:
    """What a sentence says otherwise than the form holds it, beside what it has `changed`."""
    filled = _filled(known)
    plain = {each.name for each in fields if each.type in _PLAIN_TYPES and each.name in filled}
    if not plain:
        return []
    taken = {each.words for each in changed}
    again = _read(fields, text, around, filled, plain)
    return [each for each in again if each.name in plain and each.words not in taken]


def _filled(known: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: raw for name, raw in (known or {}).items() if raw not in (None, "", [], {})}


def _named(fields: Sequence[FormField], text: str, filled: Mapping[str, Any]) -> frozenset[str]:
    """The filled fields of plain values of whose label a sentence has all words that say something.

    In one of the two languages; "when did it happen" is named by "it happened at 9".
    """
    said = frozenset(content_stems(text))
    return frozenset(
        field.name
        for field in fields
        if field.name in filled and field.type in _PLAIN_TYPES
        for label in (field.label.en, field.label.es)
        if (asked := set(content_stems(label or ""))) and asked <= said
    )


def _read(
    fields: Sequence[FormField],
    text: str,
    around: FieldContext,
    filled: Mapping[str, Any],
    named: Collection[str],
) -> list[Found]:
    said = Sentence.of(text)
    is_correction = bool(filled) and bool(_CORRECTION.search(said.folded))
    reading = Reading(fields, said, around, filled, is_correction, named)
    if account_of(said.folded) < len(said.folded.rstrip()):
        for step in _STEPS:
            step(reading)
    new = {name: each for name, each in reading.found.items() if _is_new(each, filled.get(name))}
    shown = _shown(fields, {**filled, **{n: each.raw for n, each in new.items()}}, around)
    return [new[field.name] for field in fields if field.name in new and field.name in shown]


def _is_new(found: Found, before: Any) -> bool:
    return _plain(found.raw) != _plain(before)


def _plain(raw: Any) -> str:
    """A raw value as another one is compared with it: a person by name, a list in any order."""
    if isinstance(raw, Mapping):
        return fold(str(raw.get("name") or sorted(raw.items())))
    if isinstance(raw, (list, tuple)):
        return str(sorted(map(str, raw)))
    return fold(str(raw))


def _shown(
    fields: Sequence[FormField], raw: Mapping[str, Any], around: FieldContext
) -> frozenset[str]:
    """The names of the fields that are there once these values are filled in."""
    values = check_values(fields, raw, around).values
    return frozenset(field.name for field in shown_fields(fields, values))
