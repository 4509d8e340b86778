"""Static files, at addresses that name what all of them hold, so that browsers keep them.

A file's address has a folder of the files' version: "/static/at-3f2a9c1b/js/main.js". The modules
that a script imports and the pictures that a sheet names stand beside it, at that version too.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from flask import Flask, Response, current_app, g, url_for

FOR_EVER = "public, max-age=31536000, immutable"


def static_url(filename: str) -> str:
    """The address of a static file, at the version of this process."""
    return url_for("static", filename=filename, version=current_app.config["STATIC_VERSION"])


def keep_for_ever(response: Response) -> None:
    """Let browsers keep a static file that was asked for at the version that it is of.

    A page that was open before an upgrade, or that a process of another version made while one
    rolls, asks for another: it gets what there is now, to be asked for again the next time.
    """
    if g.get("static_version") == current_app.config["STATIC_VERSION"]:
        response.headers["Cache-Control"] = FOR_EVER


def version_of(folder: Path) -> str:
    """Eight letters that are others as soon as a file in the folder is another."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:8]


def init_static(app: Flask) -> None:
    """Serve each static file at every version besides its plain address."""
    app.config["STATIC_VERSION"] = version_of(Path(app.static_folder or ""))
    app.add_url_rule("/static/at-<version>/<path:filename>", endpoint="static")

    @app.url_value_preprocessor
    def take_version(endpoint: str | None, values: dict[str, str] | None) -> None:
        if endpoint == "static" and values:
            g.static_version = values.pop("version", None)
