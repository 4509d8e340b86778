"""The assistant core: turns a message into one grounded reply; knows no skill."""

from __future__ import annotations

from flask import Flask


def init_assistant(app: Flask) -> None:
    """Bind the chat pages, the event stream and the JSON API to `app`."""
    # Imported here because the views look at the app's services, whose types look here.
    from app.assistant.web import api, history_views, proposal_views
    from app.assistant.web import chat_views as views

    app.register_blueprint(views.blueprint)
    app.register_blueprint(views.streams)
    app.register_blueprint(history_views.blueprint)
    app.register_blueprint(views.feedback)
    app.register_blueprint(proposal_views.blueprint)
    app.register_blueprint(proposal_views.api)
    app.register_blueprint(api.blueprint)
