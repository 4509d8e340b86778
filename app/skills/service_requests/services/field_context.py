"""What the values of a request are read in: the house's clock, and one's own files."""

from __future__ import annotations

from functools import partial
from zoneinfo import ZoneInfo

from sqlalchemy import select

from app.accounts.models import Group
from app.db import ScopedSession, read_id, utc_now
from app.fields.values import Attachment, FieldContext
from app.files.models import StoredFile


def field_context(session: ScopedSession, language: str) -> FieldContext:
    """What values are read in for the session's person."""
    zone = session.scalar(select(Group.timezone).where(Group.id == session.scope.group_id))
    return FieldContext(
        utc_now(),
        ZoneInfo(zone or "UTC"),
        language=language,
        find_file=partial(_find_file, session),
    )


def _find_file(session: ScopedSession, file_id: str) -> Attachment | None:
    """A file that this person has uploaded and that nothing else holds."""
    wanted = read_id(file_id)
    if wanted is None:
        return None
    found = session.scalar(
        select(StoredFile).where(
            StoredFile.id == wanted,
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
            StoredFile.owner_id.is_(None),
        )
    )
    if found is None:
        return None
    return Attachment(str(found.id), found.name, found.size, found.media_type, found.kind)
