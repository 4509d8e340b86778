"""Answering a proposal by its buttons, on the page and over the JSON API."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from flask import Blueprint, flash, jsonify, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.assistant.models import Proposal
from app.assistant.proposals.decisions import CHANGED
from app.assistant.proposals.proposals import (
    bring_back,
    confirm,
    decline,
    load_proposal,
    proposal_part,
    receipt_part,
    undo,
)
from app.assistant.turns.events import EventLog
from app.assistant.web.presenters import view_part
from app.db import ScopedSession
from app.errors import ComandaError
from app.extensions import services
from app.web.pages import db_session, is_htmx, require_role, wants_json
from app.web.rate_limits import limit_decisions
from app.web.urls import with_urls

blueprint = Blueprint("proposals", __name__, url_prefix="/proposals")
api = Blueprint("proposals_api", __name__, url_prefix="/api/proposals")

Act = Callable[[ScopedSession, UUID], Proposal]
ACTIONS: dict[str, Act] = {
    "confirm": lambda session, id_: confirm(session, services().registry, id_),
    "decline": decline,
    "undo": lambda session, id_: undo(session, services().registry, id_),
    "bring-back": bring_back,
}
ACTION = "any(confirm, decline, undo, 'bring-back')"


@blueprint.before_request
@api.before_request
def signed_in_only() -> None:
    require_role()


@api.get("/<uuid:proposal_id>")
@blueprint.get("/<uuid:proposal_id>")
def show(proposal_id: UUID) -> ResponseReturnValue:
    """A proposal as it stands now; its page is the conversation it belongs to."""
    return _answer(load_proposal(db_session(), proposal_id))


@api.post(f"/<uuid:proposal_id>/<{ACTION}:action>")
@blueprint.post(f"/<uuid:proposal_id>/<{ACTION}:action>")
@limit_decisions
def act(proposal_id: UUID, action: str) -> ResponseReturnValue:
    """Confirm, decline, take back or open again; answers with the card that is left of it."""
    session = db_session()
    try:
        proposal = ACTIONS[action](session, proposal_id)
        session.commit()
    except ComandaError as error:
        session.rollback()
        if is_htmx() or wants_json() or error.status in (401, 404):
            raise
        flash(_(error.message, **error.params), "error")
        proposal = load_proposal(session, proposal_id)
    # Its person's other pages look again.
    EventLog(services().redis).announce(proposal.thread_id, CHANGED, {"by": str(proposal.id)})
    return _answer(proposal)


def _answer(proposal: Proposal) -> ResponseReturnValue:
    # What was confirmed in words has its receipt in the reply to them, with a button of its own.
    part = receipt_part(proposal) if proposal.state == "confirmed" else proposal_part(proposal)
    data = part.model_dump(mode="json")
    if wants_json():
        return jsonify(version="1.0", sessionId=str(proposal.thread_id), part=with_urls(data))
    view = view_part(data, services().registry)
    if view is None or not is_htmx():
        return redirect(url_for("chat.thread", thread_id=proposal.thread_id), 303)
    return render_template(view["template"], part=view["part"])
