"""Requests as they are found: one's own, and those that one looks after. Nothing here changes any.

Whoever asked is the requester. Whoever works on a request is an agent: managers and admins of
the group, and everybody of the team that the request is given to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, or_, select, true
from sqlalchemy.orm import defer, undefer

from app.accounts.models import Membership, User
from app.db import ScopedSession, utc_now
from app.errors import N_, NotFound
from app.files.models import StoredFile
from app.skills.service_requests.models import (
    OPEN_STATUSES,
    RequestUpdate,
    ServiceRequest,
    TeamMember,
)

EDITORS = ("manager", "admin")
PAGE = 20
# Of a request that never ends, the latest are shown.
MOST_UPDATES = 500
# What people say about a request after it was submitted.
SAID = ("reply", "note")
OWNER_KIND = "service_request"
ALREADY_FILED = N_(
    "This was filed already as %(number)s. Write to the team on the page of that request."
)
# What was reported within this is likely the same trouble.
LATELY = timedelta(days=1)
# A list shows neither what was asked for nor the answers, which may be large.
AS_LISTED = (
    undefer(ServiceRequest.head),
    *(
        defer(column, raiseload=True)
        for column in (ServiceRequest.form, ServiceRequest.values, ServiceRequest.origins)
    ),
)


@dataclass(frozen=True)
class Seen:
    """A request, and what the session's person is to it."""

    request: ServiceRequest
    is_own: bool
    is_agent: bool


def is_editor(session: ScopedSession) -> bool:
    """Whether the session's person looks after all requests of the group."""
    return session.scope.role in EDITORS


def _my_teams(session: ScopedSession) -> Select[UUID]:
    return select(TeamMember.team_id).where(
        TeamMember.group_id == session.scope.group_id, TeamMember.user_id == session.scope.user_id
    )


def of_group(session: ScopedSession) -> ColumnElement[bool]:
    return ServiceRequest.group_id == session.scope.group_id


def worked_on(session: ScopedSession) -> ColumnElement[bool]:
    """The predicate of the requests that the session's person is an agent of."""
    return true() if is_editor(session) else ServiceRequest.team_id.in_(_my_teams(session))


def require_agent(session: ScopedSession) -> None:
    """Raises NotFound for whoever looks after no requests: for them there is no queue."""
    if not has_queue(session):
        raise NotFound("This page does not exist, or you don't have access to it.")


def has_queue(session: ScopedSession) -> bool:
    """Whether the session's person is an agent at all."""
    return is_editor(session) or session.scalar(_my_teams(session).limit(1)) is not None


def load_request(session: ScopedSession, request_id: UUID, *, lock: bool = False) -> Seen:
    """A request that the session's person asked for or looks after.

    Raises:
        NotFound: there is none, or it is neither theirs nor their team's.
    """
    mine = ServiceRequest.user_id == session.scope.user_id
    query = select(ServiceRequest).where(
        ServiceRequest.id == request_id, of_group(session), or_(mine, worked_on(session))
    )
    if lock:
        query = query.with_for_update(of=ServiceRequest)
    found = session.scalar(query.execution_options(populate_existing=True))
    if found is None:
        raise NotFound("This request does not exist, or you don't have access to it.")
    is_own = found.user_id == session.scope.user_id
    return Seen(found, is_own, is_editor(session) or _is_of_my_team(session, found))


def _is_of_my_team(session: ScopedSession, request: ServiceRequest) -> bool:
    if request.team_id is None:
        return False
    query = _my_teams(session).where(TeamMember.team_id == request.team_id)
    return session.scalar(query) is not None


def list_updates(session: ScopedSession, seen: Seen) -> list[RequestUpdate]:
    """What was said and done about a request, oldest first; notes are for agents alone."""
    latest = _latest_first(session, seen).limit(MOST_UPDATES)
    return list(reversed(session.scalars(latest).all()))


def _latest_first(session: ScopedSession, seen: Seen) -> Select[RequestUpdate]:
    query = select(RequestUpdate).where(
        RequestUpdate.request_id == seen.request.id,
        RequestUpdate.group_id == session.scope.group_id,
    )
    if not seen.is_agent:
        query = query.where(RequestUpdate.is_internal.is_(False))
    return query.order_by(RequestUpdate.id.desc())


