"""Where the pages of the requests hang, and what their templates ask."""

from __future__ import annotations

from flask import Blueprint

from app.web.pages import require_role

blueprint = Blueprint("service_requests", __name__, url_prefix="/requests")


@blueprint.before_request
def people_only() -> None:
    require_role()
