"""What the values of a request are read in: the group's clock, and one's own files."""

from __future__ import annotations

from functools import partial

from app.accounts.group_settings import load_zone_and_region
from app.db import ScopedSession, utc_now
from app.fields.values import FieldContext
from app.files.access import find_attachment


def field_context(session: ScopedSession, language: str) -> FieldContext:
    """What values are read in for the session's person."""
    zone, region = load_zone_and_region(session)
    return FieldContext(
        utc_now(),
        zone,
        region,
        language,
        find_file=partial(find_attachment, session),
    )
