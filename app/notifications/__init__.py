"""Lines for one person about something that others have done, and the bell that counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def init_notifications(app: Flask) -> None:
    """Give every page its bell, and people the list behind it."""
    # Imported here because migrations and jobs need the model and nothing of a web server.
    from app.notifications.views import blueprint, unread_on_page

    app.register_blueprint(blueprint)
    app.jinja_env.globals["unread_notifications"] = unread_on_page
