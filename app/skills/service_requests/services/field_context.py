"""What the values of a request are read in: the group's clock, and one's own files."""

from __future__ import annotations

from functools import partial

from app.accounts.clock import load_zone
from app.db import ScopedSession, utc_now
from app.fields.values import FieldContext
from app.files.access import find_attachment


def field_context(session: ScopedSession, language: str) -> FieldContext:
    """What values are read in for the session's person."""
    return FieldContext(
        utc_now(),
        load_zone(session),
        language=language,
        find_file=partial(find_attachment, session),
    )
