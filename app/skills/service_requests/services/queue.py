"""The queue: the requests that one looks after, narrowed down, those that are due first on top."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.models import Membership, User
from app.db import ScopedSession, new_id, read_id
from app.errors import InvalidInput
from app.skills.service_requests.models import (
    OPEN_STATUSES,
    PRIORITIES,
    STATUSES,
    QueueView,
    RequestTeam,
    RequestType,
    ServiceRequest,
    TeamMember,
)
from app.skills.service_requests.services.requests import (
    AS_LISTED,
    EDITORS,
    has_queue,
    is_editor,
    of_group,
    worked_on,
)
from app.skills.service_requests.services.type_catalog import AS_NAMED
from app.text.free_text import has_words, limit_search
from app.text.normalize import words as folded_words
from app.text.plain_text import clean_line

PAGE = 25
LONGEST_SEARCH = 100
MOST_VIEWS, LONGEST_NAME = 10, 40
ME, NOBODY = "me", "nobody"
# What a list of states can be narrowed to beside one of them; "open" unless something is said.
OPEN, ALL = "open", "all"
# Written out, so that the index of the open ones is known to hold all that is asked for.
_IS_OPEN = ServiceRequest.status.in_(
    bindparam("open", OPEN_STATUSES, expanding=True, literal_execute=True)
)
_REFERENCE = re.compile(r"sr(\d{4})(\d{1,9})|(\d{1,9})")


@dataclass(frozen=True)
class Filters:
    """What the queue is narrowed to; `assignee` is an id, ME or NOBODY."""

    status: str = OPEN
    team: UUID | None = None
    assignee: UUID | str = ""
    priority: str = ""
    type: UUID | None = None
    is_overdue: bool = False
    words: str = ""

    @property
    def is_narrow(self) -> bool:
        return self != Filters()

    @property
    def arguments(self) -> dict[str, Any]:
        """The same as the arguments of an address."""
        said = {
            "status": self.status if self.status != OPEN else "",
            "team": str(self.team or ""),
            "assignee": str(self.assignee or ""),
            "priority": self.priority,
            "type": str(self.type or ""),
            "overdue": "1" if self.is_overdue else "",
            "q": self.words,
        }
        return {name: value for name, value in said.items() if value}


def read_filters(arguments: Mapping[str, str]) -> Filters:
    """What an address asks for; what cannot be understood narrows nothing."""
    status, priority = arguments.get("status", ""), arguments.get("priority", "")
    assignee = arguments.get("assignee", "")
    return Filters(
        status if status in (*STATUSES, ALL) else OPEN,
        read_id(arguments.get("team", "")),
        assignee if assignee in (ME, NOBODY) else read_id(assignee) or "",
        priority if priority in PRIORITIES else "",
        read_id(arguments.get("type", "")),
        bool(arguments.get("overdue")),
        clean_line(arguments.get("q", ""))[:LONGEST_SEARCH],
    )


def find_queue(
    session: ScopedSession, filters: Filters, now: datetime, page: int = 1
) -> tuple[list[ServiceRequest], bool]:
    """A page of the queue, and whether it goes on.

    Raises:
        TooMany: that takes too long.
    """
    query = (
        select(ServiceRequest)
        .where(of_group(session), worked_on(session), *_conditions(session, filters, now))
        .order_by(ServiceRequest.due_at, ServiceRequest.id)
        .offset(PAGE * (page - 1))
        .limit(PAGE + 1)
        .options(*AS_LISTED)
    )
    with limit_search(session):
        found = session.scalars(query).all()
    return list(found[:PAGE]), len(found) > PAGE


def count_open(session: ScopedSession, most: int) -> int | None:
    """How many requests of the queue are open, counted up to `most`.

    None for whoever looks after no requests.
    """
    if not has_queue(session):
        return None
    some = select(ServiceRequest.id).where(of_group(session), worked_on(session), _IS_OPEN)
    counted = some.limit(most).subquery()
    return session.scalar(select(func.count()).select_from(counted)) or 0


def _conditions(
    session: ScopedSession, filters: Filters, now: datetime
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filters.is_overdue:
        conditions += [ServiceRequest.due_at < now, _IS_OPEN]
    if filters.status == OPEN:
        conditions.append(_IS_OPEN)
    elif filters.status != ALL:
        conditions.append(ServiceRequest.status == filters.status)
    if filters.team:
        conditions.append(ServiceRequest.team_id == filters.team)
    if filters.priority:
        conditions.append(ServiceRequest.priority == filters.priority)
    if filters.type:
        conditions.append(ServiceRequest.type_id == filters.type)
    if filters.assignee:
        conditions.append(_assigned(session, filters.assignee))
    return [*conditions, *_said(filters.words)]


def _assigned(session: ScopedSession, assignee: UUID | str) -> ColumnElement[bool]:
    if assignee == NOBODY:
        return ServiceRequest.assignee_id.is_(None)
    wanted = session.scope.user_id if assignee == ME else assignee
    return ServiceRequest.assignee_id == wanted


def _said(typed: str) -> list[ColumnElement[bool]]:
    """Each word stands in the title or the requester's name; or all are the number."""
    words = folded_words(typed)
    if not words:
        return []
    number, said = _number(typed), has_words(ServiceRequest.folded, words)
    return [said if number is None else or_(number, said)]


