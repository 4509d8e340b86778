"""Working on requests: who has them, how far they are, what is said about them.

Every change holds the request's row, writes what was done beside it and into the audit log, and
tells whom it concerns, all in one transaction. Nothing here commits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from flask_babel import force_locale
from flask_babel import gettext as _
from sqlalchemy import select

from app.accounts.audit import record
from app.accounts.models import User
from app.db import ScopedSession, utc_now
from app.errors import N_, ComandaError, Conflict, Forbidden, InvalidInput, NotFound
from app.skills.service_requests.labels import PRIORITY_WORDS, status_words
from app.skills.service_requests.models import PRIORITIES, RequestUpdate, ServiceRequest
from app.skills.service_requests.notifications import (
    tell_answer,
    tell_assigned,
    tell_reopened,
    tell_reply,
    tell_status,
)
from app.skills.service_requests.services.agent_replies import reply_in_thread
from app.skills.service_requests.services.deadline import due_at_priority
from app.skills.service_requests.services.requests import (
    SAID,
    Seen,
    find_unread,
    list_agents,
    load_request,
)
from app.text.plain_text import clean_line, clean_lines

LONGEST_WORDS = 4_000
LONGEST_KEY = 64
# What changes the version of a request, and so what somebody may have missed.
CHANGES = ("status", "assignment", "priority")
# Where a request may go from where it is: by those who look after it.
TRANSITIONS: Mapping[str, tuple[str, ...]] = {
    "new": ("in_progress", "waiting", "resolved", "closed"),
    "in_progress": ("waiting", "resolved", "closed"),
    "waiting": ("in_progress", "resolved", "closed"),
    "resolved": ("closed", "in_progress"),
    "closed": ("in_progress",),
}
# By whoever asked: whether what was resolved is.
OWN_TRANSITIONS: Mapping[str, tuple[str, ...]] = {"resolved": ("closed", "in_progress")}


class Unread(Conflict):
    """Somebody else has written meanwhile; it is told who."""

    def __init__(self, said: RequestUpdate) -> None:
        super().__init__(
            N_("%(who)s wrote something in the meantime. Read it, then press the button again.")
        )
        # Kept apart from the row: what failed is rolled back before it is told.
        self.who = said.author

    def told(self, language: str) -> dict[str, Any]:
        with force_locale(language):
            return {"who": self.who or _("Somebody")}


class Stale(Conflict):
    """Somebody else has changed it meanwhile; it is told who, and what they did."""

    def __init__(self, last: RequestUpdate | None) -> None:
        super().__init__(N_("%(who)s changed this in the meantime: %(what)s. Look at it again."))
        # Kept apart from the row: what failed is rolled back before it is told.
        self.who, self.change = (last.author, (last.kind, last.after)) if last else ("", ("", ""))

    def told(self, language: str) -> dict[str, Any]:
        with force_locale(language):
            return {"who": self.who or _("Somebody"), "what": change_in_words(*self.change)}


@dataclass(frozen=True, order=True)
class Chosen:
    """A request that was chosen from a list, at the version that the list showed."""

    request_id: UUID
    version: int


@dataclass(frozen=True)
class Refused:
    """A request that was not changed with the others; its number, where it can be seen, and why."""

    reference: str
    error: ComandaError


@dataclass(frozen=True)
class Said:
    """What was said about a request; `thread_id` is of the conversation that it was put into."""

    request: ServiceRequest
    update: RequestUpdate
    thread_id: UUID | None = None
    message_id: UUID | None = None
    is_repeated: bool = False


def may_become(status: str, *, is_agent: bool) -> tuple[str, ...]:
    """What a request of this status may become, by an agent or by whoever asked."""
    return (TRANSITIONS if is_agent else OWN_TRANSITIONS).get(status, ())


def change_in_words(kind: str, after: str) -> str:
    """A change as a line: "In progress", "Assigned to Ana"."""
    if not kind:
        return _("There is a newer version now")
    if kind == "assignment":
        return _("Assigned to %(name)s", name=after) if after else _("Unassigned")
    if kind == "status":
        return status_words().get(after, after)
    return _(PRIORITY_WORDS.get(after, after))


def moments_of(
    request: ServiceRequest, status: str, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """When a request that becomes `status` was resolved and closed."""
    if status == "resolved":
        return now, None
    if status == "closed":
        return request.resolved_at, now
    return None, None


def change_status(
    session: ScopedSession, request_id: UUID, status: str, version: int, last: UUID | None
) -> ServiceRequest:
    """Move a request on; twice is the same as once.

    `last` is the latest update that the person was shown: what was said since is read first.

    Raises:
        NotFound. InvalidInput: it cannot become that from where it is. Stale. Unread.
    """
    seen = load_request(session, request_id, lock=True)
    request = seen.request
    if _is_done(session, request, version, "status", status, request.status == status):
        return request
    if unread := find_unread(session, seen, last):
        raise Unread(unread)
    if status not in may_become(request.status, is_agent=seen.is_agent):
        raise InvalidInput(
            "The request cannot go from its current status to that one.", field="status"
        )
    before, now = request.status, utc_now()
    request.resolved_at, request.closed_at = moments_of(request, status, now)
    request.status = status
    _note_change(session, seen, "status", before, status)
    if status in ("resolved", "closed"):
        tell_status(session, request)
    elif before in ("resolved", "closed"):
        tell_reopened(session, request)
    return request


def change_priority(
    session: ScopedSession, request_id: UUID, priority: str, version: int
) -> ServiceRequest:
    """Give a request another priority; while it is open, that moves when it is due.

    Raises:
        NotFound. Forbidden: only agents do that. InvalidInput. Stale.
    """
    seen = _load_for_work(session, request_id)
    request = seen.request
    if priority not in PRIORITIES:
        raise InvalidInput("Choose from the list.", field="priority")
    if _is_done(session, request, version, "priority", priority, request.priority == priority):
        return request
    before, request.priority = request.priority, priority
    if request.is_open:
        request.due_at = due_at_priority(request.submitted_at, request.due_at, before, priority)
    _note_change(session, seen, "priority", before, priority)
    return request


def assign(
    session: ScopedSession, request_id: UUID, assignee_id: UUID | None, version: int
) -> ServiceRequest:
    """Give a request to an agent of it, or to nobody.

    Raises:
        NotFound. Forbidden: only agents do that. InvalidInput: they cannot have it. Stale.
    """
    seen = _load_for_work(session, request_id)
    request = seen.request
    agents = dict(list_agents(session, request.team_id))
    if assignee_id is not None and assignee_id not in agents:
        raise InvalidInput(
            "The request can't be assigned to this person. Choose from the list.", field="assignee"
        )
    name = agents[assignee_id] if assignee_id else ""
    is_so = request.assignee_id == assignee_id
    if _is_done(session, request, version, "assignment", name, is_so):
        return request
    before = agents.get(request.assignee_id, "") if request.assignee_id else ""
    request.assignee_id = assignee_id
    _note_change(session, seen, "assignment", before, name)
    tell_assigned(session, request)
    return request


def change_each(
    session: ScopedSession,
    chosen: Collection[Chosen],
    change: Callable[[Chosen], ServiceRequest],
) -> tuple[int, list[Refused]]:
    """Change each of these requests by itself; how many were, and those that could not be.

    What one of them refuses leaves the others as they were changed. They are held in the order of
    their ids, so that two people who chose the same ones wait and do not block each other.
    """
    changed, refused = 0, []
    for each in sorted(chosen):
        try:
            with session.begin_nested():
                # What was so already is neither.
                changed += change(each).version == each.version + 1
        except (InvalidInput, Conflict, NotFound, Forbidden) as error:
            refused.append(Refused(_reference_of(session, each.request_id), error))
    return changed, refused


def finish_from_list(
    session: ScopedSession, request_id: UUID, status: str, version: int, listed: UUID | None
) -> ServiceRequest:
    """Move a request on from a list that was drawn at `listed`, and shows nothing that was said.

    What its requester wrote, and nobody has answered or noted anything behind, may have been read
    by nobody: it ends no request from here.

    Raises:
        As `change_status`.
    """
    last = listed
    if status in ("resolved", "closed"):
        request = load_request(session, request_id, lock=True).request
        answered = _last_answer(session, request)
        last = answered and min(answered, listed or answered)
    return change_status(session, request_id, status, version, last)


def _last_answer(session: ScopedSession, request: ServiceRequest) -> UUID | None:
    """The latest reply or note by somebody else than whoever asked."""
    return session.scalar(
        select(RequestUpdate.id)
        .where(
            RequestUpdate.request_id == request.id,
            RequestUpdate.group_id == session.scope.group_id,
            RequestUpdate.author_id.is_distinct_from(request.user_id),
            RequestUpdate.kind.in_(SAID),
        )
        .order_by(RequestUpdate.id.desc())
        .limit(1)
    )


def _reference_of(session: ScopedSession, request_id: UUID) -> str:
    try:
        return load_request(session, request_id).request.reference
    except NotFound:
        return ""


def add_note(session: ScopedSession, request_id: UUID, words: str, key: str) -> Said:
    """Note something for the team alone; the same words with the same key are one note.

    Raises:
        NotFound. Forbidden: only agents do that. InvalidInput: nothing is said, or too much.
    """
    seen = _load_for_work(session, request_id)
    body = _checked(words)
    repeated = _find_said(session, seen, "note", key, body)
    if repeated is not None:
        return Said(seen.request, repeated, is_repeated=True)
    update = _write(session, seen, "note", body=body, is_internal=True, key=key)
    _note_response(seen)
    record(session, "service_request.note", str(request_id))
    return Said(seen.request, update)


def say(session: ScopedSession, request_id: UUID, words: str, key: str) -> Said:
    """Write to the other side: whoever asked to the team, an agent to whoever asked.

    The reply of an agent is put at the end of the conversation that the request came from, if
    that is still there. The same words with the same key are one reply.

    Raises:
        NotFound. InvalidInput: nothing is said, or too much.
    """
    seen = load_request(session, request_id, lock=True)
    body = _checked(words)
    repeated = _find_said(session, seen, "reply", key, body)
    if repeated is not None:
        return Said(seen.request, repeated, is_repeated=True)
    update = _write(session, seen, "reply", body=body, key=key)
    record(session, "service_request.reply", str(request_id))
    session.flush()
    if seen.is_own:
        tell_answer(session, seen.request, update)
        return Said(seen.request, update)
    _note_response(seen)
    thread_id, message_id = reply_in_thread(session, seen.request, update)
    tell_reply(session, seen.request, update)
    return Said(seen.request, update, thread_id, message_id)


def _load_for_work(session: ScopedSession, request_id: UUID) -> Seen:
    seen = load_request(session, request_id, lock=True)
    if not seen.is_agent:
        raise Forbidden("Only the people who handle this request can do that.")
    return seen


def _is_done(
    session: ScopedSession,
    request: ServiceRequest,
    version: int,
    kind: str,
    after: str,
    is_so: bool,
) -> bool:
    """Whether the change has been made already: nothing to do, or a button pressed twice.

    Raises:
        Stale: it is not the `version` that was looked at any more.
    """
    if request.version == version:
        return is_so
    last = _last_change(session, request)
    own = last is not None and last.author_id == session.scope.user_id
    if own and is_so and last and (last.kind, last.after) == (kind, after):
        return True
    raise Stale(last)


def _last_change(session: ScopedSession, request: ServiceRequest) -> RequestUpdate | None:
    return session.scalar(
        select(RequestUpdate)
        .where(
            RequestUpdate.request_id == request.id,
            RequestUpdate.group_id == session.scope.group_id,
            RequestUpdate.kind.in_(CHANGES),
        )
        .order_by(RequestUpdate.id.desc())
        .limit(1)
    )


def _note_change(session: ScopedSession, seen: Seen, kind: str, before: str, after: str) -> None:
    request = seen.request
    request.version += 1
    _note_response(seen)
    _write(session, seen, kind, before=before, after=after)
    record(session, f"service_request.{kind}", f"{request.id}: {before or '-'} to {after or '-'}")


def _note_response(seen: Seen) -> None:
    """From now on somebody of the group has done something about it."""
    if seen.is_agent and seen.request.responded_at is None:
        seen.request.responded_at = utc_now()


def _write(
    session: ScopedSession, seen: Seen, kind: str, *, key: str = "", **facts: Any
) -> RequestUpdate:
    update = RequestUpdate(
        group_id=session.scope.group_id,
        request_id=seen.request.id,
        author_id=session.scope.user_id,
        author=session.scalar(select(User.name).where(User.id == session.scope.user_id)) or "",
        kind=kind,
        message_key=_whole_key(session, seen, kind, key, facts["body"]) if key else None,
        **facts,
    )
    session.add(update)
    return update


def _whole_key(session: ScopedSession, seen: Seen, kind: str, key: str, body: str) -> str:
    """A key is its person's for a reply or a note of these words to one request, and no other's.

    Who goes back to a form that has arrived and writes something else on it says that, too.
    """
    digest = sha256(f"{kind}:{body}".encode()).hexdigest()
    return f"{seen.request.id}:{session.scope.user_id}:{key[:LONGEST_KEY]}:{digest}"


def _find_said(
    session: ScopedSession, seen: Seen, kind: str, key: str, body: str
) -> RequestUpdate | None:
    if not key:
        return None
    return session.scalar(
        select(RequestUpdate).where(
            RequestUpdate.message_key == _whole_key(session, seen, kind, key, body),
            RequestUpdate.group_id == session.scope.group_id,
        )
    )


def _checked(words: str) -> str:
    words = clean_lines(words).strip()
    if not clean_line(words):
        raise InvalidInput("Write something first.", field="words")
    if len(words) > LONGEST_WORDS:
        raise InvalidInput(
            "That is too long: at most %(limit)d characters.", field="words", limit=LONGEST_WORDS
        )
    return words
