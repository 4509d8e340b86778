"""Who may see a file: whoever uploaded it, and the group's editors once it is kept."""

from __future__ import annotations

from typing import IO
from uuid import UUID

import structlog
from sqlalchemy import or_, select

from app.db import ScopedSession, read_id
from app.errors import NotFound
from app.fields.values import Attachment
from app.files.models import StoredFile
from app.files.storage import Storage

EDITORS = ("manager", "admin")

log = structlog.get_logger()


def load_file(session: ScopedSession, file_id: UUID) -> StoredFile:
    """A file that this person may see.

    Raises:
        NotFound: there is none, or it is not theirs.
    """
    scope = session.scope
    may_see = StoredFile.user_id == scope.user_id
    if scope.role in EDITORS:
        may_see = or_(may_see, StoredFile.state == "kept")
    found = session.scalar(
        select(StoredFile).where(
            StoredFile.id == file_id, StoredFile.group_id == scope.group_id, may_see
        )
    )
    if found is None:
        raise NotFound("This file does not exist, or it is not yours.")
    return found


def find_attachment(
    session: ScopedSession, file_id: str, holder_id: UUID | None = None
) -> Attachment | None:
    """A file that this person has uploaded and that nothing holds, or `holder_id` alone."""
    wanted = read_id(file_id)
    if wanted is None:
        return None
    found = session.scalar(
        select(StoredFile).where(
            StoredFile.id == wanted,
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
            or_(StoredFile.owner_id.is_(None), StoredFile.owner_id == holder_id),
        )
    )
    if found is None:
        return None
    return Attachment(str(found.id), found.name, found.size, found.media_type, found.kind)


def open_bytes(storage: Storage, name: str) -> IO[bytes]:
    """The bytes of a file that may be seen, or NotFound where they are lost."""
    try:
        return storage.open(name)
    except FileNotFoundError:
        log.error("the bytes of a file are missing", name=name)
        raise NotFound("This file does not exist, or it is not yours.") from None
