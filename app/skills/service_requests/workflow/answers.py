"""Taking values into a request: each checked by its field's own rules before it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.fields.values import FieldContext, Problem, read_value
from app.skills.service_requests.services.definitions import RequestField
from app.skills.service_requests.texts import shown
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
    RequestState,
)
from app.text.normalize import fold, words

# Of the words of a value, this share must have been said for it to be their person's own.
SAID_SHARE = 0.5


@dataclass
class Recording:
    """The steps that were taken, what they changed, and what was refused and why."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    changes: list[tuple[RequestField, Any, Any]] = field(default_factory=list)
    refused: dict[str, tuple[RequestField, Problem]] = field(default_factory=dict)
    held: list[RequestField] = field(default_factory=list)

    def take(
        self,
        state: OpenRequest,
        about: RequestField,
        raw: Any,
        around: FieldContext,
        *,
        words: str = "",
        is_inferred: bool = False,
    ) -> None:
        """Check one value; what it may not be is refused, what it is already is held."""
        name = about.field.name
        try:
            value = read_value(about.field, raw, around)
            if about.is_unanswered(value):
                raise Problem("This is required.")
        except Problem as problem:
            self.refused[name] = (about, problem)
            return
        told = state.told.get(name)
        after = False if value is None else value
        is_own = told is not None and not told.is_inferred and told.by != "usual"
        if told is not None and is_own and told.value == after:
            self.held.append(about)
            return
        step = {"type": "field_response", "field_id": str(about.field_id), "value": after}
        step |= {"by": "said", "words": words[:500]}
        self.steps.append({**step, **({"is_inferred": True} if is_inferred else {})})
        is_change = told is not None and told.by != "usual" and told.value != after
        before = told.value if told is not None and is_change else None
        self.changes.append((about, before, after))

    def leave_out_hidden(self, after: RequestState) -> None:
        """Tell nothing of values that the request does not hold: of fields that it does not show.

        One answer may hide the field of another, and a model may name one that is not shown.
        """
        held = {} if isinstance(after, NoRequest) else after.told
        self.changes = [change for change in self.changes if change[0].field.name in held]


def cleared_between(
    before: RequestState, after: RequestState, changed: Sequence[RequestField]
) -> list[RequestField]:
    """The fields that have lost their value because another branch was taken."""
    if isinstance(before, NoRequest) or isinstance(after, NoRequest):
        return []
    names = {each.field.name for each in changed}
    return [
        each
        for each in before.form.fields
        if each.field.name in before.told
        and each.field.name not in after.told
        and each.field.name not in names
    ]


def was_said(about: RequestField, value: Any, said: Sequence[str]) -> bool:
    """Whether what a model gives stands in what its person said, in any of their messages."""
    try:
        given = " ".join(shown(about, value, language) for language in ("en", "es"))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        # It is no value of this field as it stands: what is wrong with it, its field says.
        given = ""
    given += f" {value if isinstance(value, str) else ''}"
    wanted = {word for word in words(given) if len(word) > 1 or word.isdecimal()}
    heard = {word for text in said for word in words(text)}
    if not wanted:
        return False
    if about.field.type in ("text", "textarea"):
        return len(wanted & heard) >= SAID_SHARE * len(wanted)
    return bool(wanted & heard) or any(fold(str(value)) in fold(text) for text in said)


def read_by_id(state: OpenRequest, values: Mapping[str, Any]) -> list[tuple[RequestField, Any]]:
    """The fields that values are for, in the order of the form.

    Raises:
        LookupError: one is none of this form's; its argument is the id.
    """
    known = {str(each.field_id): each for each in state.form.fields}
    unknown = [field_id for field_id in values if field_id not in known]
    if unknown:
        raise LookupError(unknown[0])
    return [(each, values[field_id]) for field_id, each in known.items() if field_id in values]
