"""The admin pages of requests: who may see them, and how much may be posted to them."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, request
from flask_login import current_user

from app.web.pages import require_role

LARGEST_FORM = 4 * 1024 * 1024
HOME = "/admin/requests"


def make_blueprint(name: str, below: str = "") -> Blueprint:
    """A blueprint at /admin/requests, or `below` it, that admins edit and managers look at."""
    blueprint = Blueprint(name, __name__, url_prefix=HOME + below)
    blueprint.before_request(editors_only)
    blueprint.url_value_preprocessor(allow_long_forms)
    return blueprint


def editors_only() -> None:
    """Admins change what requests are made of; managers look at it."""
    if request.method == "GET":
        require_role("manager", "admin")
    else:
        require_role("admin")


def allow_long_forms(_endpoint: str | None, _values: dict[str, Any] | None) -> None:
    request.max_content_length = request.max_form_memory_size = LARGEST_FORM


def may_edit() -> bool:
    return bool(current_user.role == "admin")


def typed_number(name: str) -> int:
    """A whole number that a form carries, such as a version; 0 where it carries none."""
    text = request.form.get(name, "")
    return int(text) if text.isdecimal() and len(text) < len("1000000") else 0
