"""What about a reply, or about what was filed, is not as a conversation says it should be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.db import Database
from app.files.models import StoredFile
from app.skills.service_requests.models import (
    RequestType,
    RequestUpdate,
    ServiceRequest,
    TeamMember,
)
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.state import OpenRequest, RequestState, Told
from tests.acceptance.asking import Reply
from tests.acceptance.service_requests.conversation import Conversation
from tests.acceptance.service_requests.talking import Talk

FORBIDDEN = re.compile(
    r"is there anything else|more details|what else should|anything else\?"
    r"|algo más\?|más detalles|qué más deber",
    re.IGNORECASE,
)
PLAIN = ("priority", "status", "title", "language")


def problems(reply: Reply, state: RequestState, expected: Mapping[str, Any]) -> list[str]:
    """What about a reply, and what the request holds after it, is not as expected."""
    found = [*_always(reply, state), *_tools(reply, expected), *_words(reply, expected)]
    parts = [part["type"] for part in reply.body["parts"]]
    if "parts" in expected and parts != list(expected["parts"]):
        found.append(f"shows {parts}")
    phase = next_step(state).kind
    if expected.get("phase", phase) != phase:
        found.append(f"next is {phase}")
    told = state.told if isinstance(state, OpenRequest) else {}
    awaited = state.awaited if isinstance(state, OpenRequest) else ""
    if expected.get("asked", awaited) != awaited:
        found.append(f"asks for {awaited!r}")
    found += _values(told, expected.get("values", {}))
    if "inferred" in expected:
        inferred = [name for name, each in told.items() if each.is_inferred]
        found += [] if inferred == expected["inferred"] else [f"to be looked at: {inferred}"]
    return [f"{each}\n   {reply.tools} {reply.text!r}" for each in found]


def _always(reply: Reply, state: RequestState) -> Iterator[str]:
    """What holds of every reply."""
    if reply.status != "complete":
        yield f"the reply is {reply.status}"
    if not reply.text.strip() and not reply.body["parts"]:
        yield "says nothing"
    if FORBIDDEN.search(reply.text):
        yield "asks for nothing in particular"
    if isinstance(state, OpenRequest) and len(state.answers) > 3:
        yield "more than three questions were asked"
    waits = {"field_widget", "type_selector", "proposal"}
    parts = {part["type"] for part in reply.body["parts"]}
    goes_on = "?" in reply.text or parts & waits or reply.body["suggestions"]
    waits_for = state.asked_by if isinstance(state, OpenRequest) else not state.is_choosing
    if not goes_on and not waits_for:
        yield "leaves nothing to do next"


def _values(held_values: Mapping[str, Told], wanted: Mapping[str, Any]) -> Iterator[str]:
    for name, value in wanted.items():
        held = held_values[name].value if name in held_values else None
        if held != value:
            yield f"{name} is {held!r}, not {value!r}"


def _tools(reply: Reply, expected: Mapping[str, Any]) -> Iterator[str]:
    ran = iter(reply.tools)
    missing = [tool for tool in expected.get("tools", ()) if tool not in ran]
    yield from (f"{tool} did not run in its turn" for tool in missing)
    if expected.get("tools") == [] and reply.tools:
        yield "a tool ran"
    yield from (f"{tool} ran" for tool in expected.get("not_tools", ()) if tool in reply.tools)


def _words(reply: Reply, expected: Mapping[str, Any]) -> Iterator[str]:
    shown = f"{reply.text}\n{json.dumps(reply.body['parts'], ensure_ascii=False)}"
    for pattern in _listed(expected.get("told", ())):
        if not re.search(pattern, shown):
            yield f"does not say {pattern!r}"
    for pattern in _listed(expected.get("not_told", ())):
        if re.search(pattern, shown):
            yield f"says {pattern!r}"


def _listed(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else given


def wrongly_filed(owner: Database, talk: Talk, conversation: Conversation) -> list[str]:
    """What is wrong with the requests that this conversation has made."""
    with owner.transaction() as session:
        query = select(ServiceRequest).where(ServiceRequest.thread_id == talk.thread_id)
        rows = list(session.scalars(query.order_by(ServiceRequest.number)))
        if len(rows) != len(conversation.filed):
            return [f"{len(rows)} requests were filed, not {len(conversation.filed)}"]
        return [
            problem
            for row, wanted in zip(rows, conversation.filed, strict=True)
            for problem in (
                *_row(session, row, wanted),
                *_around(session, row, wanted),
                *_questions(session, row, wanted),
            )
        ]


def _row(session: Any, row: ServiceRequest, wanted: Mapping[str, Any]) -> Iterator[str]:
    """The request itself: its type, values by name, and what was tried to solve it."""
    names = {each["field_id"]: each["name"] for each in row.form["fields"]}
    held = {names[field_id]: value for field_id, value in row.values.items()}
    slug = session.scalar(select(RequestType.slug).where(RequestType.id == row.type_id))
    if slug != wanted["type"]:
        yield f"filed as {slug}"
    for name, value in wanted["values"].items():
        if held.get(name) != value:
            yield f"filed {name} {held.get(name)!r}, not {value!r}"
    if extra := set(held) - set(wanted["values"]) - set(wanted.get("attached", ())):
        yield f"filed {extra} too"
    if not re.fullmatch(r"SR-20\d\d-\d{6}", row.reference):
        yield f"the number is {row.reference}"
    for name in PLAIN:
        if name in wanted and getattr(row, name) != wanted[name]:
            yield f"{name} is {getattr(row, name)!r}"
    yield from _solution(row, wanted.get("tried", "no"))


def _solution(row: ServiceRequest, tried: str) -> Iterator[str]:
    """Whether a solution was shown, whether it helped, and what follows from that."""
    flags = (row.is_ai_resolution_attempted, row.is_ai_resolution_successful)
    if flags != (tried != "no", tried == "accepted"):
        yield f"a solution was tried and helped: {flags}"
    if tried != "no" and not row.ai_resolution_confidence_score:
        yield "how sure the solution was is not kept"
    is_closed = row.status == "closed" and row.closed_at is not None
    if is_closed != (tried == "accepted"):
        yield f"it is {row.status}"


def _around(session: Any, row: ServiceRequest, wanted: Mapping[str, Any]) -> Iterator[str]:
    """Who handles it, the log, and its files."""
    team = session.scalar(select(RequestType.team_id).where(RequestType.id == row.type_id))
    members = set(
        session.scalars(select(TeamMember.user_id).where(TeamMember.team_id == row.team_id))
    )
    if row.team_id != team or (row.status == "new" and row.assignee_id not in members):
        yield f"assigned to {row.assignee_id} of {members}"
    logged = session.scalars(
        select(AuditEntry.user_id).where(
            AuditEntry.action == "service_request_submitted",
            AuditEntry.subject == row.reference,
            AuditEntry.group_id == row.group_id,
        )
    ).all()
    if logged != [row.user_id]:
        yield f"the log has it {len(logged)} times"
    kept = session.scalars(
        select(StoredFile.name).where(StoredFile.owner_id == row.id, StoredFile.state == "kept")
    ).all()
    attached = [name for names in wanted.get("attached", {}).values() for name in names]
    if sorted(kept) != sorted(attached):
        yield f"attached {kept}"


def _questions(session: Any, row: ServiceRequest, wanted: Mapping[str, Any]) -> Iterator[str]:
    """One row for each question and its answer, and one for the solution."""
    rows = session.scalars(
        select(RequestUpdate)
        .where(RequestUpdate.request_id == row.id)
        .order_by(RequestUpdate.created_at, RequestUpdate.id)
    ).all()
    answered = [each for each in rows if each.kind == "answer"]
    if len(answered) != wanted.get("answers", 0):
        yield f"{len(answered)} questions were answered"
    if len({each.question for each in answered}) != len(answered):
        yield "a question was asked twice"
    yield from (f"asked {each.question}" for each in answered if FORBIDDEN.search(each.question))
    solved = [each.after for each in rows if each.kind == "resolution"]
    tried = wanted.get("tried", "no")
    if solved != ([] if tried == "no" else [tried]):
        yield f"solutions: {solved}"
