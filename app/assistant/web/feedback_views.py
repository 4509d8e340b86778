"""The thumbs under a reply, and the small form that asks what was wrong with it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.assistant.feedback.feedback import feedback_on, load_reply, rate_reply, withdraw_feedback
from app.assistant.models import Message
from app.errors import InvalidInput
from app.extensions import limit_person
from app.web.pages import db_session, is_htmx, require_role

blueprint = Blueprint(
    "feedback",
    __name__,
    url_prefix="/chat/<uuid:thread_id>/messages/<uuid:message_id>/feedback",
)


@blueprint.before_request
def signed_in_only() -> None:
    require_role()


@blueprint.get("")
def ask(thread_id: UUID, message_id: UUID) -> ResponseReturnValue:
    """The form; with `?closed`, the thumbs without it."""
    reply = load_reply(db_session(), thread_id, message_id)
    is_open = "closed" not in request.args
    return _drawn(reply, is_open=is_open, has_focus=not is_open)


@blueprint.post("")
@limit_person("60 per minute", "feedback")
def give(thread_id: UUID, message_id: UUID) -> ResponseReturnValue:
    """Keep, change or take back what the person thinks of a reply."""
    session, form = db_session(), request.form
    reply = load_reply(session, thread_id, message_id)
    rating, reason, comment = (form.get(name, "") for name in ("rating", "reason", "comment"))
    share = "share" in form
    try:
        if rating == "none":
            withdraw_feedback(session, reply)
        else:
            rate_reply(session, reply, rating, reason, comment, share=share)
    except InvalidInput as error:
        wrong = {error.field: _(error.message, **error.params)}
        said = {"rating": "down", "reason": reason, "comment": comment, "shared_answer": share}
        return _drawn(reply, is_open=True, said=said, errors=wrong), error.status
    if not is_htmx():
        back = url_for("chat.thread", thread_id=thread_id, _anchor=f"m-{message_id}")
        return redirect(back, 303)
    return _drawn(reply, has_focus=True, is_thanked=rating != "none")


def _drawn(reply: Message, said: dict[str, Any] | None = None, **state: Any) -> str:
    """The thumbs and the form, alone or on a page of their own."""
    given = said or feedback_on(db_session(), [reply]).get(reply.id)
    template = "chat/_feedback.html" if is_htmx() else "chat/feedback.html"
    return render_template(template, message=reply, feedback=given, **state)
