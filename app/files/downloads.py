"""Handing out a stored file: to be saved, or shown as a picture, and never run as a page."""

from __future__ import annotations

from flask import Response, send_file

from app.extensions import services
from app.files.access import open_bytes
from app.web.pages import release_session

# Whatever it is, it is not a page: nothing in it is run, and nothing is fetched for it.
CLOSED = "default-src 'none'; sandbox"


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
