"""Imports from upload to undo: what a person may ask for, and when.

waiting -> reading -> ready -> applying -> applied -> undoing -> undone; and from everything
that is not settled yet: failed, cancelled. What takes long is done by jobs (import_jobs);
each finds out by the status whether it is still wanted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePath
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import defer as leave_out

from app.accounts.audit import record
from app.accounts.models import User
from app.config import LANGUAGES
from app.db import ScopedSession, new_id, utc_now
from app.errors import Conflict, InvalidInput, NotFound, TooMany
from app.jobs.queue import defer
from app.skills.knowledge.models import (
    PRODUCT_KINDS,
    SECTION_KINDS,
    LibraryImport,
    LibraryImportFile,
    ManualSection,
)
from app.skills.knowledge.readers import LIMITS
from app.skills.knowledge.readers.result import MEGABYTE
from app.skills.knowledge.services.import_files import forget_file
from app.skills.knowledge.services.plan_pages import load_signature, load_sources
from app.text.plain_text import clean_line

TARGETS = (*SECTION_KINDS, *PRODUCT_KINDS)
WORKING = ("waiting", "reading", "applying", "undoing")
OPEN = (*WORKING, "ready")
# What a person has pressed a button for.
DECIDED = ("applying", "undoing")
# The role of an import from the command line, which no person stands behind.
OPERATOR = "operator"
LONGEST_NAME = 200
LISTED = 100
# So many chapters are listed to choose from; the others are known by their addresses.
MOST_CHAPTERS = 300
TIDY_EVERY = timedelta(days=1)
# A plan of thousands of sections takes longer to load than all else that a page shows of it.
_WITHOUT_PLAN = (leave_out(LibraryImport.plan), leave_out(LibraryImport.problems))
# The files of a group's imports that are not applied or cancelled yet, and their bytes.
MOST_HELD, MOST_HELD_BYTES = 100, 500 * MEGABYTE
# Of each applied one all texts are kept, so that it can be undone.
MOST_A_DAY = 300
_FILE = LibraryImportFile
CHANGED_MEANWHILE = "This import has moved on in the meantime. See how it is going now."


def receive_file(
    session: ScopedSession, content: bytes, filename: str, target: str, language: str
) -> tuple[LibraryImport, bool]:
    """Take in a file and have it read; False with the import of the same file under way.

    Raises:
        InvalidInput: there is no file, it is too large, or target or language are unknown.
        TooMany: so many imports of the group are open that there is no room for another.
    """
    _check(content, filename, target, language)
    digest = hashlib.sha256(content).hexdigest()
    name = clean_line(PurePath(filename.replace("\\", "/")).name)[-LONGEST_NAME:]
    _lock_uploads(session)
    _check_day(session)
    same = _find_open(session, digest, target, language)
    if same is not None:
        return same, False
    _check_room(session, len(content))
    item = LibraryImport(
        id=new_id(), group_id=session.scope.group_id, user_id=session.scope.user_id,
        role=session.scope.role, target=target, language=language, filename=name, digest=digest,
        options=former_options(session, name, target, language),
    )  # fmt: skip
    session.add(item)
    session.flush()
    session.add(LibraryImportFile(import_id=item.id, group_id=item.group_id, content=content))
    _ask_for(session, "read_import", item)
    tidy_later(session)
    record(session, "import_uploaded", name, digest)
    session.commit()
    return item, True


def tidy_later(session: ScopedSession) -> None:
    """Have the group's imports that are left lying looked at again in a day."""
    group_id = session.scope.group_id
    at = utc_now() + TIDY_EVERY
    defer(session, "tidy_imports", lock=f"tidy_imports:{group_id}", at=at, group_id=group_id)


def _check(content: bytes, filename: str, target: str, language: str) -> None:
    if not filename or not content:
        raise InvalidInput("Choose a file that is not empty.", field="file")
    if len(content) > LIMITS.file_bytes:
        raise InvalidInput(
            "The file is larger than 50 MB. Split it, or save it without pictures.", field="file"
        )
    if target not in TARGETS:
        raise InvalidInput("Choose from the list.", field="target")
    if language not in LANGUAGES:
        raise InvalidInput("Choose from the list.", field="language")


def _lock_uploads(session: ScopedSession) -> None:
    """Two of the same file at once take turns, so that the second sees the first."""
    lock_group(session, "uploads")


