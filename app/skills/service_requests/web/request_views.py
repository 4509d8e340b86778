"""The pages of requests for everybody: one's own list, and one request with its conversation."""

from __future__ import annotations

from uuid import UUID

from flask import redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.files.downloads import send_stored
from app.notifications.services import read_about
from app.skills.service_requests.services.requests import load_file_of, load_request
from app.skills.service_requests.web.blueprint import blueprint
from app.skills.service_requests.web.presenters import own_page, request_page
from app.web.pages import db_session, page_number

__all__ = ["blueprint"]


@blueprint.get("")
def index() -> ResponseReturnValue:
    """One's own requests, newest first."""
    return own_page(db_session(), request.args.get("state", ""), page_number())


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """The same with a slash."""
    return redirect(url_for(".index"))


@blueprint.get("/<uuid:request_id>")
def show(request_id: UUID) -> ResponseReturnValue:
    """One request; what one was told about it is read by now."""
    session = db_session()
    seen = load_request(session, request_id)
    if read_about(session, url_for(".show", request_id=request_id)):
        session.commit()
    return request_page(session, seen)


@blueprint.get("/<uuid:request_id>/files/<uuid:file_id>")
def file(request_id: UUID, file_id: UUID) -> ResponseReturnValue:
    """A file of a request, to be saved and never shown."""
    found = load_file_of(db_session(), request_id, file_id)
    return send_stored(found.key, found.media_type, found.name)
