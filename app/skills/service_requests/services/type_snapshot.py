"""What a request keeps of its type, so that it can be read when the type is another one."""

from __future__ import annotations

from dataclasses import dataclass

from app.fields.definitions import Words
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.services.definitions import RequestField, read_request_fields


@dataclass(frozen=True)
class StoredForm:
    """The type of a request as it was when it was submitted."""

    name: Words
    path: tuple[Words, ...]
    icon: str
    fields: tuple[RequestField, ...]


def read_form(request: ServiceRequest) -> StoredForm:
    """The type that a request was submitted as."""
    stored = request.form
    return StoredForm(
        Words.model_validate(stored["name"]),
        tuple(Words.model_validate(each) for each in stored["path"]),
        stored["icon"],
        read_request_fields(stored["fields"]),
    )


def type_name(request: ServiceRequest, language: str) -> str:
    """What the type of a request in a list was called."""
    head = request.head or {}
    return Words.model_validate(head["name"]).text(language)
