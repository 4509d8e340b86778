"""The bell of every page, and the list behind it."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from flask import Blueprint, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from sqlalchemy.exc import SQLAlchemyError

from app.db import read_id
from app.errors import InvalidInput
from app.notifications.services import (
    count_unread,
    list_notifications,
    open_notification,
    read_all,
)
from app.text.bilingual import reader_language
from app.web.pages import db_session, require_role

blueprint = Blueprint("notifications", __name__, url_prefix="/notifications")


@blueprint.before_request
def people_only() -> ResponseReturnValue | None:
    """What asks by itself is told that the sign-in is over, and stops; all else must sign in."""
    if request.endpoint == "notifications.bell" and not current_user.is_authenticated:
        return "", HTTPStatus.NO_CONTENT, {"X-Signed-Out": "1"}
    require_role()
    return None


def unread_on_page() -> int | None:
    """What the bell of the page that is being drawn says; None where it must ask by itself.

    A page that was drawn without the database, or because it failed, asks it nothing more.
    """
    if "db" not in g:
        return None
    session = db_session()
    try:
        # What failed half-way is not written on the way to its error's page.
        with session.no_autoflush:
            return count_unread(session)
    except SQLAlchemyError:
        return None


@blueprint.get("")
def index() -> ResponseReturnValue:
    """What one was told, newest first."""
    found, has_more = list_notifications(db_session(), request.args.get("before", type=UUID))
    language = reader_language()
    return render_template(
        "notifications/index.html",
        lines=[(each, each.text(language)) for each in found],
        more=url_for(".index", before=found[-1].id) if has_more else "",
        is_first="before" not in request.args,
    )


@blueprint.get("/bell")
def bell() -> ResponseReturnValue:
    """The bell once more, for a page that is open; nothing where it says the same already."""
    unread = count_unread(db_session())
    if request.args.get("known") == str(unread):
        return "", HTTPStatus.NO_CONTENT
    return render_template("notifications/_bell.html", unread=unread)


@blueprint.get("/<uuid:notification_id>")
def follow(notification_id: UUID) -> ResponseReturnValue:
    """Go to what a line is about; it is read then."""
    session = db_session()
    url = open_notification(session, notification_id)
    session.commit()
    return redirect(url, HTTPStatus.SEE_OTHER)


@blueprint.post("/read")
def read() -> ResponseReturnValue:
    """Mark all as read, to the newest that the page listed."""
    until = read_id(request.form.get("until", ""))
    if until is None:
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    session = db_session()
    read_all(session, until)
    session.commit()
    return redirect(url_for(".index"), HTTPStatus.SEE_OTHER)
