"""What POST /api/chat answers: the envelope, with what came of the ledger's tools."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import select

from app.assistant.models import Message, Proposal
from app.assistant.proposals.proposals import digest_of, receipt_of, receipt_part
from app.assistant.providers.base import ChatMessage
from app.assistant.threads.branches import said_up
from app.assistant.tools.registry import Registry, TurnInput
from app.assistant.tools.tool import WriteTool
from app.assistant.turns.envelope import envelope
from app.assistant.usage.limits import read_standing
from app.db import ScopedSession, utc_now
from app.errors import Conflict, InvalidInput
from app.skills.expenses.nlu.hints import read_command_of
from app.skills.expenses.services.settings import load_ledger
from app.skills.expenses.web.chat_body import SHOWN_TURNS, ChatBody, Confirmation
from app.web.urls import with_urls

ADD = "add_expense"
# By tool: the field that tells of a write, and of what was looked up.
WRITTEN = {ADD: "added", "update_expense": "updated", "delete_expense": "deleted"}
LOOKED_UP = {"list_expenses": "listed", "get_balance": "balance"}
STATUS = {"forbidden": 403, "not_found": 404, "conflict": 409, "invalid_input": 422}
MODEL_FAILED = 502
RETRY_SECONDS = 30


def find_confirmed(session: ScopedSession, registry: Registry, confirmation: Confirmation) -> UUID:
    """The id of the person's own proposal that is meant.

    Raises:
        InvalidInput: no such tool, or arguments that it does not take, with the field.
        Conflict: nothing like that was proposed to this person.
    """
    mine = (
        Proposal.group_id == session.scope.group_id,
        Proposal.user_id == session.scope.user_id,
    )
    query = select(Proposal.id).where(*mine)
    if confirmation.proposal_id is not None:
        query = query.where(Proposal.id == confirmation.proposal_id)
    else:
        query = query.where(Proposal.digest == _digest(registry, confirmation))
        # An open one before those that have been answered, or have run out.
        is_open = (Proposal.state == "pending") & (Proposal.expires_at > utc_now())
        query = query.order_by(is_open.desc(), Proposal.created_at.desc())
    found = session.scalar(query.limit(1))
    if found is None:
        raise Conflict(
            "There is no open proposal like that. Ask again, and confirm what you are shown."
        )
    return found


def _digest(registry: Registry, confirmation: Confirmation) -> str:
    tool = registry.tools.get(confirmation.tool or "")
    if not isinstance(tool, WriteTool):
        raise InvalidInput("There is no such tool.", field="confirm.tool")
    try:
        arguments = tool.arguments.model_validate(confirmation.args)
    except ValidationError as error:
        steps = ".".join(str(step) for step in error.errors()[0]["loc"])
        field = f"confirm.args.{steps}".rstrip(".")
        raise InvalidInput("The field %(name)s is not valid.", field=field, name=field) from None
    return digest_of(tool.name, arguments.model_dump(mode="json", exclude_none=True))


def answer_of_confirmation(proposal: Proposal, language: str) -> dict[str, Any]:
    """What was done, in the shape of a reply; no model was asked."""
    receipt = receipt_of(proposal)
    said = receipt.summary[language]
    thread, reply = str(proposal.thread_id), str(proposal.message_id)
    return {
        "version": "1.0",
        "message": said,
        "answer": said,
        "language": language,
        "mode": "action",
        "session_id": thread,
        "sessionId": thread,
        "message_id": reply,
        "status": "complete",
        "citations": [],
        "parts": with_urls([receipt_part(proposal).model_dump(mode="json")]),
        "suggestions": [],
        "actions": [],
        "usage": None,
        "degraded": False,
        **_written(proposal),
    }


def _written(proposal: Proposal) -> dict[str, Any]:
    receipt = receipt_of(proposal)
    ids = receipt.kept.get("ids", [receipt.result_id])
    arguments = dict(proposal.arguments)
    more = arguments.pop("more", [])
    if proposal.tool != ADD:
        return {WRITTEN.get(proposal.tool, "done"): {**arguments, "id": receipt.result_id}}
    rows = [
        {**row, "id": expense_id} for row, expense_id in zip([arguments, *more], ids, strict=False)
    ]
    return {"added": rows[0] if len(rows) == 1 else rows}


def answer_of_reply(
    session: ScopedSession, registry: Registry, reply: Message, body: ChatBody
) -> tuple[dict[str, Any], int]:
    """The finished reply with the fields of the contract, and the status that it has."""
    answer = envelope(reply, read_standing(session).nearest).model_dump(mode="json")
    proposed = _proposed(session, reply)
    # What was written is told whatever became of the rest: who is told to try again writes twice.
    if proposed is not None and proposed.receipt:
        return {**answer, **_written(proposed)}, 200
    if reply.status in ("failed", "interrupted"):
        return {
            **answer,
            "error": True,
            "code": "model_failed",
            "retryAfter": RETRY_SECONDS,
            **_attempted(session, reply, body),
        }, MODEL_FAILED
    if proposed is not None:
        gate = {"id": str(proposed.id), "tool": proposed.tool, "args": proposed.arguments}
        attempted = {"attemptedAdd": proposed.arguments} if proposed.tool == ADD else {}
        return {**answer, "confirmationRequired": True, "proposal": gate, **attempted}, 200
    looked_up = _looked_up(reply)
    # Who looked only to change something is told why it was not changed.
    if looked_up and _last_call(reply).get("code") not in STATUS:
        return {**answer, **looked_up}, 200
    return _not_done(session, reply, body, answer)


def _not_done(
    session: ScopedSession, reply: Message, body: ChatBody, answer: dict[str, Any]
) -> tuple[dict[str, Any], int]:
    """A question back, a refusal, or an answer about something else."""
    attempted = _attempted(session, reply, body)
    last = _last_call(reply)
    code = str(last.get("code", ""))
    if code in STATUS:
        error = {"error": True, "code": code}
        if last.get("field"):
            error |= {"field": last["field"]}
        return {**answer, **error, **attempted}, STATUS[code]
    return {**answer, "confirmationRequired": False, **attempted}, 200


def _last_call(reply: Message) -> Mapping[str, Any]:
    """What the trace has of the last of the ledger's tools that was called."""
    ours = [entry for entry in reply.tool_trace if entry["tool"] in {**WRITTEN, **LOOKED_UP}]
    return ours[-1] if ours else {}


