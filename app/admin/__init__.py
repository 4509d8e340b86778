"""The pages of the admins of a group: usage, turns, feedback, searches, and prompts."""

from __future__ import annotations

from flask import Flask


def init_admin(app: Flask) -> None:
    """Bind the admin pages to `app`."""
    # Imported here because the views look at the app's services.
    from app.admin import (
        bench_views,
        inbox_views,
        prompts_views,
        search_inspector_views,
        sentences_views,
        views,
    )

    for each in (
        views,
        inbox_views,
        search_inspector_views,
        prompts_views,
        sentences_views,
        bench_views,
    ):
        app.register_blueprint(each.blueprint)
