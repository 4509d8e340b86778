"""Types, teams and requests of a group, written as rows: no conversation is held."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update

from app.accounts.models import User
from app.db import Database, new_id, utc_now
from app.skills.service_requests.models import (
    RequestTeam,
    RequestType,
    RequestUpdate,
    ServiceRequest,
    TeamMember,
)
from app.skills.service_requests.services.definitions import main_fields
from tests.factories.people import Member

WHERE, PHOTO, WHEN = (UUID(int=number) for number in (3, 4, 5))
TITLE_ID, PRIORITY_ID = UUID(int=1), UUID(int=2)
FIELDS: list[dict[str, Any]] = [
    *main_fields(TITLE_ID, PRIORITY_ID),
    {
        "field_id": str(WHERE),
        "step": "where",
        "type": "select",
        "name": "place",
        "label": {"en": "Where is it?", "es": "¿Dónde está?"},
        "options": [
            {"value": "kitchen", "label": {"en": "Kitchen", "es": "Cocina"}},
            {"value": "bar", "label": {"en": "Bar", "es": "Barra"}},
        ],
    },
    {
        "field_id": str(WHEN),
        "step": "details",
        "type": "date",
        "name": "since",
        "label": {"en": "Since when?", "es": "¿Desde cuándo?"},
    },
    {
        "field_id": str(PHOTO),
        "step": "files",
        "type": "file",
        "name": "photo",
        "label": {"en": "Photos", "es": "Fotos"},
    },
]


def make_team(
    owner: Database, group_id: UUID, members: Iterable[Member] = (), name: str = "Maintenance"
) -> UUID:
    """A team with these people; returns its id."""
    with owner.transaction() as session:
        team = RequestTeam(group_id=group_id, slug=f"team-{new_id()}", name_en=name, name_es="")
        session.add(team)
        session.flush()
        for each in members:
            session.add(TeamMember(team_id=team.id, user_id=each.user_id, group_id=group_id))
        return team.id


def make_type(owner: Database, group_id: UUID, **facts: Any) -> RequestType:
    """A type of request that can be submitted: a title, a priority, a place, a day, photos."""
    row: dict[str, Any] = {
        "slug": f"type-{new_id()}",
        "name_en": "Cooling",
        "name_es": "Refrigeración",
        "icon": "thermometer",
        "sla_hours": 24,
        "fields": FIELDS,
        "questions": [],
        "is_guided": True,
        **facts,
    }
    with owner.transaction() as session:
        made = RequestType(group_id=group_id, **row)
        session.add(made)
        session.flush()
        session.expunge(made)
        return made


def ask_step_by_step(owner: Database) -> None:
    """Let all types that there are be chosen, and their priority and questions be asked for."""
    with owner.transaction() as session:
        session.execute(update(RequestType).values(is_guided=True))


def make_request(
    owner: Database, member: Member, title: str = "The walk-in is warm", **facts: Any
) -> ServiceRequest:
    """A request of this person's, new and due in a day where nothing else is said."""
    submitted_at = facts.pop("submitted_at", utc_now())
    with owner.transaction() as session:
        year = submitted_at.year
        group = ServiceRequest.group_id == member.group_id
        last = session.scalar(
            select(func.max(ServiceRequest.number)).where(group, ServiceRequest.year == year)
        )
        row: dict[str, Any] = {
            "type_version": 1,
            "form": stored_form(),
            "values": {str(TITLE_ID): title, str(PRIORITY_ID): "normal", str(WHERE): "kitchen"},
            "priority": "normal",
            "language": member.language,
            "due_at": submitted_at + timedelta(days=1),
            **facts,
        }
        made = ServiceRequest(
            group_id=member.group_id,
            user_id=member.user_id,
            requester=member.name,
            begun_at=new_id(),
            title=title,
            year=year,
            number=(last or 0) + 1,
            submitted_at=submitted_at,
            **row,
        )
        session.add(made)
        session.flush()
        session.expunge(made)
        return made


def stored_form() -> dict[str, Any]:
    """What a request keeps of the type that `make_type` makes."""
    return {
        "name": {"en": "Cooling", "es": "Refrigeración"},
        "path": [{"en": "Maintenance", "es": "Mantenimiento"}],
        "icon": "thermometer",
        "fields": FIELDS,
    }


def make_update(
    owner: Database, request: ServiceRequest, author: Member | None, kind: str, **facts: Any
) -> None:
    """Something that was said or done about a request."""
    with owner.transaction() as session:
        session.add(
            RequestUpdate(
                group_id=request.group_id,
                request_id=request.id,
                author_id=author.user_id if author else None,
                author=author.name if author else "",
                kind=kind,
                **facts,
            )
        )


def read_request(owner: Database, request: ServiceRequest) -> ServiceRequest:
    """The request as it is stored by now."""
    with owner.session() as session:
        return session.scalars(select(ServiceRequest).where(ServiceRequest.id == request.id)).one()


def read_updates(owner: Database, request: ServiceRequest) -> list[RequestUpdate]:
    """What is kept of a request's story, oldest first."""
    with owner.session() as session:
        query = select(RequestUpdate).where(RequestUpdate.request_id == request.id)
        return list(session.scalars(query.order_by(RequestUpdate.id)))


def leave_the_house(owner: Database, member: Member) -> None:
    """This person's account is gone; what they did stays."""
    with owner.transaction() as session:
        found = session.get(User, member.user_id)
        assert found is not None
        session.delete(found)
