"""The file of an import and what was read in it: packed into its row, and by section."""

from __future__ import annotations

import json
import zlib
from functools import partial
from uuid import UUID

from sqlalchemy import Text, cast, delete, insert, select, update
from sqlalchemy.dialects.postgresql import JSON

from app.db import ScopedSession
from app.files.examination_queue import Places
from app.jobs.system_threads import RealThreads, give_back
from app.skills.knowledge.models import LibraryImport, LibraryImportFile, LibraryImportSection
from app.skills.knowledge.readers import READER, Reading

# Of readings that were kept before their sections were, one at a time is unpacked for a page.
_unpacked = Places(1)
_UNPACKING = RealThreads(1, holds_nothing=True)


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
    """All that was read in the file, if it was: for jobs, since no page may take so long."""
    packed = _load_packed(session, import_id)
    return Reading.from_json(json.loads(zlib.decompress(packed))) if packed else None


def _load_packed(session: ScopedSession, import_id: UUID) -> bytes | None:
    return session.scalar(
        select(LibraryImportFile.reading).where(
            LibraryImportFile.group_id == session.scope.group_id,
            LibraryImportFile.import_id == import_id,
        )
    )


def load_section_text(
    session: ScopedSession, import_id: UUID, document: int, place: int
) -> tuple[str, str] | None:
    """Title and body of one section as it was read; None once the reading is forgotten."""
    row = session.execute(
        select(LibraryImportSection.title, LibraryImportSection.body).where(
            LibraryImportSection.group_id == session.scope.group_id,
            LibraryImportSection.import_id == import_id,
            LibraryImportSection.document == document,
            LibraryImportSection.place == place,
        )
    ).first()
    return (row.title, row.body) if row else _find_in_whole(session, import_id, document, place)


def _find_in_whole(
    session: ScopedSession, import_id: UUID, document: int, place: int
) -> tuple[str, str] | None:
    """The same of an import that was read before sections were kept.

    The database takes the text apart: here, nobody else would be answered meanwhile.
    """
    give_back()
    with _unpacked.hold():
        packed = _load_packed(session, import_id)
        if not packed:
            return None
        whole = cast(_UNPACKING.run(partial(_unpack, packed)), Text).cast(JSON)
        section = session.scalar(select(whole[("documents", document, "sections", place)]))
    return (section["title"], section["body"]) if section else None


def _unpack(packed: bytes) -> str:
    return zlib.decompress(packed).decode()


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
    _keep_sections(session, import_id, reading)


def _keep_sections(session: ScopedSession, import_id: UUID, reading: Reading) -> None:
    """Keep what was read by section, in place of what was read before."""
    group_id = session.scope.group_id
    session.execute(
        delete(LibraryImportSection).where(
            LibraryImportSection.group_id == group_id,
            LibraryImportSection.import_id == import_id,
        )
    )
    rows = [
        {"import_id": import_id, "group_id": group_id, "document": number, "place": place,
         "title": section.title, "body": section.body}
        for number, document in enumerate(reading.documents)
        for place, section in enumerate(document.sections)
    ]  # fmt: skip
    if rows:
        session.execute(insert(LibraryImportSection), rows)


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