def find_unread(session: ScopedSession, seen: Seen, last: UUID | None) -> RequestUpdate | None:
    """The latest that somebody else has said after an update; None for since ever."""
    query = _latest_first(session, seen).where(
        RequestUpdate.kind.in_(SAID),
        RequestUpdate.author_id.is_distinct_from(session.scope.user_id),
    )
    if last is not None:
        query = query.where(RequestUpdate.id > last)
    return session.scalar(query.limit(1))


def list_own(
    session: ScopedSession, *, is_open: bool | None = None, page: int = 1
) -> tuple[list[ServiceRequest], bool]:
    """A page of one's own requests, newest first, and whether there are older ones."""
    query = select(ServiceRequest).where(
        of_group(session), ServiceRequest.user_id == session.scope.user_id
    )
    if is_open is not None:
        among = ServiceRequest.status.in_(OPEN_STATUSES)
        query = query.where(among if is_open else ~among)
    newest = query.order_by(ServiceRequest.submitted_at.desc(), ServiceRequest.id.desc())
    light = newest.options(*AS_LISTED)
    found = session.scalars(light.offset(PAGE * (page - 1)).limit(PAGE + 1)).all()
    return list(found[:PAGE]), len(found) > PAGE


def reported_lately(session: ScopedSession, type_id: UUID) -> ServiceRequest | None:
    """The last open request of this type that the person has filed within a day."""
    query = select(ServiceRequest).where(
        of_group(session),
        ServiceRequest.user_id == session.scope.user_id,
        ServiceRequest.type_id == type_id,
        ServiceRequest.status.in_(OPEN_STATUSES),
        ServiceRequest.submitted_at > utc_now() - LATELY,
    )
    newest = query.order_by(ServiceRequest.submitted_at.desc(), ServiceRequest.id.desc())
    return session.scalar(newest.options(*AS_LISTED).limit(1))


def has_filed(session: ScopedSession) -> bool:
    """Whether the session's person has ever filed a request here."""
    mine = ServiceRequest.user_id == session.scope.user_id
    query = select(ServiceRequest.id).where(of_group(session), mine).limit(1)
    return session.scalar(query) is not None


def load_file_of(session: ScopedSession, request_id: UUID, file_id: UUID) -> StoredFile:
    """A file of a request that the session's person may see, or NotFound."""
    seen = load_request(session, request_id)
    found = session.scalar(
        select(StoredFile).where(
            StoredFile.id == file_id,
            StoredFile.group_id == session.scope.group_id,
            StoredFile.owner_kind == OWNER_KIND,
            StoredFile.owner_id == seen.request.id,
        )
    )
    if found is None:
        raise NotFound("This file does not exist, or it is not yours.")
    return found


def list_kept_files(session: ScopedSession, request: ServiceRequest) -> set[UUID]:
    """The files that a request has; what could not be attached to it is not among them."""
    return set(
        session.scalars(
            select(StoredFile.id).where(
                StoredFile.group_id == session.scope.group_id,
                StoredFile.owner_kind == OWNER_KIND,
                StoredFile.owner_id == request.id,
            )
        )
    )


def names_of(session: ScopedSession, user_ids: Sequence[UUID | None]) -> dict[UUID, str]:
    """What those of these people are called who still are in the group, by their ids."""
    wanted = {each for each in user_ids if each is not None}
    if not wanted:
        return {}
    rows = session.execute(
        select(User.id, User.name)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.group_id == session.scope.group_id, User.id.in_(wanted))
    )
    return {row.id: row.name for row in rows}


def list_agents(session: ScopedSession, team_id: UUID | None) -> list[tuple[UUID, str]]:
    """Who can be given a request of this team: its members, and the group's editors; by name."""
    of_team = select(TeamMember.user_id).where(
        TeamMember.group_id == session.scope.group_id, TeamMember.team_id == team_id
    )
    rows = session.execute(
        select(User.id, User.name)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.group_id == session.scope.group_id,
            User.is_active,
            or_(Membership.role.in_(EDITORS), User.id.in_(of_team)),
        )
        .order_by(User.name, User.id)
    )
    return [(user_id, name) for user_id, name in rows]


def find_filed(session: ScopedSession, thread_id: UUID, begun_at: UUID) -> ServiceRequest | None:
    """What this step of a conversation was filed as already."""
    return session.scalar(
        select(ServiceRequest).where(
            ServiceRequest.thread_id == thread_id,
            ServiceRequest.begun_at == begun_at,
            ServiceRequest.group_id == session.scope.group_id,
            ServiceRequest.user_id == session.scope.user_id,
        )
    )
