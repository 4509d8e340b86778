"""The JSON API of the assistant: POST /api/ask."""

from __future__ import annotations

from uuid import UUID, uuid4

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from flask_login import current_user
from pydantic import ValidationError

from app.assistant.threads.threads import accept_message
from app.assistant.turns.ask import AskRequest, announce, turn_request, wait_for_reply
from app.assistant.turns.envelope import envelope
from app.assistant.turns.events import EventLog
from app.assistant.turns.language import detect_language
from app.assistant.usage.message_quotas import read_standing
from app.errors import InvalidInput
from app.extensions import services
from app.web.issued_ids import id_of_key, is_issued, issue_id
from app.web.pages import db_session, release_session, require_role
from app.web.rate_limits import limit_messages

blueprint = Blueprint("api", __name__, url_prefix="/api")


@blueprint.post("/ask")
@limit_messages
def ask() -> ResponseReturnValue:
    """Run one turn and return its envelope."""
    require_role()
    body = _read_body()
    session, on = db_session(), services()
    thread_id = body.sessionId or _thread_of_key(body.message_key)
    accepted = accept_message(
        session,
        thread_id=thread_id,
        may_begin=is_issued(thread_id),
        message=body.words,
        message_key=body.message_key or uuid4().hex,
        language=body.language or detect_language(body.words, current_user.language),
        request=turn_request(session, on.registry, body.domain, body.action),
    )
    events = EventLog(on.redis)
    announce(events, accepted)
    release_session()
    seconds = on.settings.ai_turn_timeout_seconds + 15
    reply = wait_for_reply(on.database, events, current_user.scope, accepted.reply, seconds)
    usage = read_standing(db_session()).nearest
    return jsonify(envelope(reply, usage).model_dump(mode="json"))


def _thread_of_key(message_key: str | None) -> UUID:
    """A new conversation; that of the same key is the same, for a request that comes twice."""
    return id_of_key(message_key) if message_key else issue_id()


def _read_body() -> AskRequest:
    """The body, or InvalidInput that names the first field that is wrong."""
    data = request.get_json(silent=True)
    if not isinstance(data, dict):
        raise InvalidInput("The body must be a JSON object.")
    try:
        return AskRequest.model_validate(data)
    except ValidationError as error:
        field = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise InvalidInput("The field %(name)s is not valid.", field=field, name=field) from None
