"""A whole form's values: which fields are shown, what is missing, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.fields.definitions import Condition, FormField
from app.fields.values import (
    Checked,
    FieldContext,
    Problem,
    Value,
    has_value,
    read_value,
)


def shown_fields(fields: Sequence[FormField], values: Mapping[str, Value]) -> list[FormField]:
    """The fields whose conditions are met; a hidden field's value counts as none for others."""
    shown: list[FormField] = []
    visible: dict[str, Value] = {}
    for field in fields:
        if field.show_if is None or is_met(field.show_if, visible):
            shown.append(field)
            if field.name in values:
                visible[field.name] = values[field.name]
    return shown


def is_met(condition: Condition, values: Mapping[str, Value]) -> bool:
    """Whether the values satisfy a condition; a field that has no value is not any of them."""
    value = values.get(condition.field)
    if condition.test == "is_filled":
        return value is not None
    has_one = bool(_as_texts(value) & set(condition.values))
    return has_one if condition.test == "is" else not has_one


def _as_texts(value: Value) -> set[str]:
    """A value as conditions name it; a box that is not ticked is "false"."""
    if isinstance(value, list):
        return {str(each) for each in value}
    if isinstance(value, Mapping):
        return {str(value.get("name", ""))}
    return {"false" if value is None else "true" if value is True else str(value)}


def check_values(
    fields: Sequence[FormField], raw: Mapping[str, Any], around: FieldContext
) -> Checked:
    """Read every value that there is. What is missing is no problem yet (see `check_form`)."""
    checked = Checked()
    for field in fields:
        if field.name not in raw or not has_value(field):
            continue
        try:
            value = read_value(field, raw[field.name], around)
        except Problem as problem:
            checked.problems[field.name] = problem
        else:
            if value is not None:
                checked.values[field.name] = value
    return checked


def check_form(
    fields: Sequence[FormField], raw: Mapping[str, Any], around: FieldContext
) -> Checked:
    """Read the values for submitting: hidden fields are left out, required ones must be there."""
    read = check_values(fields, raw, around)
    shown = shown_fields(fields, read.values)
    names = {field.name for field in shown}
    checked = Checked(
        {name: value for name, value in read.values.items() if name in names},
        {name: problem for name, problem in read.problems.items() if name in names},
    )
    for name in missing_fields(shown, checked):
        checked.problems[name] = Problem("This is required.")
    return checked


def missing_fields(shown: Sequence[FormField], checked: Checked) -> list[str]:
    """The required fields of these that have neither a value nor a problem."""
    told = checked.values.keys() | checked.problems.keys()
    return [f.name for f in shown if f.required and has_value(f) and f.name not in told]
