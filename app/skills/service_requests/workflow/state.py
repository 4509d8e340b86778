"""What a conversation has collected for a request: a pure function over its steps.

There is no draft anywhere: a step is the validated `internal_content` of a message, and what
they come to is read anew each time. So it survives reloads, restarts and a second device, and
any sequence of steps, valid or not, comes to a state that holds no value its field refuses.

The steps and what each does are in `reducer`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from app.fields.validation import shown_fields
from app.fields.values import Problem, Value
from app.skills.service_requests.services.definitions import (
    RequestField,
    RequestForm,
)


@dataclass(frozen=True)
class Told:
    """A value, and where it came from: a widget, the `words` that said it, or what is usual.

    What was `is_inferred` was not said for this field and is to be looked at; `before` is what
    it was corrected from, if it was.
    """

    value: Value
    by: Literal["said", "widget", "usual"] = "widget"
    words: str = ""
    is_inferred: bool = False
    before: Value | None = None


@dataclass(frozen=True)
class Resolution:
    """What the assistant proposed; `is_accepted` is None until its person says yes or no."""

    confidence: int
    answer: str
    is_accepted: bool | None = None


@dataclass(frozen=True)
class NoRequest:
    """No request is open; with `is_choosing` its type is being chosen, for what `query` says.

    `submitted` is the number of the request that was submitted last in this conversation.
    """

    is_open: ClassVar[bool] = False

    is_choosing: bool = False
    query: str = ""
    selector: str = ""
    submitted: str = ""


@dataclass(frozen=True)
class OpenRequest:
    """What is known of the request that a conversation is putting together.

    `query` is what it was begun with. Values are by field name. `awaited` is the field that was
    asked for last and `asked_by` the message that asked; `in_words` are fields whose widget does
    not work here, `declined` one that its person would not fill in. `problems` are of values that
    were taken once and cannot be any more. `another` is what one more request would be about that
    was asked for while this one is open; `submitted` as of `NoRequest`.
    """

    is_open: ClassVar[bool] = True

    form: RequestForm
    query: str = ""
    selector: str = ""
    begun_at: str = ""
    told: Mapping[str, Told] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)
    skipped: frozenset[str] = frozenset()
    in_words: frozenset[str] = frozenset()
    awaited: str = ""
    asked_by: str = ""
    declined: str = ""
    asked: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    has_ended_questions: bool = False
    is_evaluated: bool = False
    resolution: Resolution | None = None
    confidence: int | None = None
    has_offered_optional: bool = False
    another: str = ""
    submitted: str = ""

    @property
    def values(self) -> dict[str, Value]:
        """The values of the fields that are shown, by name; a box that was left open has none."""
        return values_of(self.told)

    @property
    def by_id(self) -> dict[str, Value]:
        """The values by field_id."""
        return {
            str(each.field_id): self.told[each.field.name].value
            for each in self.fields
            if each.field.name in self.told
        }

    @property
    def stored(self) -> dict[str, Value]:
        """The values by field_id as JSON keeps them, for holding against what was stored."""
        stored: dict[str, Value] = json.loads(json.dumps(self.by_id))
        return stored

    @property
    def fields(self) -> tuple[RequestField, ...]:
        """The fields whose conditions are met, in their order."""
        shown = {each.name for each in shown_fields(self.form.form_fields, self.values)}
        return tuple(each for each in self.form.fields if each.field.name in shown)

    @property
    def missing(self) -> tuple[RequestField, ...]:
        """The required fields that have no value yet."""
        return tuple(
            each for each in self.fields if each.field.required and each.field.name not in self.told
        )

    @property
    def optional(self) -> tuple[RequestField, ...]:
        """The other fields that have no value yet."""
        return tuple(
            each
            for each in self.fields
            if not each.field.required and each.field.name not in self.told
        )


RequestState = NoRequest | OpenRequest


def values_of(told: Mapping[str, Told]) -> dict[str, Value]:
    return {name: each.value for name, each in told.items() if each.value is not False}
