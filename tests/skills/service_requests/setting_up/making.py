"""A person's way through the pages on which requests are set up."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.db import Database, new_id
from app.skills.service_requests.models import RequestTeam, RequestType, RequestTypeVersion
from app.skills.service_requests.services.definitions import main_fields
from tests.factories import CheckedClient, Page
from tests.skills.forms.filling import sent_by

HOME = "/admin/requests/"
QUESTIONS = [{"ask": {"en": f"Question {n}?", "es": f"¿Pregunta {n}?"}} for n in (1, 2, 3)]
OPTIONS = [
    {"value": "bar", "label": {"en": "Bar", "es": "Barra"}},
    {"value": "line", "label": {"en": "Line", "es": "Línea"}},
]


def field(type_: str, name: str, **facts: Any) -> dict[str, Any]:
    """A field of a request as it is stored, with an id of its own."""
    label = {"en": name.capitalize(), "es": f"Campo {name}"}
    return {"field_id": str(new_id()), "type": type_, "name": name, "label": label, **facts}


def put_type(owner: Database, group_id: UUID, *fields: dict[str, Any], **facts: Any) -> RequestType:
    """A type of the group that asks for a title, a priority and these fields; not by a page."""
    given: dict[str, Any] = {
        "slug": f"type-{new_id().hex[-8:]}",
        "name_en": "Ice machine",
        "name_es": "Máquina de hielo",
        "icon": "thermometer",
        "words": {"en": ["ice"], "es": ["hielo"]},
        "questions": QUESTIONS,
        "fields": [*main_fields(new_id(), new_id()), *fields],
        **facts,
    }
    with owner.session() as session:
        made = RequestType(id=new_id(), group_id=group_id, **given)
        session.add(made)
        session.commit()
        return made


def put_category(owner: Database, group_id: UUID, name: str, **facts: Any) -> RequestType:
    """A category of the group."""
    return put_type(owner, group_id, name_en=name, name_es="", is_submittable=False,
                    **{"fields": [], "questions": [], "words": {}, **facts})  # fmt: skip


def put_team(owner: Database, group_id: UUID, name: str) -> RequestTeam:
    with owner.session() as session:
        made = RequestTeam(id=new_id(), group_id=group_id, slug=new_id().hex, name_en=name)
        session.add(made)
        session.commit()
        return made


def stored(owner: Database, type_: RequestType | UUID) -> RequestType:
    with owner.session() as session:
        found = session.get(RequestType, type_ if isinstance(type_, UUID) else type_.id)
        assert found
        return found


def versions_of(owner: Database, type_: RequestType) -> list[RequestTypeVersion]:
    with owner.session() as session:
        query = select(RequestTypeVersion).where(RequestTypeVersion.type_id == type_.id)
        return list(session.scalars(query.order_by(RequestTypeVersion.version)))


def types_of(owner: Database, group_id: UUID) -> list[RequestType]:
    with owner.session() as session:
        query = select(RequestType).where(RequestType.group_id == group_id)
        return list(session.scalars(query.order_by(RequestType.sort_order)))


def path_of(type_: RequestType) -> str:
    return f"{HOME}{type_.id}"


def work_on(page: Page) -> dict[str, Any]:
    """What the page's form would send as it stands, without its buttons and its token."""
    return sent_by(page.find("div", id="work"))


def press(
    browser: CheckedClient, page: Page, type_: RequestType, do: str, status: int = 200, **typed: Any
) -> Page:
    """Type into a type's page and press a button, as htmx does."""
    form = {**work_on(page), **{name.replace("__", "-"): text for name, text in typed.items()}}
    form = {name: value for name, value in form.items() if value is not None}
    return browser.post_fragment(path_of(type_), status, do=do, **form)
