"""Imports that were left lying: never confirmed, failed, or without the job that was to do them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, exists, or_, select, text, update

from app.db import Database, Scope, ScopedSession, utc_now
from app.skills.knowledge.models import LibraryImport, LibraryImportFile
from app.skills.knowledge.services.import_files import forget_file
from app.skills.knowledge.services.imports import OPEN, WORKING, settle_broken, tidy_later

KEPT = timedelta(days=14)
# A job that lives tells how far it is twice a second, and is tried again for a minute or two.
LOST_AFTER = timedelta(hours=1)
_HAS_NO_JOB = text(
    "NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
    " AND args->>'import_id' = library_imports.id::text)"
)


def tidy_imports(database: Database, *, group_id: str, is_last_try: bool = False) -> None:
    """Settle a group's imports that nobody comes back to, and look again while there are any."""
    # Nobody asked for it: no person stands behind it.
    with database.transaction(Scope(UUID(group_id), None, "admin")) as session:
        _cancel_unconfirmed(session)
        _forget_failed(session)
        _settle_lost(session)
        if session.scalar(select(exists().where(_ours(session), _is_unsettled()))):
            tidy_later(session)


def _ours(session: ScopedSession) -> ColumnElement[bool]:
    return LibraryImport.group_id == session.scope.group_id


def _is_unsettled() -> ColumnElement[bool]:
    has_file = exists().where(
        LibraryImportFile.import_id == LibraryImport.id,
        LibraryImportFile.group_id == LibraryImport.group_id,
    )
    is_failed: Any = LibraryImport.status == "failed"
    return or_(LibraryImport.status.in_(OPEN), is_failed & has_file)


def _cancel_unconfirmed(session: ScopedSession) -> None:
    expired = session.scalars(
        update(LibraryImport)
        .where(
            _ours(session),
            LibraryImport.status == "ready",
            LibraryImport.updated_at < utc_now() - KEPT,
        )
        .values(status="cancelled", report={"is_expired": True}, plan={})
        .returning(LibraryImport.id)
    )
    for import_id in expired.all():
        forget_file(session, import_id, with_reading=True)


def _forget_failed(session: ScopedSession) -> None:
    failed = select(LibraryImport.id).where(
        _ours(session),
        LibraryImport.status == "failed",
        LibraryImport.updated_at < utc_now() - KEPT,
    )
    session.execute(
        delete(LibraryImportFile).where(
            LibraryImportFile.group_id == session.scope.group_id,
            LibraryImportFile.import_id.in_(failed),
        )
    )


def _settle_lost(session: ScopedSession) -> None:
    """End what has no job any more: its tries ended while the database could not be told."""
    lost = session.scalars(
        select(LibraryImport)
        .where(
            _ours(session),
            LibraryImport.status.in_(WORKING),
            LibraryImport.updated_at < utc_now() - LOST_AFTER,
            _HAS_NO_JOB,
        )
        .with_for_update(key_share=True)
    )
    for item in lost:
        settle_broken(item)
