"""What imports have done in the background: reading, applying, undoing, and what was left lying.

Each job may be started again after its worker died, and two may run at once when a worker
was only slow: what is written goes in one transaction under the group's lock, and the
import's status, read under a lock of its own, says whether it is still to be done.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import ColumnElement, delete, exists, or_, select, text, update
from sqlalchemy.exc import (
    IntegrityError,
    InterfaceError,
    OperationalError,
    TimeoutError,
)

from app.accounts.audit import record
from app.db import Database, JsonList, Scope, ScopedSession, utc_now
from app.jobs.queue import VECTORS, defer
from app.skills.knowledge.models import LibraryImport, LibraryImportFile
from app.skills.knowledge.readers import Reading, read_apart
from app.skills.knowledge.services.import_files import (
    find_earlier_reading,
    forget_file,
    keep_reading,
    load_content,
    load_reading,
)
from app.skills.knowledge.services.import_plan import Planned, plan_import, problems_of
from app.skills.knowledge.services.import_undo import undo_changes
from app.skills.knowledge.services.import_writer import note_applied
from app.skills.knowledge.services.importer import store
from app.skills.knowledge.services.imports import (
    OPEN,
    WORKING,
    load_import,
    settle_broken,
    tidy_later,
)
from app.skills.knowledge.services.library_lock import lock_library

TELL_EVERY = 0.5  # seconds between two looks at the import's row
# The database was away or busy, or somebody wrote at the same time: another try may do.
PASSING = (OperationalError, InterfaceError, IntegrityError, TimeoutError)
KEPT = timedelta(days=14)
# A job that lives tells how far it is twice a second, and is tried again for a minute or two.
LOST_AFTER = timedelta(hours=1)
_HAS_NO_JOB = text(
    "NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
    " AND args->>'import_id' = library_imports.id::text)"
)

log = structlog.get_logger()


class NotWanted(Exception):
    """Somebody cancelled the import while it was worked on."""


@dataclass
class Progress:
    """How far a job is, told in transactions of its own, and whether it is still wanted."""

    database: Database
    scope: Scope
    import_id: UUID
    status: str
    is_last_try: bool = False
    step: str = ""
    is_wanted: bool = True
    _told: float = field(default=0.0, repr=False)

    def tell(self, step: str, done: int, total: int) -> None:
        """Write it down, twice a second at most and at each new step."""
        now = time.monotonic()
        if step == self.step and now - self._told < TELL_EVERY:
            return
        self.step, self._told = step, now
        with self.database.transaction(self.scope) as session:
            found = session.execute(
                update(LibraryImport)
                .where(
                    LibraryImport.group_id == self.scope.group_id,
                    LibraryImport.id == self.import_id,
                    LibraryImport.status == self.status,
                )
                .values(step=step, done=done, total=total, updated_at=utc_now())
                .returning(LibraryImport.id)
            )
            self.is_wanted = found.first() is not None

    def is_cancelled(self) -> bool:
        """Whether somebody cancelled it, looked up twice a second at most."""
        if self.is_wanted and time.monotonic() - self._told >= TELL_EVERY:
            self._told = time.monotonic()
            with self.database.transaction(self.scope) as session:
                item = session.get(LibraryImport, self.import_id)
                self.is_wanted = item is not None and item.status == self.status
        return not self.is_wanted

    def watch(self, step: str) -> Callable[[int, int], None]:
        """For work that is told to stop by an exception."""

        def on_progress(done: int, total: int) -> None:
            self.tell(step, done, total)
            if not self.is_wanted:
                raise NotWanted

        return on_progress


def read_import(
    database: Database,
    *,
    import_id: str,
    group_id: str,
    user_id: str,
    role: str,
    is_last_try: bool = False,
) -> None:
    """Read the file of an import and work out what applying it would do."""
    scope = _scope(group_id, user_id, role)
    _guarded(Progress(database, scope, UUID(import_id), "reading", is_last_try), _read_and_plan)


def _read_and_plan(job: Progress) -> None:
    with job.database.transaction(job.scope) as session:
        item = load_import(session, job.import_id, lock=True)
        if item.status not in ("waiting", "reading"):
            return
        item.status = "reading"
    reading = _read(job)
    if not job.is_wanted:
        return
    if not reading.is_usable:
        _fail(job, problems_of(reading))
        return
    job.tell("comparing", 0, 0)
    with job.database.session(job.scope) as session:
        item = load_import(session, job.import_id)
        planned = plan_import(session, item, reading)
        # Nothing was written: what was staged is what would be.
        session.rollback()
    _show_plan(job, planned, reading)


def _read(job: Progress) -> Reading:
    """What stands in the file: as it was read before, or read now in a process apart."""
    with job.database.session(job.scope) as session:
        item = load_import(session, job.import_id)
        known = load_reading(session, item.id) or find_earlier_reading(session, item)
        content = b"" if known else load_content(session, item.id)
    if known is not None:
        return known
    return read_apart(
        content,
        item.filename,
        item.target,
        item.language,
        on_progress=job.tell,
        is_cancelled=job.is_cancelled,
    )


def _show_plan(job: Progress, planned: Planned, reading: Reading, *, is_new: bool = False) -> None:
    """Keep the plan for the preview; without any change in it the import is over.

    A plan by which the library would have too much ends it as well.
    """
    if planned.too_much is not None:
        reading.problems.append(planned.too_much)
        _fail(job, problems_of(reading, planned.wrong))
        return
    is_over = planned.changes_nothing
    report = {**planned.plan["counts"], "nothing": is_over, "is_replanned": is_new}
    with job.database.transaction(job.scope) as session:
        item = load_import(session, job.import_id, lock=True)
        if item.status != job.status:
            return
        keep_reading(session, item.id, reading)
        item.plan, item.problems = planned.plan, problems_of(reading, planned.wrong)
        item.report = report
        item.status, item.step = "applied" if is_over else "ready", ""
        item.updated_at = utc_now()
        if is_over:
            forget_file(session, item.id, with_reading=False)


def apply_import(
    database: Database,
    *,
    import_id: str,
    group_id: str,
    user_id: str,
    role: str,
    is_last_try: bool = False,
) -> None:
    """Bring what was planned into the library, all of it or nothing."""
    scope = _scope(group_id, user_id, role)
    _guarded(Progress(database, scope, UUID(import_id), "applying", is_last_try), _apply)


def _apply(job: Progress) -> None:
    with job.database.session(job.scope) as session:
        lock_library(session)
        item = load_import(session, job.import_id)
        if item.status != job.status:
            return
        reading = load_reading(session, item.id)
        assert reading is not None, "what is applied was read"
        job.watch("comparing")(0, 0)
        planned = plan_import(session, item, reading, lock=True)
        if planned.plan["signature"] != item.plan["signature"] or planned.too_much is not None:
            session.rollback()
            _show_plan(job, planned, reading, is_new=True)
            return
        store(
            planned.staging,
            group_id=item.group_id,
            import_id=item.id,
            on_progress=job.watch("storing"),
        )
        _finish(session, job, planned)


def _finish(session: ScopedSession, job: Progress, planned: Planned) -> None:
    """The last word: unless it was cancelled until now, the import is applied."""
    item = load_import(session, job.import_id, lock=True)
    if item.status != job.status:
        raise NotWanted
    note_applied(session, item, planned)
    forget_file(session, item.id, with_reading=False)
    embed_soon(session)
    session.commit()


def undo_import(
    database: Database,
    *,
    import_id: str,
    group_id: str,
    user_id: str,
    role: str,
    is_last_try: bool = False,
) -> None:
    """Take back what an import changed, except what has been changed again since."""
    scope = _scope(group_id, user_id, role)
    _guarded(Progress(database, scope, UUID(import_id), "undoing", is_last_try), _undo)


def _undo(job: Progress) -> None:
    with job.database.session(job.scope) as session:
        lock_library(session)
        if load_import(session, job.import_id).status != job.status:
            return
        undone = undo_changes(session, job.import_id, on_progress=job.watch("undoing"))
        item = load_import(session, job.import_id, lock=True)
        if item.status != job.status:
            raise NotWanted
        # Where all of it was changed since, those changes may be undone first, and then this.
        can_try_again = undone["left_count"] and not (undone["restored"] or undone["removed"])
        item.status = "applied" if can_try_again else "undone"
        item.step, item.updated_at = "", utc_now()
        item.report = {**item.report, "undone": undone}
        if not can_try_again:
            forget_file(session, item.id, with_reading=True)
            record(session, "import_undone", item.filename, item.digest)
            embed_soon(session)
        session.commit()


def embed_soon(session: ScopedSession) -> None:
    """Have the group's new and changed passages get their vectors."""
    group_id = session.scope.group_id
    lock = f"embed:{group_id}"
    defer(session, "embed_missing", lock=lock, queue=VECTORS, group_id=group_id)


