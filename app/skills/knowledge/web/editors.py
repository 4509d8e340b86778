"""What all pages for editing the library share: who may see them, how much they may hold."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from flask import Blueprint, g, request
from flask_babel import gettext as _
from flask_login import current_user

from app.assistant.feedback.inbox import ReceivedFeedback, load_feedback
from app.errors import ComandaError, InvalidInput, NotFound
from app.skills.knowledge.services.menu_upkeep import count_undeclared
from app.skills.knowledge.services.translations import count_gaps
from app.web.pages import db_session, require_role

EDITORS = ("manager", "admin")
# Two long texts, each character of which a form may write as nine.
LARGEST_FORM = 8 * 1024 * 1024
# The database counts versions no further.
VERSIONS_END = 2**31


def init_editing(blueprint: Blueprint) -> None:
    """Open a blueprint to editors alone, and to forms as long as a chapter."""
    blueprint.before_request(partial(require_role, *EDITORS))
    # Before the check of the token, which reads the form.
    blueprint.url_value_preprocessor(_allow_long_forms)


def _allow_long_forms(_endpoint: str | None, _values: dict[str, Any] | None) -> None:
    request.max_content_length = request.max_form_memory_size = LARGEST_FORM


def may_edit() -> bool:
    """True for whoever may change the library; for templates that offer it."""
    return current_user.is_authenticated and current_user.role in EDITORS


def library_upkeep() -> dict[str, int]:
    """How much of the library wants looking after, counted once a request if at all."""
    if "library_upkeep" not in g:
        session = db_session()
        g.library_upkeep = {
            "translations": count_gaps(session),
            "allergens": count_undeclared(session),
        }
    counts: dict[str, int] = g.library_upkeep
    return counts


def question_asked() -> ReceivedFeedback | None:
    """The unanswered question that a section is written for, where the address names one.

    It is the admins' to read: nobody else is shown it.
    """
    feedback_id = request.args.get("asked", type=UUID)
    if feedback_id is None or current_user.role != "admin":
        return None
    try:
        return load_feedback(db_session(), feedback_id)
    except NotFound:
        return None


def typed_version() -> int:
    """The version that a form was opened with; 0, older than any, for what can be none."""
    version = request.form.get("version", 0, int)
    return version if 0 < version < VERSIONS_END else 0


def typed_id(name: str) -> UUID | None:
    """An id that a form names, or None where it names nothing.

    Raises:
        InvalidInput: it is no id.
    """
    given = request.form.get(name, "")
    try:
        return UUID(given) if given else None
    except ValueError:
        raise InvalidInput("Choose from the list.", field=name) from None


def told(error: ComandaError) -> dict[str, str]:
    """What is wrong, under the name of its field, for the form that is shown again."""
    return {error.field or "form": _(error.message, **error.params)}