def _check_room(session: ScopedSession, size: int) -> None:
    """What waits to be applied or cancelled is kept whole, and must end somewhere."""
    length = func.octet_length(_FILE.content)
    held = select(func.count(), func.coalesce(func.sum(length), 0)).where(
        _FILE.group_id == session.scope.group_id, length > 0
    )
    count, size_held = session.execute(held).one()
    if count >= MOST_HELD or int(size_held) + size > MOST_HELD_BYTES:
        raise TooMany("Too many imports are waiting. Import or cancel some of them first.")


def _check_day(session: ScopedSession) -> None:
    lately = select(func.count(LibraryImport.id)).where(
        LibraryImport.group_id == session.scope.group_id,
        LibraryImport.created_at > utc_now() - timedelta(days=1),
    )
    if (session.scalar(lately) or 0) >= MOST_A_DAY:
        raise TooMany(
            "Your restaurant has imported %(limit)s files in one day, and that is "
            "the limit. Import more tomorrow.",
            limit=MOST_A_DAY,
        )


def lock_group(session: ScopedSession, purpose: str) -> None:
    """Until the transaction ends, nobody else in the group has the same lock."""
    name = f"{purpose} {session.scope.group_id}"
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


def _find_open(
    session: ScopedSession, digest: str, target: str, language: str
) -> LibraryImport | None:
    query = _light(_imports(session)).where(
        LibraryImport.digest == digest,
        LibraryImport.target == target,
        LibraryImport.language == language,
        LibraryImport.status.in_(OPEN),
    )
    return session.scalars(query).first()


def former_options(
    session: ScopedSession, filename: str, target: str, language: str
) -> dict[str, Any]:
    """What was said of the file when it was imported before holds for its next version."""
    options = session.scalar(
        select(LibraryImport.options)
        .where(
            LibraryImport.group_id == session.scope.group_id,
            LibraryImport.filename == filename,
            LibraryImport.target == target,
            LibraryImport.language == language,
            LibraryImport.status == "applied",
        )
        .order_by(LibraryImport.id.desc())
        .limit(1)
    )
    return dict(options or {})


def _ask_for(session: ScopedSession, task: str, item: LibraryImport) -> None:
    """Have a job go on with an import, as the person whose session this is.

    A group's imports take turns, whatever is done with them, so that other groups' need not wait
    for all of them.
    """
    scope = session.scope
    defer(
        session, task, lock=f"imports:{scope.group_id}", import_id=item.id,
        group_id=scope.group_id, user_id=scope.user_id, role=scope.role,
    )  # fmt: skip


def _imports(session: ScopedSession) -> Select[LibraryImport]:
    return select(LibraryImport).where(LibraryImport.group_id == session.scope.group_id)


def _light(query: Select[LibraryImport]) -> Select[LibraryImport]:
    return query.options(*_WITHOUT_PLAN)


def load_import(
    session: ScopedSession, import_id: UUID, *, lock: bool = False, is_light: bool = False
) -> LibraryImport:
    """An import of the group as it stands now, or NotFound; a light one is without its plan."""
    query = _imports(session).where(LibraryImport.id == import_id)
    query = query.execution_options(populate_existing=True)
    if is_light:
        query = _light(query)
    # Not a full lock: revisions that are being written refer to the row, and hold it by its key.
    item = session.scalar(query.with_for_update(key_share=True) if lock else query)
    if item is None:
        raise NotFound("This import does not exist, or you don't have access to it.")
    return item


def list_imports(session: ScopedSession) -> Sequence[tuple[LibraryImport, str]]:
    """The latest imports, without their plans, each with the name of who brought it."""
    query = (
        select(LibraryImport, User.name)
        .outerjoin(User, User.id == LibraryImport.user_id)
        .where(LibraryImport.group_id == session.scope.group_id)
        .options(*_WITHOUT_PLAN)
        .order_by(LibraryImport.id.desc())
        .limit(LISTED)
    )
    return [(item, name or "") for item, name in session.execute(query)]


def list_chapters(session: ScopedSession, language: str) -> list[tuple[str, str]]:
    """Slug and title of the chapters that a file in `language` may be the other one of.

    They come in the manual's order, and one more than may be listed where there are more.
    """
    chapters = _chapters(session, language)
    rows = session.execute(
        chapters.order_by(ManualSection.position, ManualSection.slug).limit(MOST_CHAPTERS + 1)
    )
    return [(slug, title) for slug, title in rows]


