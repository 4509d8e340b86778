"""The manual as a tree, read piece by piece: a long manual costs no more than a short one.

Sections stand in the order of their position; one below an unpublished chapter can be read,
but is nobody's neighbour, because no reader would come past it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select, text, tuple_

from app.db import ScopedSession
from app.skills.knowledge.models import ManualSection
from app.text.bilingual import in_language

# A branch of the tree is shown so much at a time.
BRANCH = 200
# No manual is as deep; a loop in the data must not become one here.
DEEPEST = 40


@dataclass(frozen=True)
class SectionLink:
    """A section as the tree shows it, without its text."""

    id: UUID
    parent_id: UUID | None
    position: int
    slug: str
    title_en: str
    title_es: str
    below: int = 0  # how many sections stand right under it

    def title(self, language: str) -> str:
        """The title in `language`, else in the one there is."""
        return in_language(language, self.title_en, self.title_es)


@dataclass(frozen=True)
class Branch:
    """Sections under one parent (or at the top) from `first` on; `more`: others follow."""

    links: Sequence[SectionLink]
    first: int
    more: bool
    size: int = BRANCH


@dataclass(frozen=True)
class Place:
    """Where a section stands: those above it (topmost first), those right below, its neighbours."""

    above: Sequence[SectionLink]
    below: Branch
    before: SectionLink | None
    after: SectionLink | None


_COLUMNS = (
    ManualSection.id,
    ManualSection.parent_id,
    ManualSection.position,
    ManualSection.slug,
    ManualSection.title_en,
    ManualSection.title_es,
)


def list_branch(session: ScopedSession, parent_id: UUID | None, first: int = 0) -> Branch:
    """The published sections under `parent_id` (None: the chapters), `BRANCH` of them at most."""
    rows = session.execute(
        _published(session, *_COLUMNS)
        .where(ManualSection.parent_id == parent_id)
        .order_by(ManualSection.position, ManualSection.slug)
        .offset(first)
        .limit(BRANCH + 1)
    ).all()
    shown = rows[:BRANCH]
    below = _count_below(session, [row.id for row in shown])
    links = [replace(SectionLink(*row), below=below.get(row.id, 0)) for row in shown]
    return Branch(links, first, len(rows) > BRANCH)


def _count_below(session: ScopedSession, ids: Sequence[UUID]) -> dict[UUID | None, int]:
    rows = session.execute(
        _published(session, ManualSection.parent_id, func.count())
        .where(ManualSection.parent_id.in_(ids))
        .group_by(ManualSection.parent_id)
    )
    return dict(rows.all())


def _published(session: ScopedSession, *columns: Any) -> Select[Any]:
    return select(*columns).where(
        ManualSection.group_id == session.scope.group_id, ManualSection.is_published
    )


# The sections above each of some sections, the topmost first, as far up as they are published.
_ABOVE = text("""
    WITH RECURSIVE chain AS (
        SELECT id AS start, parent_id, 0 AS height FROM manual_sections
        WHERE group_id = :group AND id = ANY (:ids)
        UNION ALL
        SELECT c.start, s.parent_id, c.height + 1
        FROM chain AS c JOIN manual_sections AS s ON s.id = c.parent_id
        WHERE s.group_id = :group AND s.is_published AND c.height < :deepest
    )
    SELECT c.start, s.id, s.parent_id, s.position, s.slug, s.title_en, s.title_es
    FROM chain AS c JOIN manual_sections AS s ON s.id = c.parent_id
    WHERE s.group_id = :group AND s.is_published ORDER BY c.start, c.height DESC
""")


def find_paths(session: ScopedSession, ids: Iterable[UUID]) -> dict[UUID, list[SectionLink]]:
    """For each of these sections those above it, the topmost first, as far as published."""
    paths: dict[UUID, list[SectionLink]] = {id_: [] for id_ in ids}
    parameters = {"group": session.scope.group_id, "ids": list(paths), "deepest": DEEPEST}
    for start, *columns in session.execute(_ABOVE, parameters) if paths else ():
        paths[start].append(SectionLink(*columns))
    return paths


def find_place(session: ScopedSession, section: ManualSection, first: int = 0) -> Place:
    """Where a section stands; `first` is where the list of those below it begins."""
    above = find_paths(session, [section.id])[section.id]
    below = list_branch(session, section.id, first)
    itself = SectionLink(
        section.id,
        section.parent_id,
        section.position,
        section.slug,
        section.title_en,
        section.title_es,
    )
    topmost = above[0] if above else itself
    if topmost.parent_id is not None:
        return Place(above, below, None, None)
    before = _before(session, itself, above)
    return Place(above, below, before, _after(session, [itself, *reversed(above)]))


def _after(session: ScopedSession, upwards: Sequence[SectionLink]) -> SectionLink | None:
    """The first section below, else what follows it or the nearest above it that has one."""
    first = _edge(session, _published(session, *_COLUMNS), upwards[0].id, last=False)
    for link in () if first else upwards:
        place = tuple_(ManualSection.position, ManualSection.slug)
        later = _published(session, *_COLUMNS).where(place > (link.position, link.slug))
        if found := _edge(session, later, link.parent_id, last=False):
            return found
    return first


def _before(
    session: ScopedSession, itself: SectionLink, above: Sequence[SectionLink]
) -> SectionLink | None:
    """The last section below the sibling before it, else that sibling, else its parent."""
    place = tuple_(ManualSection.position, ManualSection.slug)
    earlier = _published(session, *_COLUMNS).where(place < (itself.position, itself.slug))
    found = _edge(session, earlier, itself.parent_id, last=True)
    if found is None:
        return above[-1] if above else None
    for _depth in range(DEEPEST):
        deeper = _edge(session, _published(session, *_COLUMNS), found.id, last=True)
        if deeper is None:
            break
        found = deeper
    return found


def _edge(
    session: ScopedSession, query: Select[Any], parent_id: UUID | None, *, last: bool
) -> SectionLink | None:
    """The first or the last of the sections in `query` that stand right under a parent."""
    order = (ManualSection.position, ManualSection.slug)
    row = session.execute(
        query.where(ManualSection.parent_id == parent_id)
        .order_by(*(column.desc() if last else column for column in order))
        .limit(1)
    ).first()
    return SectionLink(*row) if row else None
