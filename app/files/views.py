"""Bringing files and getting them back: never by an address that a stranger could use."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Blueprint, Response, render_template, request, send_file
from flask.typing import ResponseReturnValue
from flask_login import current_user
from werkzeug.exceptions import RequestEntityTooLarge

from app.errors import InvalidInput, NotFound
from app.extensions import services
from app.files.access import load_file, open_bytes
from app.files.field_rules import read_rules
from app.files.kinds import FORM_BYTES, LARGEST_BYTES
from app.files.posted_files import allow_files, examination, get_posted_files
from app.files.presenters import file_view
from app.files.storage import preview_of
from app.files.upload_limits import check_limits
from app.files.uploads import store_upload, too_large
from app.web.pages import db_session, error_response, release_session, require_role

blueprint = Blueprint("files", __name__, url_prefix="/files")


# Whatever it is, it is not a page: nothing in it is run, and nothing is fetched for it.
CLOSED = "default-src 'none'; sandbox"


@blueprint.url_value_preprocessor
def let_files_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """This route takes what is larger than a page, from people of a group alone.

    Before everything else, because looking for a form's token reads the whole of it.
    """
    if endpoint == "files.upload" and current_user.is_authenticated:
        check_limits()
        allow_files(LARGEST_BYTES + FORM_BYTES, most=1)


@blueprint.before_request
def people_only() -> None:
    require_role()


@blueprint.errorhandler(RequestEntityTooLarge)
def _too_large(_error: RequestEntityTooLarge) -> ResponseReturnValue:
    return error_response(too_large(LARGEST_BYTES))


@blueprint.post("")
def upload() -> ResponseReturnValue:
    """Take in one file and show it as its field does."""
    rules = read_rules(request.form.get("rules", ""))
    posted = get_posted_files({"file": 1})
    if not posted:
        raise InvalidInput("Choose a file.")
    [sent] = posted["file"]
    session = db_session()
    with examination():
        file = store_upload(
            session,
            services().files,
            sent.stream,
            sent.filename or "",
            kinds=rules.kinds,
            largest_bytes=rules.largest_bytes,
            upload_key=request.form.get("key", ""),
        )
        session.commit()
    return render_template("files/_file.html", file=file_view(file), field_name=rules.name)


@blueprint.get("/<uuid:file_id>")
def download(file_id: UUID) -> ResponseReturnValue:
    """The file itself, to be saved and never shown."""
    file = load_file(db_session(), file_id)
    return send_stored(file.key, file.media_type, file.name)


@blueprint.get("/<uuid:file_id>/preview")
def preview(file_id: UUID) -> ResponseReturnValue:
    """A small picture of a picture."""
    file = load_file(db_session(), file_id)
    if file.kind != "image":
        raise NotFound("This file does not exist, or it is not yours.")
    return send_stored(preview_of(file.key), file.media_type, as_attachment=False)


def send_stored(
    key: str, media_type: str, name: str | None = None, *, as_attachment: bool = True
) -> Response:
    """The bytes under a key of the storage, for whoever was found to be allowed to have them.

    They are saved under the name; where they are no attachment, a page shows them as a picture.
    The request's session is over: a storage may take its time, and no connection to the database
    is kept from others meanwhile. Raises what `open_bytes` does.
    """
    release_session()
    content = open_bytes(services().files, key)
    response = send_file(
        content,
        media_type,
        as_attachment=as_attachment,
        download_name=name,
        conditional=False,
    )
    response.headers["Content-Security-Policy"] = CLOSED
    response.headers["Cache-Control"] = "no-store"
    return response
