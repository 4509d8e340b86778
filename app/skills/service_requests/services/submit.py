"""Filing a request: everything that belongs to it in one transaction, or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.dialects.postgresql import insert

from app.accounts.audit import record
from app.accounts.models import AuditEntry, User
from app.db import ScopedSession, new_id, utc_now
from app.errors import Conflict, InvalidInput
from app.fields.validation import check_form
from app.files.models import StoredFile
from app.skills.service_requests.models import RequestCounter, RequestUpdate, ServiceRequest
from app.skills.service_requests.notifications import tell_assigned
from app.skills.service_requests.services.deadline import due_from
from app.skills.service_requests.services.definitions import PRIORITY, TITLE, dump_request_fields
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.requests import ALREADY_FILED, find_filed
from app.skills.service_requests.services.type_catalog import load_type
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
)
from app.skills.service_requests.workflow.state_loader import load_state_at_head

FILE_OWNER = "service_request"


class RequestChanged(Conflict):
    """A request is not what its card showed: it is shown anew."""


# What the audit log calls it.
FILED = "service_request_submitted"


@dataclass(frozen=True)
class Filed:
    """A request that was filed; `attached` and `lost` are the names of its files."""

    request: ServiceRequest
    attached: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def digest_of_state(state: OpenRequest, *, is_solved: bool | None = None) -> str:
    """A mark of everything that is shown and filed; what has another one says something else.

    With `is_solved` as if that had been said of the solution.
    """
    path = [each.model_dump() for each in state.form.path]
    told: list[Any] = [state.begun_at, path, state.by_id, state.answers, _origins(state)]
    if state.resolution is not None:
        became = state.resolution.is_accepted if is_solved is None else is_solved
        told.append([state.resolution.answer, became])
    text_ = json.dumps(told, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text_.encode()).hexdigest()


def file_request(
    session: ScopedSession,
    thread_id: UUID,
    begun_at: UUID,
    values: Mapping[str, Any],
    language: str,
    digest: str = "",
) -> Filed:
    """File what a conversation has collected, as it was shown: `values` by field_id. Never commits.

    `digest` is that of all that was shown, answers too, where the caller knows it.

    The same step of the same conversation is one request, however often it is filed.

    Raises:
        Conflict: it was cancelled, or says something else by now.
        InvalidInput: a value cannot be taken any more; names the field.
    """
    known = find_filed(session, thread_id, begun_at)
    if known is not None:
        state = load_state_at_head(session, thread_id, language)
        is_so = known.values == dict(values) and _is_filed_so(session, known, state)
        if not is_so or (digest and digest != _digest_of_filed(session, known)):
            raise Conflict(ALREADY_FILED, number=known.reference)
        return Filed(known)
    state = load_state_at_head(session, thread_id, language)
    if isinstance(state, NoRequest) or state.begun_at != str(begun_at):
        raise Conflict("This request was canceled in the meantime, so nothing was filed.")
    _check(session, state, values, language)
    if digest and digest != digest_of_state(state):
        raise _changed()
    request = _write(session, state, thread_id, begun_at, language)
    attached, lost = _attach(session, request, state)
    _add_updates(session, request, _updates_of(state))
    record(session, FILED, request.reference, digest_of_state(state))
    tell_assigned(session, request)
    session.flush()
    return Filed(request, attached, lost)


def _digest_of_filed(session: ScopedSession, request: ServiceRequest) -> str:
    """The digest of all that was shown when a request of one's own was filed."""
    noted = select(AuditEntry.digest).where(
        AuditEntry.group_id == session.scope.group_id,
        AuditEntry.user_id == session.scope.user_id,
        AuditEntry.action == FILED,
        AuditEntry.subject == request.reference,
    )
    return session.scalar(noted.limit(1)) or ""


def _is_filed_so(
    session: ScopedSession, request: ServiceRequest, state: NoRequest | OpenRequest
) -> bool:
    """Whether a request says what its conversation says at its end, beside the values.

    A conversation whose earlier message was changed goes on with the same request under the
    same step, and may have other answers or another outcome.
    """
    if isinstance(state, NoRequest) or state.begun_at != str(request.begun_at):
        return True
    filed = session.execute(
        select(RequestUpdate.kind, RequestUpdate.question, RequestUpdate.body, RequestUpdate.after)
        .where(
            RequestUpdate.request_id == request.id,
            RequestUpdate.group_id == session.scope.group_id,
            RequestUpdate.kind.in_(("answer", "resolution")),
        )
        .order_by(RequestUpdate.id)
    )
    now = (
        (row["kind"], row.get("question", ""), row["body"], row.get("after", ""))
        for row in _updates_of(state)
    )
    return [tuple(row) for row in filed] == [*now]


def _check(
    session: ScopedSession, state: OpenRequest, shown: Mapping[str, Any], language: str
) -> None:
    """What is filed is what was shown, complete, and valid to this moment."""
    checked = check_form(state.form.form_fields, state.values, field_context(session, language))
    wrong = {**state.problems, **checked.problems}
    for each in state.form.fields:
        problem = wrong.get(each.field.name)
        if problem is not None:
            label = each.field.label.text(language)
            raise InvalidInput(
                "“%(label)s” has to be answered again, so nothing was filed yet. Write "
                "“go on” and I'll ask you for it.",
                field=str(each.field_id),
                label=label,
            )
    if dict(shown) != state.stored:
        raise _changed()


