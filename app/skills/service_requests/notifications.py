"""Whom a change of a request concerns: they get a line at the bell and a mail.

How it is told is `app/accounts/notices.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from flask_babel import gettext as _
from sqlalchemy import select

from app.accounts.notices import send_notice
from app.db import ScopedSession
from app.skills.service_requests.models import RequestUpdate, ServiceRequest, TeamMember
from app.skills.service_requests.services.requests import list_agents

ASSIGNED, REPLIED, ANSWERED = "assigned", "replied", "answered"
RESOLVED, CLOSED, REOPENED = "resolved", "closed", "reopened"
WAITING = "waiting"


def tell_assigned(session: ScopedSession, request: ServiceRequest) -> None:
    """Tell whoever was given a request, at its submission or later; of one that nobody was
    given, those who could take it. Never commits.
    """
    if request.assignee_id is not None:
        _tell(session, request, ASSIGNED, [request.assignee_id])
    elif request.is_open:
        _tell(session, request, WAITING, _looking_after(session, request))


def tell_reply(session: ScopedSession, request: ServiceRequest, reply: RequestUpdate) -> None:
    """Tell whoever asked that somebody has replied; the line opens the page at the reply."""
    _tell(session, request, REPLIED, [request.user_id], at=f"#event-{reply.id}")


def tell_answer(session: ScopedSession, request: ServiceRequest, answer: RequestUpdate) -> None:
    """Tell whoever has the request that its requester has answered; it opens at the answer."""
    people = _looking_after(session, request)
    _tell(session, request, ANSWERED, people, at=f"#event-{answer.id}")


def tell_reopened(session: ScopedSession, request: ServiceRequest) -> None:
    """Tell both sides that it goes on."""
    _tell(session, request, REOPENED, [request.user_id, *_looking_after(session, request)])


def tell_status(session: ScopedSession, request: ServiceRequest) -> None:
    """Tell whoever asked that it is resolved, or closed."""
    event = RESOLVED if request.status == "resolved" else CLOSED
    _tell(session, request, event, [request.user_id])


def _looking_after(session: ScopedSession, request: ServiceRequest) -> list[UUID]:
    """Whoever has it; where nobody has, the team; without a team, the group's editors.

    Only those count who may work on it now: whoever left, or lost the role or the team that
    let them, has it no more.
    """
    agents = [user_id for user_id, _name in list_agents(session, request.team_id)]
    if request.assignee_id in agents:
        return [request.assignee_id]
    of_team = select(TeamMember.user_id).where(
        TeamMember.group_id == session.scope.group_id, TeamMember.team_id == request.team_id
    )
    team = set(session.scalars(of_team))
    return [each for each in agents if each in team] or agents


def _tell(
    session: ScopedSession,
    request: ServiceRequest,
    event: str,
    people: Iterable[UUID | None],
    *,
    at: str = "",
) -> None:
    send_notice(session, people, lambda: _line(event, request), f"/requests/{request.id}{at}")


def _line(event: str, request: ServiceRequest) -> str:
    facts = {"reference": request.reference, "title": request.title}
    lines = {
        ASSIGNED: _("%(reference)s is now assigned to you: %(title)s", **facts),
        WAITING: _("%(reference)s is waiting for somebody to take it: %(title)s", **facts),
        REPLIED: _("A reply to %(reference)s: %(title)s", **facts),
        ANSWERED: _("An answer to %(reference)s: %(title)s", **facts),
        RESOLVED: _("%(reference)s is resolved: %(title)s", **facts),
        CLOSED: _("%(reference)s is closed: %(title)s", **facts),
        REOPENED: _("%(reference)s is open again: %(title)s", **facts),
    }
    return lines[event]
