"""The file of an import and what was read in it, packed into its row."""

from __future__ import annotations

import json
import zlib
from uuid import UUID

from sqlalchemy import delete, select, update

from app.db import ScopedSession
from app.skills.knowledge.models import LibraryImport, LibraryImportFile
from app.skills.knowledge.readers import READER, Reading


def load_content(session: ScopedSession, import_id: UUID) -> bytes:
    """The file as it was brought; empty once it is not needed any more."""
    content = session.scalar(
        select(LibraryImportFile.content).where(
            LibraryImportFile.group_id == session.scope.group_id,
            LibraryImportFile.import_id == import_id,
        )
    )
    return content or b""


def load_reading(session: ScopedSession, import_id: UUID) -> Reading | None:
    """What was read in the file, if it was."""
    packed = session.scalar(
        select(LibraryImportFile.reading).where(
            LibraryImportFile.group_id == session.scope.group_id,
            LibraryImportFile.import_id == import_id,
        )
    )
    return Reading.from_json(json.loads(zlib.decompress(packed))) if packed else None


def keep_reading(session: ScopedSession, import_id: UUID, reading: Reading) -> None:
    """Keep what was read, so that it need not be read again."""
    packed = zlib.compress(json.dumps(reading.to_json()).encode(), 3)
    session.execute(
        update(LibraryImportFile)
        .where(
            LibraryImportFile.group_id == session.scope.group_id,
            LibraryImportFile.import_id == import_id,
        )
        .values(reading=packed)
    )


def find_earlier_reading(session: ScopedSession, item: LibraryImport) -> Reading | None:
    """What an earlier import read in the very same file for the same purpose, as we read now."""
    earlier = session.scalar(
        select(LibraryImport.id)
        .join(LibraryImportFile, LibraryImportFile.import_id == LibraryImport.id)
        .where(
            LibraryImport.group_id == session.scope.group_id,
            LibraryImport.digest == item.digest,
            LibraryImport.filename == item.filename,
            LibraryImport.target == item.target,
            LibraryImport.language == item.language,
            LibraryImportFile.reading.is_not(None),
        )
        .order_by(LibraryImport.id.desc())
        .limit(1)
    )
    reading = load_reading(session, earlier) if earlier else None
    return reading if reading and reading.reader == READER else None


def forget_file(session: ScopedSession, import_id: UUID, *, with_reading: bool) -> None:
    """Give the room back: the file is kept only for as long as it may still be read."""
    ours = (
        LibraryImportFile.group_id == session.scope.group_id,
        LibraryImportFile.import_id == import_id,
    )
    if with_reading:
        session.execute(delete(LibraryImportFile).where(*ours))
    else:
        session.execute(update(LibraryImportFile).where(*ours).values(content=b""))


def forget_earlier_readings(session: ScopedSession, item: LibraryImport) -> None:
    """Drop what was read in former versions of this file."""
    former = session.scalars(
        select(LibraryImport.id).where(
            LibraryImport.group_id == session.scope.group_id,
            LibraryImport.filename == item.filename,
            LibraryImport.target == item.target,
            LibraryImport.language == item.language,
            LibraryImport.status.in_(("applied", "undone", "failed", "cancelled")),
            LibraryImport.id < item.id,
        )
    )
    for import_id in former.all():
        forget_file(session, import_id, with_reading=True)
