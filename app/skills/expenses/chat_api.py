"""The JSON contract of the ledger: POST /api/chat."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid4, uuid5

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from flask_login import current_user
from pydantic import ValidationError

from app import idempotency
from app.assistant.ask import announce, turn_request, wait_for_reply
from app.assistant.events import EventLog
from app.assistant.language import detect_language
from app.assistant.models import Message
from app.assistant.proposals import confirm
from app.assistant.threads import accept_message
from app.db import new_id
from app.errors import InvalidInput
from app.extensions import limiter, services
from app.skills.expenses.chat_answers import answer_of_confirmation, answer_of_reply, find_confirmed
from app.skills.expenses.chat_body import ChatBody
from app.web import choose_language, db_session, release_session, require_role

blueprint = Blueprint("expenses_api", __name__, url_prefix="/api")
Answer = tuple[dict[str, Any], int]


@blueprint.post("/chat")
@limiter.limit("60 per minute", key_func=lambda: str(getattr(current_user, "user_id", "")))
def chat() -> ResponseReturnValue:
    """Ask in words, or confirm what was proposed; see docs/expenses.md for the contract."""
    require_role()
    sent, body = _read_body()
    key = request.headers.get(idempotency.HEADER, "").strip()
    known = idempotency.begin(db_session(), key, sent) if key else None
    if known is None:
        known = _confirm(body) if body.confirm else _converse(body, key)
        if key:
            idempotency.finish(db_session(), key, *known)
    answer, status = known
    return jsonify(answer), status


def _read_body() -> tuple[Any, ChatBody]:
    """What was sent, and the same read; InvalidInput names the first field that is wrong."""
    try:
        sent = request.get_json(silent=True)
    except RecursionError:
        sent = None
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


def _converse(body: ChatBody, key: str) -> Answer:
    """Run one turn, and tell what came of it in the fields of the contract."""
    session, on = db_session(), services()
    words = body.words
    facts = turn_request(session, on.registry, None, None)
    if body.history is not None:
        facts["history"] = body.before
    accepted = accept_message(
        session,
        thread_id=body.sessionId or _new_thread(key),
        message=words,
        message_key=hashlib.sha256(key.encode()).hexdigest() if key else uuid4().hex,
        language=detect_language(words, current_user.language),
        request=facts,
    )
    events, scope = EventLog(on.redis), current_user.scope
    announce(events, accepted)
    release_session()
    seconds = on.settings.ai_turn_timeout_seconds + 15
    reply: Message = wait_for_reply(on.database, events, scope, accepted.reply, seconds)
    return answer_of_reply(db_session(), on.registry, reply, body)


def _new_thread(key: str) -> UUID:
    """The same for the same key, so that a repeated request asks nothing twice."""
    return uuid5(NAMESPACE_OID, f"{current_user.user_id}:{key}") if key else new_id()
