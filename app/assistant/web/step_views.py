"""What widgets post to a conversation: {content, internal_content, message_key}."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import flash, jsonify, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.threads.step_posts import accept_step
from app.assistant.threads.threads import Accepted
from app.assistant.turns.ask import announce
from app.assistant.turns.events import EventLog
from app.assistant.web.conversation import exchange
from app.errors import Conflict, InvalidInput
from app.extensions import services
from app.text.json_text import parse_json
from app.web.pages import choose_language, db_session, is_htmx


def post_step(thread_id: UUID) -> ResponseReturnValue:
    """Take a step; what is wrong with it is told beside its widget, which keeps what it holds."""
    try:
        accepted = _accept(thread_id)
    except (InvalidInput, Conflict) as error:
        if request.is_json:
            return _refused(error)
        if is_htmx():
            raise
        flash(_(error.message, **error.params), "error")
        return redirect(url_for("chat.thread", thread_id=thread_id), HTTPStatus.SEE_OTHER)
    if not accepted.repeated:
        announce(EventLog(services().redis), accepted)
    if request.is_json:
        told = {"message_id": str(accepted.message.id), "reply_id": str(accepted.reply.id)}
        return jsonify(version="1.0", sessionId=str(thread_id), **told)
    if not is_htmx():
        return redirect(url_for("chat.thread", thread_id=thread_id), HTTPStatus.SEE_OTHER)
    return exchange(accepted)


def _accept(thread_id: UUID) -> Accepted:
    sent: Any = _read(request.get_data(as_text=True)) if request.is_json else request.form
    if not hasattr(sent, "get"):
        raise InvalidInput("The body must be a JSON object.")
    internal = sent.get("internal_content")
    if isinstance(internal, str):
        internal = _read(internal)
    if not isinstance(internal, dict):
        raise InvalidInput("This request could not be read. Reload the page and try again.")
    key = sent.get("message_key")
    with force_locale(choose_language()):
        return accept_step(
            db_session(),
            services().registry.steps,
            thread_id=thread_id,
            internal=internal,
            message_key=str(key) if key else None,
            form=None if request.is_json else request.form,
        )


def _read(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _refused(error: InvalidInput | Conflict) -> ResponseReturnValue:
    message = _(error.message, **error.params)
    body: dict[str, Any] = {"error": True, "code": error.code, "message": message, "errors": {}}
    if error.field:
        body |= {"field_id": error.field, "errors": {error.field: message}}
    return jsonify(body), error.status