def are_chapters(session: ScopedSession, language: str, slugs: Collection[str]) -> bool:
    """Whether all of these name chapters that a file in `language` may be the other one of."""
    found = _chapters(session, language).where(ManualSection.slug.in_(slugs))
    return {slug for slug, _title in session.execute(found)} == set(slugs)


def _chapters(session: ScopedSession, language: str) -> Select[str, str]:
    title = ManualSection.title_en if language == "es" else ManualSection.title_es
    return select(ManualSection.slug, title).where(
        ManualSection.group_id == session.scope.group_id,
        ManualSection.parent_id.is_(None),
        title != "",
    )


def apply_when_ready(session: ScopedSession, import_id: UUID, signature: str) -> LibraryImport:
    """Have an import applied as it was shown; asking twice is asking once.

    Raises:
        Conflict: it is not ready, or what it would do is not what was shown.
    """
    item = load_import(session, import_id, lock=True, is_light=True)
    if item.status in ("applying", "applied"):
        session.rollback()
        # What the rollback has let go of is loaded again as a whole otherwise.
        return load_import(session, import_id, is_light=True)
    if item.status != "ready":
        raise Conflict(CHANGED_MEANWHILE)
    if load_signature(session, item.id) != signature:
        raise Conflict("The library has changed since you looked. This is what would happen now.")
    _move(item, "applying")
    item.user_id, item.role = session.scope.user_id, session.scope.role
    _ask_for(session, "apply_import", item)
    session.commit()
    return item


def cancel_import(session: ScopedSession, import_id: UUID, shown: str) -> LibraryImport:
    """Stop an import, or its undoing, at any point before it is written.

    `shown` is the status that the person saw: what somebody else has begun since goes on.

    Raises:
        Conflict: it is too late, or it is on its way to something else by now.
    """
    item = load_import(session, import_id, lock=True, is_light=True)
    if item.status in DECIDED and item.status != shown:
        raise Conflict(CHANGED_MEANWHILE)
    if item.status == "undoing":
        _move(item, "applied")
    elif item.status in OPEN:
        _move(item, "cancelled")
        forget_file(session, item.id, with_reading=True)
    elif item.status != "cancelled":
        raise Conflict("It is too late to cancel this import.")
    record(session, "import_cancelled", item.filename, item.digest)
    session.commit()
    return item


def undo_import(session: ScopedSession, import_id: UUID) -> LibraryImport:
    """Have everything that an import changed go back to what it was.

    Raises:
        Conflict: it was not applied.
    """
    item = load_import(session, import_id, lock=True, is_light=True)
    if item.status in ("undoing", "undone"):
        session.rollback()
        return load_import(session, import_id, is_light=True)
    if item.status != "applied" or item.report.get("nothing"):
        raise Conflict(CHANGED_MEANWHILE)
    _move(item, "undoing")
    # What became of an earlier try does not count any more.
    item.report = {n: v for n, v in item.report.items() if n not in ("undone", "is_broken")}
    _ask_for(session, "undo_import", item)
    session.commit()
    return item


def choose_editions(
    session: ScopedSession, import_id: UUID, chosen: Mapping[str, str], signature: str
) -> LibraryImport:
    """Say which chapters the documents of a file are another language of, and plan anew.

    Raises:
        Conflict: the import is not waiting for an answer, or has another plan than was shown.
        InvalidInput: there is no such chapter.
    """
    item = load_import(session, import_id, lock=True, is_light=True)
    if item.status != "ready" or load_signature(session, item.id) != signature:
        raise Conflict(CHANGED_MEANWHILE)
    is_known = set(chosen) <= load_sources(session, item.id)
    if not is_known or not are_chapters(session, item.language, set(chosen.values()) - {""}):
        raise InvalidInput("Choose from the list.")
    item.options = {**item.options, "editions": {**item.options.get("editions", {}), **chosen}}
    _move(item, "reading")
    _ask_for(session, "read_import", item)
    session.commit()
    return item


def settle_broken(session: ScopedSession, item: LibraryImport) -> None:
    """End what went wrong here: nothing has changed, and the page says so."""
    _move(item, "applied" if item.status == "undoing" else "failed")
    # Whoever tries again brings the file again; what was read in it is not read twice.
    forget_file(session, item.id, with_reading=False)
    item.report = {**item.report, "is_broken": True}


def _move(item: LibraryImport, status: str) -> None:
    item.status, item.step, item.done, item.total = status, "", 0, 0
    item.updated_at = utc_now()
