"""The JSON contract of the ledger: POST /api/chat."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from flask_login import current_user
from pydantic import ValidationError

from app.assistant.models import Message
from app.assistant.proposals.proposals import confirm
from app.assistant.threads.threads import accept_message
from app.assistant.turns.ask import announce, turn_request, wait_for_reply
from app.assistant.turns.events import EventLog
from app.assistant.turns.language import detect_language
from app.db import new_id
from app.errors import InvalidInput
from app.extensions import limit_messages, services
from app.skills.expenses.web.chat_answers import (
    MODEL_FAILED,
    answer_of_confirmation,
    answer_of_reply,
    find_confirmed,
)
from app.skills.expenses.web.chat_body import ChatBody
from app.web import idempotency
from app.web.issued_ids import is_issued
from app.web.pages import choose_language, db_session, release_session, require_role

blueprint = Blueprint("expenses_api", __name__, url_prefix="/api")
Answer = tuple[dict[str, Any], int]


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
    answer, status = _confirm(body) if body.confirm else _converse(body, known)
    if known is not None and status == MODEL_FAILED:
        # "Try again" is meant with the same key, too.
        idempotency.forget(db_session(), key)
    elif known is not None:
        idempotency.finish(db_session(), key, answer, status)
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
    proposal_id = find_confirmed(session, on.registry, body.confirm)
    proposal = confirm(session, on.registry, proposal_id)
    session.commit()
    return answer_of_confirmation(proposal, choose_language()), 200


def _converse(body: ChatBody, keyed: idempotency.KeyedAnswer | None) -> Answer:
    """Run one turn, and tell what came of it in the fields of the contract.

    With a key its thread and its message are named after it, so that a repeated request, come
    while the first is being answered, asks nothing twice.
    """
    session, on = db_session(), services()
    words = body.words
    facts = turn_request(session, on.registry, None, None)
    if body.history is not None:
        facts["history"] = body.before
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
