"""What the values of a form are read in: the house's clock, its contacts, one's own files."""

from __future__ import annotations

from functools import partial
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import or_, select

from app.accounts.models import Group
from app.db import ScopedSession, read_id, utc_now
from app.fields.values import Attachment, FieldContext
from app.files.models import StoredFile
from app.skills.forms.services.contact_names import find_people


def field_context(session: ScopedSession, language: str, draft_id: UUID) -> FieldContext:
    """What the values of a draft are read in."""
    zone = session.scalar(select(Group.timezone).where(Group.id == session.scope.group_id))
    return FieldContext(
        utc_now(),
        ZoneInfo(zone or "UTC"),
        language=language,
        find_people=partial(find_people, session),
        find_file=partial(_find_file, session, draft_id),
    )


def _find_file(session: ScopedSession, draft_id: UUID, file_id: str) -> Attachment | None:
    """A file that this person has uploaded and that nothing else holds."""
    wanted = read_id(file_id)
    if wanted is None:
        return None
    found = session.scalar(
        select(StoredFile).where(
            StoredFile.id == wanted,
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
            or_(StoredFile.owner_id.is_(None), StoredFile.owner_id == draft_id),
        )
    )
    if found is None:
        return None
    return Attachment(str(found.id), found.name, found.size, found.media_type, found.kind)
