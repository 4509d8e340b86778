"""The pages of requests for everybody: one's own list, and one request with its conversation."""

from __future__ import annotations

from uuid import UUID

from flask import Response, redirect, request, send_file, url_for
from flask.typing import ResponseReturnValue

from app.extensions import services
from app.files.access import open_bytes
from app.notifications.services import read_about
from app.skills.service_requests.blueprint import blueprint
from app.skills.service_requests.pages import own_page, request_page
from app.skills.service_requests.requests import load_file_of, load_request
from app.web import db_session, page_number, release_session

__all__ = ["blueprint"]

# Whatever it is, it is not a page: nothing in it is run, and nothing is fetched for it.
CLOSED = "default-src 'none'; sandbox"


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
    # A storage may take its time, and no connection is kept from others meanwhile.
    release_session()
    content = open_bytes(services().files, found.key)
    return _closed(
        send_file(content, found.media_type, as_attachment=True, download_name=found.name)
    )


def _closed(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = CLOSED
    response.headers["Cache-Control"] = "no-store"
    return response
