"""What a section of the manual was before: to read, to compare, and to bring back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from app.accounts.audit import record
from app.accounts.models import User
from app.db import JsonObject, ScopedSession
from app.differences import Change, compare
from app.errors import Conflict, NotFound
from app.queue import defer
from app.retrieval.index import SourceInput, index_sources
from app.skills.knowledge.manual_tree import find_paths
from app.skills.knowledge.models import LibraryImport, LibraryRevision, ManualSection
from app.skills.knowledge.revisions import keep, restore, snapshot
from app.skills.knowledge.sources import SECTION_CONTEXTS, section_source

# What an older version brings back. Its place and its address stay: others may have them now.
WORDS = ("title_en", "title_es", "body_en", "body_es")
BROUGHT_BACK = (*WORDS, "kind", "is_published")


@dataclass(frozen=True)
class Version:
    """A section as it stood until a change, and who changed it when."""

    number: int
    until: datetime
    author: str | None
    filename: str | None  # of the import that changed it, where one did


@dataclass(frozen=True)
class Difference:
    """How a version became what the section says now: texts by name, and what else differs."""

    texts: Mapping[str, Sequence[Change]]
    kind: tuple[str, str] | None
    is_published: tuple[bool, bool] | None

    @property
    def is_none(self) -> bool:
        return not (self.texts or self.kind or self.is_published)


def load_for_editor(session: ScopedSession, slug: str, *, lock: bool = False) -> ManualSection:
    """A section of the group, published or not, or NotFound; with `lock`, kept until the commit."""
    query = select(ManualSection).where(
        ManualSection.group_id == session.scope.group_id, ManualSection.slug == slug
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    section = session.scalar(query)
    if section is None:
        raise NotFound("The manual has no such section any more.")
    return section


_CHANGE = (
    LibraryRevision.version,
    LibraryRevision.created_at,
    User.name.label("author"),
    LibraryImport.filename,
)


def list_versions(session: ScopedSession, section: ManualSection) -> list[Version]:
    """What it was before, the latest first; the change that made it is not a version."""
    rows = session.execute(
        select(*_CHANGE)
        .outerjoin(User, User.id == LibraryRevision.author_id)
        .outerjoin(LibraryImport, LibraryImport.id == LibraryRevision.import_id)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == section.id,
            LibraryRevision.snapshot.is_not(None),
        )
        .order_by(LibraryRevision.version.desc())
    )
    return [Version(*row) for row in rows]


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
    was = session.scalar(
        select(LibraryRevision.snapshot).where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == section.id,
            LibraryRevision.version == number,
        )
    )
    if was is None:
        raise NotFound("There is no such version of this section.")
    return was


def compare_with_now(section: ManualSection, was: JsonObject) -> Difference:
    """How the section has changed since it was that."""
    now = snapshot(section)
    differing = {name for name in BROUGHT_BACK if was.get(name) != now[name]}
    return Difference(
        texts={name: compare(was[name], now[name]) for name in WORDS if name in differing},
        kind=(was["kind"], now["kind"]) if "kind" in differing else None,
        is_published=(was["is_published"], now["is_published"])
        if "is_published" in differing
        else None,
    )


def restore_version(
    session: ScopedSession, slug: str, number: int, seen_version: int
) -> ManualSection:
    """Make the section say again what it said in that version, and find it by that.

    `seen_version` is the one that the editor compared it with.

    Raises:
        NotFound. Conflict: somebody has changed it since; nothing is written.
    """
    section = load_for_editor(session, slug, lock=True)
    was = load_version(session, section, number)
    if section.version != seen_version:
        raise Conflict("Somebody has changed this section since you opened this page. Look again.")
    before = snapshot(section)
    restore(section, {name: was[name] for name in BROUGHT_BACK if name in was})
    if keep(session, section, before):
        session.flush()
        is_renamed = any(before[name] != was.get(name) for name in ("title_en", "title_es"))
        reindex(session, section, with_below=is_renamed)
        record(session, "section_restored", f"{section.slug} v{number}")
    session.commit()
    return section


def reindex(session: ScopedSession, section: ManualSection, *, with_below: bool) -> None:
    """Bring the search in step with a section, and those below it where its title changed."""
    sections = [section, *(_all_below(session, section) if with_below else [])]
    paths = find_paths(session, [each.id for each in sections])
    sources: list[SourceInput] = []
    for each in sections:
        above = paths[each.id]
        english, spanish = ([link.title(lang) for link in above] for lang in ("en", "es"))
        source = section_source(each, english, spanish)
        former = [kind for kind in SECTION_CONTEXTS if kind != source.source_type]
        sources += [source, *(SourceInput(kind, each.id, ()) for kind in former)]
    index_sources(session, group_id=section.group_id, sources=sources)
    group = str(section.group_id)
    defer(session, "embed_missing", lock=f"embed:{group}", group_id=group)


def _all_below(session: ScopedSession, section: ManualSection) -> list[ManualSection]:
    tree = (
        select(ManualSection.id)
        .where(
            ManualSection.group_id == session.scope.group_id,
            ManualSection.parent_id == section.id,
        )
        .cte(recursive=True)
    )
    below = tree.union(
        select(ManualSection.id)
        .join(tree, ManualSection.parent_id == tree.c.id)
        .where(ManualSection.group_id == session.scope.group_id)
    )
    ids: list[UUID] = list(session.scalars(select(below.c.id)))
    return list(
        session.scalars(
            select(ManualSection).where(
                ManualSection.group_id == session.scope.group_id, ManualSection.id.in_(ids)
            )
        )
    )
