"""Bringing files and getting them back: never by an address that a stranger could use."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from flask_login import current_user
from werkzeug.exceptions import RequestEntityTooLarge

from app.errors import InvalidInput, NotFound
from app.extensions import services
from app.files.access import load_file
from app.files.downloads import send_stored
from app.files.kinds import FORM_BYTES, LARGEST_BYTES
from app.files.pages import file_view
from app.files.posted_files import allow_files, check_limits, examination, get_posted_files
from app.files.rules import read_rules
from app.files.storage import preview_of
from app.files.uploads import store_upload, too_large
from app.web.pages import db_session, error_response, require_role

blueprint = Blueprint("files", __name__, url_prefix="/files")


@blueprint.url_value_preprocessor
def let_files_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """This route takes what is larger than a page, from people of the house alone.

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
        raise NotFound("This file is not there, or it is not yours.")
    return send_stored(preview_of(file.key), file.media_type, as_attachment=False)
