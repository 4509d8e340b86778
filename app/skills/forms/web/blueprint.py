"""Where the pages of forms hang; the view modules add theirs to it."""

from __future__ import annotations

from flask import Blueprint

from app.web.pages import require_role

blueprint = Blueprint("forms", __name__, url_prefix="/forms")


@blueprint.before_request
def signed_in_only() -> None:
    require_role()
