"""What is said to the assistant beside a form; its answers come as those of the chat do."""

from __future__ import annotations

from uuid import UUID

from flask import redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from app.assistant.threads.threads import Accepted
from app.assistant.turns.ask import announce
from app.assistant.turns.events import EventLog
from app.assistant.turns.language import detect_language
from app.assistant.web.conversation import another_branch, exchange
from app.extensions import limit_messages, services
from app.skills.forms.services.draft_writer import lock_draft
from app.skills.forms.web.blueprint import blueprint
from app.skills.forms.workflow.conversation import tell_assistant
from app.web.issued_ids import is_issued
from app.web.pages import db_session, is_htmx


@blueprint.post("/drafts/<uuid:draft_id>/ask")
@limit_messages
def ask(draft_id: UUID) -> ResponseReturnValue:
    """Take a message for the form's assistant; the first one may begin the draft, too."""
    accepted = _accept(draft_id)
    if request.form.get("edits") and not accepted.repeated:
        return another_branch(accepted.thread)
    announce(EventLog(services().redis), accepted)
    if not is_htmx():
        return redirect(url_for(".fill", draft_id=draft_id), 303)
    return exchange(accepted)


def _accept(draft_id: UUID) -> Accepted:
    """Store the message and queue its turn; the draft is stored with it."""
    session, form = db_session(), request.form
    draft, _is_new = lock_draft(session, draft_id, form, may_begin=is_issued(draft_id))
    words = form.get("message", "")
    return tell_assistant(
        session,
        draft,
        words,
        detect_language(words, current_user.language),
        form.get("message_key") or None,
        form.get("edits", type=UUID),
    )
