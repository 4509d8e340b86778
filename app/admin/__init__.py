"""The pages of those who look after the house: usage, turns, feedback, and how search finds."""

from __future__ import annotations

from flask import Flask


def init_admin(app: Flask) -> None:
    """Bind the admin pages to `app`."""
    # Imported here because the views look at the app's services.
    from app.admin.inbox_views import blueprint as inbox
    from app.admin.search_views import blueprint as search
    from app.admin.views import blueprint

    for each in (blueprint, inbox, search):
        app.register_blueprint(each)