def _number(typed: str) -> ColumnElement[bool] | None:
    """The request of this number, "SR-2026-000123" or as much of it as is said: "123"."""
    match = _REFERENCE.fullmatch("".join(folded_words(typed)))
    if match is None:
        return None
    if match[3]:
        return ServiceRequest.number == int(match[3])
    return and_(ServiceRequest.year == int(match[1]), ServiceRequest.number == int(match[2]))


def list_views(session: ScopedSession) -> Sequence[QueueView]:
    """The filters that the session's person has saved, the oldest first."""
    return session.scalars(
        select(QueueView).where(*_own_views(session)).order_by(QueueView.id)
    ).all()


def save_view(session: ScopedSession, name: str, filters: Filters) -> None:
    """Keep filters under a name; those that had it before are replaced. Never commits.

    Raises:
        InvalidInput: no name, no filters, or as many as there may be.
    """
    named = clean_line(name)[:LONGEST_NAME].strip()
    if not named:
        raise InvalidInput("Name these filters, so that you find them again.", field="name")
    if not filters.is_narrow:
        raise InvalidInput("Choose at least one filter first.")
    views = list_views(session)
    if len(views) >= MOST_VIEWS and named not in {view.name for view in views}:
        raise InvalidInput(
            "You have %(most)s saved filters. Remove one, then save these.", most=MOST_VIEWS
        )
    scope = session.scope
    session.execute(
        insert(QueueView)
        .values(
            id=new_id(),
            group_id=scope.group_id,
            user_id=scope.user_id,
            name=named,
            arguments=filters.arguments,
        )
        .on_conflict_do_update(
            index_elements=["group_id", "user_id", "name"], set_={"arguments": filters.arguments}
        )
    )


def remove_view(session: ScopedSession, view_id: UUID) -> None:
    """Forget saved filters; of what is not there, or somebody else's, nothing. Never commits."""
    session.execute(delete(QueueView).where(*_own_views(session), QueueView.id == view_id))


def _own_views(session: ScopedSession) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    scope = session.scope
    return QueueView.group_id == scope.group_id, QueueView.user_id == scope.user_id


def list_teams(session: ScopedSession) -> Sequence[RequestTeam]:
    """The teams of the group, for an editor; else one's own."""
    query = select(RequestTeam).where(RequestTeam.group_id == session.scope.group_id)
    if not is_editor(session):
        mine = TeamMember.user_id == session.scope.user_id
        query = query.join(TeamMember, TeamMember.team_id == RequestTeam.id).where(mine)
    return session.scalars(query.order_by(RequestTeam.slug)).all()


def list_types(session: ScopedSession) -> Sequence[RequestType]:
    """The types that requests can be of, archived ones too."""
    return session.scalars(
        select(RequestType)
        .where(RequestType.group_id == session.scope.group_id, RequestType.is_submittable)
        .order_by(RequestType.slug)
        .options(AS_NAMED)
    ).all()


def list_assignees(session: ScopedSession) -> list[tuple[UUID, str]]:
    """Everybody who can have a request of one of the teams that one sees, by name."""
    teams = [team.id for team in list_teams(session)]
    members = select(TeamMember.user_id).where(
        TeamMember.group_id == session.scope.group_id, TeamMember.team_id.in_(teams)
    )
    rows = session.execute(
        select(User.id, User.name)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.group_id == session.scope.group_id,
            or_(Membership.role.in_(EDITORS), User.id.in_(members)),
        )
        .order_by(User.name, User.id)
    )
    return [(user_id, name) for user_id, name in rows]
