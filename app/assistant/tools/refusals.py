"""Why a tool was not used, in words for the person."""

from __future__ import annotations

from flask_babel import gettext as _

from app.assistant.tools.tool import ToolFailure
from app.errors import ComandaError
from app.text.bilingual import reader_language

# What programs are told, where a page's error has another name for it.
_CODES = {"invalid": "invalid_input"}


def as_failure(error: ComandaError) -> ToolFailure:
    """What people are told on pages, said in a conversation."""
    told = _(error.message, **error.told(reader_language()))
    code = _CODES.get(error.code, error.code)
    return ToolFailure(told, say=told, code=code, field=error.field or "")


def denied() -> ToolFailure:
    """What this person's role may not do."""
    return ToolFailure(
        "This person's role does not allow that.",
        recoverable=False,
        suggestion="Say so, and that a manager can do it.",
        say=_("Your role in this group does not allow that. Ask a manager."),
        code="forbidden",
    )
