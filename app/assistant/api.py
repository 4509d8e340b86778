"""The JSON API of the assistant: POST /api/ask."""

from __future__ import annotations

from uuid import uuid4

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from flask_login import current_user
from pydantic import ValidationError

from app.assistant.ask import AskRequest, announce, turn_request, wait_for_reply
from app.assistant.envelope import envelope
from app.assistant.events import EventLog
from app.assistant.language import detect_language
from app.assistant.limits import read_standing
from app.assistant.threads import accept_message
from app.db import new_id
from app.errors import InvalidInput
from app.extensions import limiter, services
from app.web import db_session, release_session, require_role

blueprint = Blueprint("api", __name__, url_prefix="/api")


@blueprint.post("/ask")
@limiter.limit("60 per minute", key_func=lambda: str(getattr(current_user, "user_id", "")))
def ask() -> ResponseReturnValue:
    """Run one turn and return its envelope."""
    require_role()
    body = _read_body()
    session, on = db_session(), services()
    accepted = accept_message(
        session,
        thread_id=body.sessionId or new_id(),
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


def _read_body() -> AskRequest:
    """The body, or InvalidInput that names the first field that is wrong."""
    try:
        data = request.get_json(silent=True)
    except RecursionError:
        data = None
    if not isinstance(data, dict):
        raise InvalidInput("The body must be a JSON object.")
    try:
        return AskRequest.model_validate(data)
    except ValidationError as error:
        field = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise InvalidInput("The field %(name)s is not valid.", field=field, name=field) from None
