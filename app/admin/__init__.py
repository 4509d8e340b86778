"""The pages of those who look after the house: usage, limits, and how each turn went."""

from __future__ import annotations

from flask import Flask


def init_admin(app: Flask) -> None:
    """Bind the admin pages to `app`."""
    # Imported here because the views look at the app's services.
    from app.admin.views import blueprint

    app.register_blueprint(blueprint)
