"""What a type of request is made of, as it is stored: its fields, its questions, its words.

A type keeps them as JSON; the functions here are the only way in, so that whatever is stored
can be asked for, checked and drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from app.fields.definitions import FormField, Stored, Words, dump_fields, read_fields

STEPS = ("main", "details", "where", "contact", "files")
# What can be asked for in words; all others have a widget.
CONVERSATIONAL = ("text", "textarea", "number", "email", "checkbox")
WIDGETS = ("select", "radio", "address", "phone", "date", "file")
REQUEST_FIELD_TYPES = (*CONVERSATIONAL, *WIDGETS)
# The fields that every type has, as the first two of its Main step.
TITLE, PRIORITY = "title", "priority"
LONGEST_TITLE = 120
MOST_QUESTIONS = 20
QUESTIONS_ASKED = 3


class RequestField(Stored):
    """A field of a request: what is asked for, in which step, and the id of its values."""

    field_id: UUID
    step: Literal["main", "details", "where", "contact", "files"] = "details"
    field: FormField

    @property
    def is_conversational(self) -> bool:
        """Whether it is asked for in words."""
        return self.field.type in CONVERSATIONAL

    def is_unanswered(self, value: Any) -> bool:
        """Whether a value that was read says nothing; no is an answer where a box may stay open."""
        return value is None and (self.field.type != "checkbox" or self.field.required)


class Question(Stored):
    """What somebody who looks after such requests would ask; not where `unless` has a value."""

    ask: Words
    unless: str = Field("", max_length=40)


@dataclass(frozen=True)
class RequestForm:
    """A type as a conversation needs it; `version` is the one that its request began with."""

    type_id: UUID
    version: int
    name: Words
    path: tuple[Words, ...]
    fields: tuple[RequestField, ...]
    questions: tuple[Question, ...] = ()
    icon: str = "ticket"
    priority: str = "normal"
    is_guided: bool = False

    @property
    def form_fields(self) -> tuple[FormField, ...]:
        """The fields alone, as values are read with them."""
        return tuple(each.field for each in self.fields)

    def by_id(self, field_id: UUID) -> RequestField | None:
        """The field of that id, or None."""
        return next((each for each in self.fields if each.field_id == field_id), None)

    def by_name(self, name: str) -> RequestField | None:
        """The field of that name, or None."""
        return next((each for each in self.fields if each.field.name == name), None)


_QUESTIONS: TypeAdapter[tuple[Question, ...]] = TypeAdapter(tuple[Question, ...])


def read_request_fields(stored: Sequence[Mapping[str, Any]]) -> tuple[RequestField, ...]:
    """The fields of a type from their JSON: {field_id, step, and what the field itself stores}.

    Raises:
        ValueError: one of them is no field of a request, two share a name or an id, or a
            condition names a field that does not stand before it.
    """
    plain = [
        {name: value for name, value in each.items() if name not in ("field_id", "step")}
        for each in stored
    ]
    fields = read_fields(plain)
    found = tuple(
        RequestField(field_id=each["field_id"], step=each.get("step", "details"), field=field)
        for each, field in zip(stored, fields, strict=True)
    )
    if len({each.field_id for each in found}) < len(found):
        raise ValueError("two fields have the same id")
    for each in found:
        if each.field.type not in REQUEST_FIELD_TYPES:
            raise ValueError(f"a request has no fields of type {each.field.type}")
    return found


def dump_request_fields(fields: Sequence[RequestField]) -> list[dict[str, Any]]:
    """The fields as the JSON that `read_request_fields` takes."""
    plain = dump_fields([each.field for each in fields])
    return [
        {"field_id": str(each.field_id), "step": each.step, **stored}
        for each, stored in zip(fields, plain, strict=True)
    ]


def read_questions(stored: Sequence[Any]) -> tuple[Question, ...]:
    """The clarifying questions of a type from their JSON.

    Raises:
        ValueError: one of them is none.
    """
    return _QUESTIONS.validate_python(stored)


def main_fields(title_id: UUID, priority_id: UUID) -> list[dict[str, Any]]:
    """The two fields that every type begins with, as they are stored."""
    levels = {
        "low": ("Low", "Baja"),
        "normal": ("Normal", "Normal"),
        "high": ("High", "Alta"),
        "urgent": ("Urgent", "Urgente"),
    }
    return [
        {
            "field_id": str(title_id),
            "step": "main",
            "type": "text",
            "name": TITLE,
            "label": {"en": "What is it about?", "es": "¿De qué se trata?"},
            "help": {
                "en": "A few words, so that everybody sees at once what it is about.",
                "es": "En pocas palabras, para que todos vean de inmediato de qué se trata.",
            },
            "required": True,
            "max_length": LONGEST_TITLE,
        },
        {
            "field_id": str(priority_id),
            "step": "main",
            "type": "radio",
            "name": PRIORITY,
            "label": {"en": "Priority", "es": "Prioridad"},
            "help": {
                "en": "It decides how soon somebody must look at it.",
                "es": "Decide qué tan pronto alguien debe verlo.",
            },
            "required": True,
            "options": [
                {"value": value, "label": {"en": english, "es": spanish}}
                for value, (english, spanish) in levels.items()
            ],
        },
    ]
