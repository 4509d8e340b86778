"""The line that an answered widget folds into."""

from __future__ import annotations

from typing import Any

from app.skills.service_requests.parts import FieldWidgetPart
from app.skills.service_requests.services.definitions import RequestField
from app.skills.service_requests.texts import shown


def line_for(part: FieldWidgetPart, value: Any, language: str) -> str:
    """Label and value; the label alone where the field cannot be read any more."""
    if part.field is None:
        return ""
    field = RequestField(field_id=part.field_id, field=part.field)
    label = field.field.label.text(language).rstrip("?").lstrip("¿")
    return f"{label}: {shown(field, value, language)}"