def _proposed(session: ScopedSession, reply: Message) -> Proposal | None:
    """The newest of what this reply proposed or did."""
    shown = [UUID(part["proposal_id"]) for part in reply.parts if "proposal_id" in part]
    if not shown:
        return None
    return session.scalar(
        select(Proposal).where(
            Proposal.id == shown[-1],
            Proposal.group_id == session.scope.group_id,
            Proposal.user_id == session.scope.user_id,
        )
    )


def _looked_up(reply: Message) -> dict[str, Any]:
    parts = [part for part in reply.parts if part.get("type") == "expense_list"]
    done = [e["tool"] for e in reply.tool_trace if e["ok"] and e["tool"] in LOOKED_UP]
    if not done:
        return {}
    found: Mapping[str, Any] = parts[-1] if parts else {"count": 0, "totals": [], "rows": []}
    names = (
        ("count", "totals", "by_category")
        if done[-1] == "get_balance"
        else ("count", "totals", "rows")
    )
    return {LOOKED_UP[done[-1]]: {name: found.get(name, []) for name in names}}


def _attempted(session: ScopedSession, reply: Message, body: ChatBody) -> dict[str, Any]:
    """What is known of an expense that was to be added and was not."""
    asked = [entry["args"] for entry in reply.tool_trace if entry["tool"] == ADD and entry["args"]]
    if asked:
        return {"attemptedAdd": asked[-1]}
    ledger = load_ledger(session)
    turn = _turn_input(session, reply, body, ledger.today)
    command = read_command_of(turn, ledger.for_reading(), ledger.currency)
    return (
        {"attemptedAdd": command.arguments} if command is not None and command.tool == ADD else {}
    )


def _said_before(session: ScopedSession, reply: Message) -> list[dict[str, str]]:
    question = session.get(Message, reply.parent_id)
    before = said_up(session, question.parent_id, SHOWN_TURNS) if question else []
    return [{"role": said.role, "content": said.content} for said in before]


def _turn_input(session: ScopedSession, reply: Message, body: ChatBody, today: date) -> TurnInput:
    said = body.before if body.history is not None else _said_before(session, reply)
    return TurnInput(
        body.words,
        reply.language,
        today,
        tuple(
            ChatMessage("user" if turn["role"] == "user" else "assistant", turn["content"])
            for turn in said
        ),
    )
