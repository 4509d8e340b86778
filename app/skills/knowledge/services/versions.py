"""What a section of the manual was before: to read, to compare, and to bring back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, select

from app.accounts.audit import record
from app.accounts.edit_history import VERSIONS_A_PAGE, Versions
from app.accounts.models import User
from app.config import LANGUAGES
from app.db import JsonObject, ScopedSession
from app.errors import N_, Conflict, NotFound
from app.skills.knowledge.models import LibraryImport, LibraryRevision, ManualSection
from app.skills.knowledge.services.library_lock import share_library
from app.skills.knowledge.services.reindex import reindex_sections
from app.skills.knowledge.services.revisions import keep, restore, snapshot
from app.skills.knowledge.services.sections import (
    TITLES,
    WORDS,
    check_letters,
)
from app.skills.knowledge.services.visibility import check_shown
from app.text.diff import Change, Effort, compare

REVISIONS = Versions(
    LibraryRevision, LibraryRevision.entity_id, N_("There is no such version of this section.")
)
# What an older version brings back. Its place and its address stay: others may have them now.
BROUGHT_BACK = (*WORDS, "kind", "is_published")


@dataclass(frozen=True)
class SectionVersion:
    """A section as it stood until a change, and who changed it when."""

    number: int
    until: datetime
    author: str | None
    filename: str | None  # of the import that changed it, where one did


class SectionVersions(NamedTuple):
    """A page of them, the latest first, and whether there are older ones."""

    versions: Sequence[SectionVersion]
    has_more: bool


@dataclass(frozen=True)
class Difference:
    """How what a version brings back became what the section says now, and what else differs.

    `kept` are the languages that the version did not have: their texts of now stay.
    """

    texts: Mapping[str, Sequence[Change]]
    kind: tuple[str, str] | None
    is_published: tuple[bool, bool] | None
    kept: Sequence[str]

    @property
    def is_none(self) -> bool:
        return not (self.texts or self.kind or self.is_published)


def load_for_editor(session: ScopedSession, slug: str, *, lock: bool = False) -> ManualSection:
    """A section of the group, published or not, or NotFound; with `lock`, kept until the commit."""
    query = select(ManualSection).where(
        ManualSection.group_id == session.scope.group_id, ManualSection.slug == slug
    )
    if lock:
        share_library(session)
        query = query.with_for_update().execution_options(populate_existing=True)
    section = session.scalar(query)
    if section is None:
        raise NotFound("The manual no longer has that section.")
    return section


_CHANGE = (
    LibraryRevision.version,
    LibraryRevision.created_at,
    User.name.label("author"),
    LibraryImport.filename,
)


def list_versions(session: ScopedSession, section: ManualSection, page: int = 1) -> SectionVersions:
    """A page of what it was before; the change that made it is not a version."""
    rows = session.execute(
        _changes(session, section)
        .order_by(LibraryRevision.version.desc())
        .offset(VERSIONS_A_PAGE * (page - 1))
        .limit(VERSIONS_A_PAGE + 1)
    )
    found = [SectionVersion(*row) for row in rows]
    return SectionVersions(found[:VERSIONS_A_PAGE], len(found) > VERSIONS_A_PAGE)


def find_version(session: ScopedSession, section: ManualSection, number: int) -> SectionVersion:
    """Until when it was that version, and who changed it then, or NotFound."""
    row = session.execute(
        _changes(session, section).where(LibraryRevision.version == number)
    ).first()
    if row is None:
        raise NotFound(REVISIONS.missing)
    return SectionVersion(*row)


def _changes(session: ScopedSession, section: ManualSection) -> Select[int, datetime, str, str]:
    return (
        select(*_CHANGE)
        .outerjoin(User, User.id == LibraryRevision.author_id)
        .outerjoin(LibraryImport, LibraryImport.id == LibraryRevision.import_id)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == section.id,
            LibraryRevision.snapshot.is_not(None),
        )
    )


def last_author(session: ScopedSession, section: ManualSection) -> str | None:
    """Who changed it last, as far as that is known."""
    return session.scalar(
        select(User.name)
        .join(LibraryRevision, LibraryRevision.author_id == User.id)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == section.id,
        )
        .order_by(LibraryRevision.version.desc())
        .limit(1)
    )


def load_version(session: ScopedSession, section: ManualSection, number: int) -> JsonObject:
    """What the section was in that version, or NotFound."""
    was: JsonObject | None = REVISIONS.find(session, section.id, number).snapshot
    if was is None:
        raise NotFound(REVISIONS.missing)
    return was


def compare_with_now(section: ManualSection, was: JsonObject) -> Difference:
    """How the section has changed since it was that, as far as restoring it brings that back."""
    now, then = snapshot(section), _brought_back(section, was)
    differing = {name for name, value in then.items() if value != now[name]}
    effort = Effort()
    return Difference(
        texts={name: compare(then[name], now[name], effort) for name in WORDS if name in differing},
        kind=(then["kind"], now["kind"]) if "kind" in differing else None,
        is_published=(then["is_published"], now["is_published"])
        if "is_published" in differing
        else None,
        kept=_kept_languages(section, was),
    )


def _brought_back(section: ManualSection, was: JsonObject) -> JsonObject:
    """What restoring a version makes of the section.

    A language that the version did not have stays: it was written since, and never undone.
    """
    kept = _kept_languages(section, was)
    names = [name for name in BROUGHT_BACK if not name.endswith(tuple(f"_{each}" for each in kept))]
    return {name: was[name] for name in names if name in was}


def _kept_languages(section: ManualSection, was: JsonObject) -> list[str]:
    return [
        each
        for each in LANGUAGES
        if section.is_written_in(each) and not (was[f"title_{each}"] or was[f"body_{each}"])
    ]


def restore_version(
    session: ScopedSession, slug: str, number: int, seen_version: int
) -> ManualSection:
    """Make the section say again what it said in that version, and find it by that.

    A language that it did not have then stays as it is.

    `seen_version` is the one that the editor compared it with.

    Raises:
        NotFound
        Conflict: somebody has changed it since; nothing is written.
        InvalidInput, Conflict: it was hidden, or shown, where it cannot be now, or the manual
            would be too long.
    """
    section = load_for_editor(session, slug, lock=True)
    was = load_version(session, section, number)
    if section.version != seen_version:
        raise Conflict(
            "Somebody has changed this section since you opened this page. Look at it again."
        )
    wanted = _brought_back(section, was)
    check_shown(session, section, wanted["is_published"])
    brought = [(wanted[name], getattr(section, name)) for name in WORDS if name in wanted]
    check_letters(session, sum(len(then) - len(now) for then, now in brought))
    before = snapshot(section)
    restore(section, wanted)
    if keep(session, section, before):
        is_renamed = any(before[name] != getattr(section, name) for name in TITLES)
        reindex_sections(session, [section], with_below=is_renamed)
        record(session, "section_restored", f"{section.slug} v{number}")
    session.commit()
    return section