def _guarded(job: Progress, run: Callable[[Progress], None]) -> None:
    """Run a job; what no second try would mend ends the import with a word about it."""
    try:
        run(job)
    except NotWanted:
        log.info("import cancelled", id=str(job.import_id))
    except Exception as error:
        if isinstance(error, PASSING) and not job.is_last_try:
            raise
        log.exception("import failed", id=str(job.import_id))
        with job.database.transaction(job.scope) as session:
            item = load_import(session, job.import_id, lock=True)
            if item.status in (job.status, "waiting"):
                settle_broken(session, item)


def _fail(job: Progress, problems: JsonList) -> None:
    """End an import whose file cannot be used, and say why."""
    with job.database.transaction(job.scope) as session:
        item = load_import(session, job.import_id, lock=True)
        if item.status == job.status:
            item.status, item.step, item.updated_at = "failed", "", utc_now()
            item.problems = problems
            forget_file(session, item.id, with_reading=False)


def _scope(group_id: str, user_id: str, role: str) -> Scope:
    return Scope(UUID(group_id), UUID(user_id), role)


def tidy_imports(database: Database, *, group_id: str, is_last_try: bool = False) -> None:
    """Settle a group's imports that nobody comes back to, and look again while there are any.

    They were never confirmed, failed, or are without the job that was to do them.
    """
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
        settle_broken(session, item)


TASKS: dict[str, Callable[..., None]] = {
    "read_import": read_import,
    "apply_import": apply_import,
    "undo_import": undo_import,
    "tidy_imports": tidy_imports,
}
