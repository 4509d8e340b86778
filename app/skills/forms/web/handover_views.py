"""The button of a form's card, and the link that it leads to."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.errors import InvalidInput
from app.extensions import limit_person
from app.skills.forms.services.handover import hand_over, take_over
from app.web.pages import choose_language, db_session, require_role

blueprint = Blueprint("form_handover", __name__, url_prefix="/forms")


@blueprint.post("/<slug>/open")
@limit_person("60 per minute", "form handovers")
def open_form(slug: str) -> ResponseReturnValue:
    """Hand what was said in a message over to a form."""
    require_role()
    message_id = request.form.get("message_id", type=UUID)
    if message_id is None:
        raise InvalidInput("This request could not be read. Reload the page and try again.")
    handover = hand_over(db_session(), slug, message_id)
    return redirect(url_for(".receive", handover_id=handover.id), 303)


@blueprint.get("/handover/<uuid:handover_id>")
def receive(handover_id: UUID) -> ResponseReturnValue:
    """Go on to the form that was handed something over, which then begins to be filled in."""
    require_role()
    taken = take_over(db_session(), handover_id)
    if taken.limit:
        flash(_(taken.limit.message, **taken.limit.told(choose_language())), "warn")
    return redirect(url_for("forms.fill", draft_id=taken.draft_id), 303)
