"""Teams: who is given the requests of some types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.audit import record
from app.accounts.models import Membership, User
from app.db import ScopedSession, new_id
from app.errors import Conflict, InvalidInput, NotFound
from app.fields.definitions import Words
from app.skills.service_requests.models import RequestTeam, RequestType, TeamMember
from app.skills.service_requests.services.write_rules import (
    check_length,
    free_slug,
    is_called_like,
    lock_alone,
)

MOST_TEAMS = 50


@dataclass(frozen=True)
class TeamView:
    """A team with the names of its people, and how many types it looks after."""

    team: RequestTeam
    people: tuple[str, ...]
    types: int


def list_teams(session: ScopedSession) -> list[RequestTeam]:
    """The group's teams, in the order in which they were made."""
    query = select(RequestTeam).where(RequestTeam.group_id == session.scope.group_id)
    return list(session.scalars(query.order_by(RequestTeam.id)))


def view_teams(session: ScopedSession) -> list[TeamView]:
    """The group's teams with their people; whoever has left the group is none of them."""
    group_id = session.scope.group_id
    people: dict[UUID, list[str]] = {}
    for team_id, name in session.execute(
        select(TeamMember.team_id, User.name)
        .join(User, User.id == TeamMember.user_id)
        .join(
            Membership,
            (Membership.user_id == User.id) & (Membership.group_id == TeamMember.group_id),
        )
        .where(TeamMember.group_id == group_id)
        .order_by(User.name, User.id)
    ):
        people.setdefault(team_id, []).append(name)
    counts = session.execute(
        select(RequestType.team_id, func.count())
        .where(RequestType.group_id == group_id)
        .group_by(RequestType.team_id)
    )
    types = {row[0]: row[1] for row in counts}
    return [
        TeamView(each, tuple(people.get(each.id, ())), types.get(each.id, 0))
        for each in list_teams(session)
    ]


def load_team(session: ScopedSession, team_id: UUID, *, lock: bool = False) -> RequestTeam:
    """A team of the group, or NotFound; with `lock`, nobody else's to change."""
    query = select(RequestTeam).where(
        RequestTeam.id == team_id, RequestTeam.group_id == session.scope.group_id
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    team = session.scalar(query)
    if team is None:
        raise NotFound("There is no such team here.")
    return team


def members_of(session: ScopedSession, team: RequestTeam) -> set[UUID]:
    """Who is on a team."""
    query = select(TeamMember.user_id).where(
        TeamMember.team_id == team.id, TeamMember.group_id == session.scope.group_id
    )
    return set(session.scalars(query))


def add_team(session: ScopedSession, name: Words) -> RequestTeam:
    """A new team, with nobody on it yet.

    Raises:
        InvalidInput: it has no name, or that of another one; or there are too many.
    """
    lock_alone(session, "teams")
    teams = list_teams(session)
    if len(teams) >= MOST_TEAMS:
        raise InvalidInput("There can be at most %(limit)s teams.", limit=MOST_TEAMS)
    _check_name(teams, name)
    team = RequestTeam(
        id=new_id(),
        group_id=session.scope.group_id,
        slug=free_slug(name.text("en"), {each.slug for each in teams}, "team"),
        name_en=name.en,
        name_es=name.es,
    )
    session.add(team)
    record(session, "request_team_added", team.slug)
    session.commit()
    return team


def _check_name(teams: Sequence[RequestTeam], name: Words) -> None:
    if not name:
        raise InvalidInput("Give the team a name in at least one language.", field="name_en")
    check_length(name)
    if any(is_called_like(name, each.name_en, each.name_es) for each in teams):
        raise InvalidInput("Another team has this name.", field="name_en")


def save_team(
    session: ScopedSession,
    team_id: UUID,
    *,
    was: Words,
    name: Words,
    come: Collection[UUID],
    gone: Collection[UUID],
) -> RequestTeam:
    """Rename a team from what it `was`, and let people come and go; others stay as they are.

    A name that was not touched stays as it is, too, whatever it is by now.

    Raises:
        NotFound. Conflict: somebody else has renamed it meanwhile; says what it is called now.
        InvalidInput: the name is none or another team's, or somebody is not of the group.
    """
    lock_alone(session, "teams")
    team = load_team(session, team_id)
    now = Words(en=team.name_en, es=team.name_es)
    if any(
        typed not in (before, current) and before != current
        for typed, before, current in ((name.en, was.en, now.en), (name.es, was.es, now.es))
    ):
        raise Conflict(
            "Somebody renamed this team in the meantime. It is called “%(english)s” in English"
            " and “%(spanish)s” in Spanish now. Look at it again first.",
            english=now.en,
            spanish=now.es,
        )
    name = Words(
        en=now.en if name.en == was.en else name.en, es=now.es if name.es == was.es else name.es
    )
    if name != now:
        _check_name([each for each in list_teams(session) if each is not team], name)
        team.name_en, team.name_es = name.en, name.es
        record(session, "request_team_renamed", team.slug)
    _let_come(session, team, come)
    _let_go(session, team, gone)
    session.commit()
    return team


def _let_come(session: ScopedSession, team: RequestTeam, people: Collection[UUID]) -> None:
    # Nobody of them is removed until they are on the team. Who changes or removes people locks
    # the admins first; in another order each would wait for the other.
    known = (
        select(Membership.user_id)
        .where(Membership.group_id == session.scope.group_id, Membership.user_id.in_(people))
        .order_by(Membership.role != "admin", Membership.user_id)
        .with_for_update(read=True, key_share=True)
    )
    if set(session.scalars(known)) != set(people):
        raise InvalidInput("Somebody you chose no longer works here.", field="members")
    if people:
        rows = [{"team_id": team.id, "user_id": each, "group_id": team.group_id} for each in people]
        session.execute(insert(TeamMember).values(rows).on_conflict_do_nothing())
        record(session, "request_team_joined", f"{team.slug} +{len(people)}")


def _let_go(session: ScopedSession, team: RequestTeam, people: Collection[UUID]) -> None:
    if people:
        session.execute(
            delete(TeamMember).where(
                TeamMember.team_id == team.id,
                TeamMember.group_id == session.scope.group_id,
                TeamMember.user_id.in_(people),
            )
        )
        record(session, "request_team_left", f"{team.slug} -{len(people)}")


def remove_team(
    session: ScopedSession, team_id: UUID, *, was: Words, members: Collection[UUID]
) -> RequestTeam:
    """Remove a team that looks after no type, and is what it `was` with the same people on it.

    Raises:
        NotFound
        Conflict: somebody else has changed it meanwhile, or types are still given to it.
    """
    lock_alone(session, "teams")
    team = load_team(session, team_id, lock=True)
    is_as_shown = (team.name_en, team.name_es) == (was.en, was.es)
    if not is_as_shown or members_of(session, team) != set(members):
        raise Conflict("Somebody changed this team in the meantime. Look at it again first.")
    types = select(func.count()).where(
        RequestType.team_id == team.id, RequestType.group_id == session.scope.group_id
    )
    if session.scalar(types):
        raise Conflict("Give this team's types to another team first.")
    session.delete(team)
    record(session, "request_team_removed", team.slug)
    session.commit()
    return team
