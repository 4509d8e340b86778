"""Files that people upload: checked by their content, kept apart from the database, theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def init_files(app: Flask) -> None:
    """Let people of a group bring files and get them back."""
    # Imported here because migrations and jobs need the models and nothing of a web server.
    from app.files.field_rules import upload_rules
    from app.files.presenters import kinds_in_words
    from app.files.views import blueprint

    app.register_blueprint(blueprint)
    app.jinja_env.globals |= {
        "kinds_in_words": kinds_in_words,
        "upload_rules": upload_rules,
    }
