"""The line that an answered widget folds into."""

from __future__ import annotations

from typing import Any

from app.fields.definitions import read_fields
from app.skills.service_requests.definitions import RequestField
from app.skills.service_requests.parts import FieldWidgetPart
from app.skills.service_requests.wording import shown


def field_of(part: FieldWidgetPart) -> RequestField:
    """The field that a widget asks for, alone.

    Raises:
        ValueError: its block is none.
    """
    block = {name: value for name, value in part.block.items() if name != "show_if"}
    [field] = read_fields([block])
    return RequestField(field_id=part.field_id, field=field)


def line_for(part: FieldWidgetPart, value: Any, language: str) -> str:
    """Label and value; the label alone where the field cannot be read any more."""
    try:
        field = field_of(part)
    except ValueError:
        return ""
    label = field.field.label.text(language).rstrip("?").lstrip("¿")
    return f"{label}: {shown(field, value, language)}"
