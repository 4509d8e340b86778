"""The feedback inbox: what was said of replies, dealt with, and made into test sentences."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.form_pages import moment_in_words, page
from app.admin import figures
from app.assistant.feedback.feedback import MISSING, RATINGS, REASONS
from app.assistant.feedback.inbox import (
    PAGE_FEEDBACK,
    STATES,
    Seen,
    Withdrawn,
    handle_feedback,
    load_feedback,
    make_sentence,
    received_feedback,
    reopen_feedback,
    tally_feedback,
)
from app.errors import ComandaError, Conflict, InvalidInput, NotFound
from app.extensions import services
from app.retrieval.team_words import add_team_word, list_team_words, remove_team_word
from app.web.pages import db_session, require_role
from app.web.rate_limits import limit_building

blueprint = Blueprint("inbox", __name__, url_prefix="/admin/feedback")


@blueprint.before_request
def admins_only() -> None:
    require_role("admin")


@blueprint.get("")
def index() -> ResponseReturnValue:
    """What people said of their replies, the newest first."""
    return _inbox_page()


@blueprint.get("/unanswered")
def unanswered() -> ResponseReturnValue:
    """What people asked and no document says, with what can be done about each."""
    return _inbox_page()


@blueprint.post("/<uuid:feedback_id>/handle")
def handle(feedback_id: UUID) -> ResponseReturnValue:
    """Note that it has been dealt with, as its admin has read it."""
    try:
        handle_feedback(db_session(), feedback_id, _seen())
    except Conflict as error:
        flash(_(error.message, **error.params), "error")
        return _back(f"f-{feedback_id}")
    flash(_("Marked as handled."), "success")
    return _back()


@blueprint.post("/<uuid:feedback_id>/reopen")
def reopen(feedback_id: UUID) -> ResponseReturnValue:
    """Take that back."""
    reopen_feedback(db_session(), feedback_id)
    flash(_("It is open again."), "success")
    return _back()


@blueprint.post("/<uuid:feedback_id>/sentence")
def sentence(feedback_id: UUID) -> ResponseReturnValue:
    """Make a test sentence of it."""
    form = request.form
    try:
        is_new = make_sentence(
            db_session(),
            feedback_id,
            seen=Seen(_seen(), shared="shared" in form),
            text=form.get("text", ""),
            language=form.get("language", ""),
            tools=form.getlist("tools"),
            phrases=form.get("phrases", ""),
            known_tools=tuple(services().registry.tools),
        )
    except Withdrawn as error:
        # Not shown with what was sent: that may be words which are shared no more.
        flash(_(error.message), "error")
        return _back(f"f-{feedback_id}")
    except (Conflict, InvalidInput) as error:
        return _inbox_page(error, feedback_id)
    saved, known = _("Saved as a test sentence."), _("This test sentence already exists.")
    flash(saved if is_new else known, "success" if is_new else "info")
    return _back(f"f-{feedback_id}")


@blueprint.post("/words")
@limit_building
def add_word() -> ResponseReturnValue:
    """Have one thing searched for whenever another is said."""
    said, means = request.form.get("said", ""), request.form.get("means", "")
    asked_in = request.form.get("feedback_id", type=UUID)
    try:
        word = add_team_word(db_session(), said, means)
    except (Conflict, InvalidInput) as error:
        db_session().rollback()
        return _inbox_page(error, asked_in, reason=MISSING)
    flash(
        _("“%(said)s” now searches for “%(means)s”.", said=word.said, means=word.means), "success"
    )
    return _back(f"f-{asked_in}" if asked_in else "words", MISSING)


@blueprint.post("/words/<uuid:word_id>/remove")
@limit_building
def remove_word(word_id: UUID) -> ResponseReturnValue:
    """Search for it as it is said again."""
    try:
        said = remove_team_word(db_session(), word_id)
    except NotFound as error:
        flash(_(error.message), "info")
    else:
        flash(_("“%(said)s” is searched for as it is written again.", said=said), "success")
    return _back("words", MISSING)


def reason_word(reason: str) -> str:
    """What was wrong, in the words that the person chose."""
    words = {
        "wrong": _("Wrong"),
        "not_asked": _("Not what I asked"),
        "outdated": _("Out of date"),
        "unclear": _("Hard to understand"),
        MISSING: _("Information is missing"),
        "other": _("Something else"),
    }
    return words.get(reason, "")


def _inbox_page(
    error: ComandaError | None = None, wrong_id: UUID | None = None, reason: str = ""
) -> ResponseReturnValue:
    """The inbox; with an error, the one card it belongs to, as it was filled in."""
    session, chosen = db_session(), _chosen(reason)
    if wrong_id is None:
        wanted = {name: value or None for name, value in chosen.items()}
        wanted["state"] = None if chosen["state"] == "all" else chosen["state"]
        before = request.args.get("before", type=UUID)
        found = received_feedback(session, before=before, **wanted)  # type: ignore[arg-type]
    else:
        found = [load_feedback(session, wrong_id)]
    older = urlencode({**chosen, "before": found[-1].id}) if len(found) == PAGE_FEEDBACK else ""
    own = _is_unanswered(chosen)
    return page(
        "admin/unanswered.html" if own else "admin/feedback.html",
        error,
        found=found,
        chosen=chosen,
        kept=urlencode(chosen),
        older=f"{_address(chosen)}?{older}" if older else "",
        tally=tally_feedback(session),
        team_words=list_team_words(session) if own else (),
        reasons={reason: reason_word(reason) for reason in REASONS},
        tools=list(services().registry.tools),
        figures=figures,
        moment_in_words=moment_in_words,
    )


def _seen() -> datetime:
    """When what the page showed had been said; long ago, where the form does not say."""
    try:
        return datetime.fromisoformat(request.form.get("given_at", ""))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _filters(said: Any) -> dict[str, str]:
    """What the list is limited to; what is no such thing limits nothing, but to what is open."""
    offered = {"state": (*STATES, "all"), "rating": RATINGS, "reason": REASONS}
    chosen = {name: said.get(name, "") for name in offered}
    chosen = {name: value if value in offered[name] else "" for name, value in chosen.items()}
    return {**chosen, "state": chosen["state"] or STATES[0]}


def _chosen(reason: str = "") -> dict[str, str]:
    """The filters of the page that was asked for, or of the one for `reason`."""
    if request.endpoint == "inbox.unanswered":
        reason = MISSING
    chosen = _filters(request.args)
    return {**chosen, "reason": reason} if reason else chosen


def _is_unanswered(chosen: Mapping[str, str]) -> bool:
    """What is missing has a page of its own, on which its forms come back."""
    return chosen["reason"] == MISSING


def _address(chosen: Mapping[str, str]) -> str:
    return url_for("inbox.unanswered" if _is_unanswered(chosen) else "inbox.index")


def _back(anchor: str | None = None, reason: str = "") -> ResponseReturnValue:
    """To the list as it was filtered."""
    chosen = _chosen(reason)
    address = f"{_address(chosen)}?{urlencode(chosen)}"
    return redirect(f"{address}#{anchor}" if anchor else address, HTTPStatus.SEE_OTHER)
