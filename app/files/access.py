"""Who may see a file: whoever uploaded it, and the house's editors once it is kept."""

from __future__ import annotations

from typing import IO
from uuid import UUID

import structlog
from sqlalchemy import or_, select

from app.db import ScopedSession
from app.errors import NotFound
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
        raise NotFound("This file is not there, or it is not yours.")
    return found


def open_bytes(storage: Storage, name: str) -> IO[bytes]:
    """The bytes of a file that may be seen, or NotFound where they are lost."""
    try:
        return storage.open(name)
    except FileNotFoundError:
        log.error("the bytes of a file are missing", name=name)
        raise NotFound("This file is not there, or it is not yours.") from None