def _changed() -> RequestChanged:
    return RequestChanged("The request has changed since you saw it. Check it and answer again.")


def _write(
    session: ScopedSession, state: OpenRequest, thread_id: UUID, begun_at: UUID, language: str
) -> ServiceRequest:
    year = field_context(session, language).here.year
    # First, so that of several at once each sees whom the others were given to.
    number = _next_number(session, year)
    scope, now = session.scope, utc_now()
    found = load_type(session, state.form.type_id)
    is_solved = bool(state.resolution and state.resolution.is_accepted)
    team = found.team_id
    priority = str(state.values.get(PRIORITY, found.priority))
    request = ServiceRequest(
        id=new_id(),
        group_id=scope.group_id,
        user_id=scope.user_id,
        requester=session.scalar(select(User.name).where(User.id == scope.user_id)) or "",
        thread_id=thread_id,
        begun_at=begun_at,
        type_id=found.id,
        type_version=state.form.version,
        form=form_as_it_is(state),
        values=state.stored,
        origins=_origins(state),
        title=str(state.values.get(TITLE, "")),
        priority=priority,
        status="closed" if is_solved else "new",
        language=language,
        team_id=team,
        assignee_id=None if is_solved or team is None else _least_busy(session, team),
        year=year,
        number=number,
        is_ai_resolution_attempted=state.resolution is not None,
        is_ai_resolution_successful=is_solved,
        ai_resolution_confidence_score=state.confidence,
        due_at=due_from(now, found.sla_hours, found.priority, priority),
        submitted_at=now,
        resolved_at=now if is_solved else None,
        closed_at=now if is_solved else None,
    )
    session.add(request)
    session.flush()
    return request


def form_as_it_is(state: OpenRequest) -> dict[str, Any]:
    """What a request keeps of its form, so that it can be drawn whatever becomes of it."""
    return {
        "name": state.form.name.model_dump(),
        "path": [each.model_dump() for each in state.form.path],
        "icon": state.form.icon,
        "fields": dump_request_fields(state.form.fields),
    }


def _origins(state: OpenRequest) -> dict[str, Any]:
    """Where each value came from, by field_id."""
    return {
        str(each.field_id): {
            "by": told.by,
            **({"words": told.words} if told.words else {}),
            **({"is_inferred": True} if told.is_inferred else {}),
        }
        for each in state.fields
        if (told := state.told.get(each.field.name)) is not None
    }


def _least_busy(session: ScopedSession, team_id: UUID) -> UUID | None:
    found: UUID | None = session.scalar(text("SELECT least_busy_member(:team)"), {"team": team_id})
    return found


def _next_number(session: ScopedSession, year: int) -> int:
    """The next number of the group's year; whoever asks next waits until this one is written.

    So there are no gaps: a transaction that fails gives its number back.
    """
    mine = insert(RequestCounter).values(group_id=session.scope.group_id, year=year, last=1)
    counted = mine.on_conflict_do_update(
        index_elements=["group_id", "year"], set_={"last": RequestCounter.last + 1}
    )
    number: int = session.execute(counted.returning(RequestCounter.last)).scalar_one()
    return number


def _attach(
    session: ScopedSession, request: ServiceRequest, state: OpenRequest
) -> tuple[list[str], list[str]]:
    """From now on the files are the request's, and stay; the names of those kept and lost."""
    wanted = [
        each
        for field_ in state.fields
        if field_.field.type == "file" and field_.field.name in state.told
        for each in state.told[field_.field.name].value
    ]
    if not wanted:
        return [], []
    kept = set(
        session.scalars(
            update(StoredFile)
            .where(
                StoredFile.id.in_([UUID(each["id"]) for each in wanted]),
                StoredFile.group_id == session.scope.group_id,
                StoredFile.user_id == session.scope.user_id,
                StoredFile.owner_id.is_(None),
            )
            .values(state="kept", owner_kind=FILE_OWNER, owner_id=request.id)
            .returning(StoredFile.id)
        )
    )
    named = [(UUID(each["id"]) in kept, str(each["name"])) for each in wanted]
    return [n for is_kept, n in named if is_kept], [n for is_kept, n in named if not is_kept]


def _updates_of(state: OpenRequest) -> list[Mapping[str, str]]:
    """One row for each question and answer, and one for the solution that was proposed."""
    rows: list[Mapping[str, str]] = [
        {"kind": "answer", "question": question, "body": answer}
        for question, answer in state.answers
    ]
    if state.resolution is not None:
        after = "accepted" if state.resolution.is_accepted else "declined"
        rows.append({"kind": "resolution", "body": state.resolution.answer, "after": after})
    return rows


def _add_updates(
    session: ScopedSession, request: ServiceRequest, rows: Sequence[Mapping[str, str]]
) -> None:
    for row in rows:
        session.add(
            RequestUpdate(
                id=new_id(),
                group_id=request.group_id,
                request_id=request.id,
                author_id=request.user_id,
                author=request.requester,
                **row,
            )
        )
    session.flush()
