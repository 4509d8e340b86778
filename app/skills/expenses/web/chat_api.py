"""The JSON contract of the ledger, POST /api/chat: its body, the turn, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from flask_login import current_user
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from sqlalchemy import select

from app.assistant.models import Message, Proposal
from app.assistant.proposals.proposals import confirm, digest_of, receipt_of, receipt_part
from app.assistant.proposals.told_turns import digest_of_turn
from app.assistant.providers.base import ChatMessage
from app.assistant.threads.branches import said_up
from app.assistant.threads.threads import accept_message
from app.assistant.tools.registry import Registry, TurnInput
from app.assistant.tools.tool import WriteTool
from app.assistant.turns.ask import announce, turn_request, wait_for_reply
from app.assistant.turns.envelope import envelope
from app.assistant.turns.events import EventLog
from app.assistant.turns.language import detect_language
from app.assistant.usage.message_quotas import read_standing
from app.db import ScopedSession, new_id, utc_now
from app.errors import Conflict, InvalidInput
from app.extensions import services
from app.jobs.system_threads import RealThreads
from app.skills.expenses.nlu.hints import read_command_of
from app.skills.expenses.services.settings import load_ledger
from app.text.plain_text import clean_text
from app.web import idempotency
from app.web.issued_ids import is_issued
from app.web.pages import (
    choose_language,
    db_session,
    give_back_connection,
    release_session,
    require_role,
)
from app.web.rate_limits import limit_messages
from app.web.urls import with_urls

blueprint = Blueprint("expenses_api", __name__, url_prefix="/api")
Answer = tuple[dict[str, Any], int]

MOST_TURNS = 200
LONGEST_TURN = 20_000
# So much of the history is shown to a model, as of a conversation that is kept here.
SHOWN_TURNS, LONGEST_SHOWN = 20, 2_000
ADD = "add_expense"
# By tool: the field that tells of a write, and of what was looked up.
WRITTEN = {ADD: "added", "update_expense": "updated", "delete_expense": "deleted"}
LOOKED_UP = {"list_expenses": "listed", "get_balance": "balance"}
STATUS = {"forbidden": 403, "not_found": 404, "conflict": 409, "invalid_input": 422}
MODEL_FAILED = 502
_READING = RealThreads(1, holds_nothing=True)
RETRY_SECONDS = 30


class HistoryMessage(BaseModel):
    """One message of a conversation that the client keeps."""

    model_config = ConfigDict(extra="forbid")
    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=LONGEST_TURN)]


class Confirmation(BaseModel):
    """Which proposal is confirmed: by its id, or by its tool and exact arguments."""

    model_config = ConfigDict(extra="forbid")
    proposal_id: UUID | None = None
    tool: str | None = None
    args: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Confirmation:
        named = self.tool is not None and self.args is not None
        if named == (self.proposal_id is not None) or (self.tool is None) != (self.args is None):
            raise ValueError("either proposal_id, or tool and args")
        return self


class ChatBody(BaseModel):
    """A message, a history that ends in one, or a confirmation.

    `userContext` is taken and never used: whom it is for stands in the session. `replyTo` is the
    `message_id` of the reply that the message answers.
    """

    model_config = ConfigDict(extra="forbid")
    history: Annotated[list[HistoryMessage] | None, Field(max_length=MOST_TURNS)] = None
    message: str | None = None
    question: str | None = None
    userContext: Any = None  # noqa: N815 - the contract spells it so
    confirm: Confirmation | None = None
    sessionId: UUID | None = None  # noqa: N815
    replyTo: UUID | None = None  # noqa: N815

    @property
    def words(self) -> str:
        """The message: the history's last turn of the user's, else what is given beside it."""
        last = self._last
        if last is not None and self.history is not None:
            return self.history[last].content
        return self.message if self.message is not None else self.question or ""

    @property
    def before(self) -> list[HistoryMessage]:
        """The turns before the message."""
        turns = (self.history or [])[: self._last]
        return [turn for turn in turns if turn.content.strip()]

    @property
    def shown(self) -> list[dict[str, str]]:
        """The same, as a model is shown them."""
        return [
            {"role": turn.role, "content": clean_text(turn.content[:LONGEST_SHOWN])}
            for turn in self.before[-SHOWN_TURNS:]
        ]

    @property
    def tells_turns(self) -> bool:
        """Whether the history has more than the message, be it a reply alone."""
        return len(self.history or []) > (self._last is not None)

    @property
    def told_last(self) -> str:
        """The digest of the reply that the message follows; "" where it follows none, or more
        turns follow it."""
        turns = self.history or []
        place = len(turns) if self._last is None else self._last
        before = turns[place - 1] if place else None
        is_last = place >= len(turns) - 1
        is_reply = before is not None and before.role == "assistant"
        return (
            digest_of_turn(before.role, before.content)
            if before is not None and is_reply and is_last
            else ""
        )

    @property
    def told(self) -> dict[str, Any]:
        """What the turn is given of the history; see app.assistant.proposals.told_turns."""
        answered = {"reply_to": str(self.replyTo)} if self.replyTo else {}
        if self.history is None:
            return answered
        return {
            "history": self.shown,
            "tells_turns": self.tells_turns,
            "told": [digest_of_turn(turn.role, turn.content) for turn in self.before],
            "told_last": self.told_last,
            **answered,
        }

    @property
    def _last(self) -> int | None:
        places = [n for n, turn in enumerate(self.history or []) if turn.role == "user"]
        return places[-1] if places else None


@blueprint.post("/chat")
@limit_messages
def chat() -> ResponseReturnValue:
    """Ask in words, or confirm what was proposed; see docs/expenses.md for the contract."""
    require_role()
    sent, body = _read_body()
    key = request.headers.get(idempotency.HEADER, "").strip()
    known = idempotency.begin(db_session(), key, sent) if key else None
    if known is not None and known.status is not None:
        return jsonify(known.body), known.status
    # By its id: the row of the key may be another one by the time that this is answered.
    answer_id = known.id if known is not None else None
    answer, status = _confirm(body) if body.confirm else _converse(body, known)
    if answer_id is not None and status == MODEL_FAILED:
        # "Try again" is meant with the same key, too.
        idempotency.forget(db_session(), answer_id)
    elif answer_id is not None:
        idempotency.finish(db_session(), answer_id, answer, status)
    return jsonify(answer), status


def _read_body() -> tuple[Any, ChatBody]:
    """What was sent, and the same read; InvalidInput names the first field that is wrong."""
    sent = request.get_json(silent=True)
    if not isinstance(sent, dict):
        raise InvalidInput("The body must be a JSON object.")
    try:
        return sent, ChatBody.model_validate(sent)
    except ValidationError as error:
        field = ".".join(str(step) for step in error.errors()[0]["loc"]) or "message"
        raise InvalidInput("The field %(name)s is not valid.", field=field, name=field) from None


def _confirm(body: ChatBody) -> Answer:
    """Do exactly what was proposed, without any model."""
    assert body.confirm is not None
    session, on = db_session(), services()
    proposal_id = find_confirmed(session, on.registry, body.confirm, body.sessionId)
    proposal = confirm(session, on.registry, proposal_id)
    if proposal.undone_at is not None:
        raise Conflict("This has since been undone. Check the list before you ask for it again.")
    session.commit()
    return answer_of_confirmation(proposal, choose_language()), 200


def _converse(body: ChatBody, keyed: idempotency.KeyedAnswer | None) -> Answer:
    """Run one turn, and tell what came of it in the fields of the contract.

    With a key its thread and its message are named after it, so that a repeated request, come
    while the first is being answered, asks nothing twice.
    """
    session, on = db_session(), services()
    words = body.words
    facts = turn_request(session, on.registry, None, None) | body.told
    thread_id = body.sessionId or (keyed.id if keyed else new_id())
    accepted = accept_message(
        session,
        thread_id=thread_id,
        may_begin=body.sessionId is None or is_issued(thread_id),
        message=words,
        message_key=keyed.id.hex if keyed else uuid4().hex,
        language=detect_language(words, current_user.language),
        request=facts,
    )
    events, scope = EventLog(on.redis), current_user.scope
    announce(events, accepted)
    release_session()
    seconds = on.settings.ai_turn_timeout_seconds + 15
    reply: Message = wait_for_reply(on.database, events, scope, accepted.reply, seconds)
    return answer_of_reply(db_session(), on.registry, reply, body)


def find_confirmed(
    session: ScopedSession,
    registry: Registry,
    confirmation: Confirmation,
    thread_id: UUID | None = None,
) -> UUID:
    """The id of the person's own proposal that is meant, in one conversation if that is named.

    Raises:
        InvalidInput: no such tool, or arguments that it does not take, with the field.
        Conflict: nothing like that was proposed to this person, or it is open more than once.
    """
    mine = (
        Proposal.group_id == session.scope.group_id,
        Proposal.user_id == session.scope.user_id,
    )
    query = select(Proposal.id).where(*mine)
    if thread_id is not None:
        query = query.where(Proposal.thread_id == thread_id)
    if confirmation.proposal_id is not None:
        query = query.where(Proposal.id == confirmation.proposal_id)
    else:
        query = query.where(Proposal.digest == _digest(registry, confirmation))
        # An open one before those that have been answered, or have run out.
        is_open = (Proposal.state == "pending") & (Proposal.expires_at > utc_now())
        # Whoever repeats a confirmation means the same one: of two, neither is taken for it.
        if len(session.scalars(query.where(is_open).limit(2)).all()) > 1:
            raise Conflict(
                "More than one proposal like this is waiting. Confirm one by its proposal_id."
            )
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
    if proposal.undone_at is not None:
        return {"undone": {"id": str(proposal.id)}}
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
    known = ledger.for_reading()
    give_back_connection()
    # Of twenty messages a third of a second, in which a worker would answer nobody else.
    command = _READING.run(lambda: read_command_of(turn, known, ledger.currency))
    return (
        {"attemptedAdd": command.arguments} if command is not None and command.tool == ADD else {}
    )


def _said_before(session: ScopedSession, reply: Message) -> list[dict[str, str]]:
    question = session.get(Message, reply.parent_id)
    before = said_up(session, question.parent_id, SHOWN_TURNS) if question else []
    return [{"role": said.role, "content": said.content} for said in before]


def _turn_input(session: ScopedSession, reply: Message, body: ChatBody, today: date) -> TurnInput:
    said = body.shown if body.history is not None else _said_before(session, reply)
    return TurnInput(
        body.words,
        reply.language,
        today,
        tuple(
            ChatMessage("user" if turn["role"] == "user" else "assistant", turn["content"])
            for turn in said
        ),
    )
