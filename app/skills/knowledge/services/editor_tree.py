"""The manual's tree as its editors see it: every section, published or not, without its text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text

from app.db import ScopedSession
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.library_lock import share_library
from app.skills.knowledge.services.manual_tree import DEEPEST
from app.text.bilingual import in_language

# So many sections are in memory at once, and fewer of those that are long.
BATCH_ROWS, BATCH_BYTES = 50, 500_000


class TreeRow(NamedTuple):
    """A section as the tree needs it."""

    id: UUID
    parent_id: UUID | None
    position: int
    slug: str
    title_en: str
    title_es: str
    is_published: bool
    version: int

    def title(self, language: str) -> str:
        """The title in `language`, else in the one there is."""
        return in_language(language, self.title_en, self.title_es)


_COLUMNS = (
    ManualSection.id,
    ManualSection.parent_id,
    ManualSection.position,
    ManualSection.slug,
    ManualSection.title_en,
    ManualSection.title_es,
    ManualSection.is_published,
    ManualSection.version,
)


@dataclass(frozen=True)
class WholeTree:
    """The sections by their ids, and by the one they stand under, in order."""

    by_id: Mapping[UUID, TreeRow]
    below: Mapping[UUID | None, Sequence[TreeRow]]

    def ancestors(self, section: ManualSection | TreeRow) -> list[TreeRow]:
        """The sections above this one, the topmost first."""
        above: dict[UUID, TreeRow] = {}
        parent = self.by_id.get(section.parent_id) if section.parent_id else None
        # A circle in the data must not become one here.
        while parent is not None and parent.id not in above:
            above[parent.id] = parent
            parent = self.by_id.get(parent.parent_id) if parent.parent_id else None
        return [*reversed(above.values())]

    def outline(
        self, parent: UUID | None = None, *, without: UUID | None = None
    ) -> Iterator[tuple[int, TreeRow]]:
        """What stands under `parent` from first to last, each with its depth (0: right under it).

        `without` and what stands under that is left out.
        """
        seen = {parent, without}
        waiting = [(0, row) for row in reversed(self.below.get(parent, ()))]
        while waiting:
            depth, row = waiting.pop()
            if row.id in seen:
                continue
            seen.add(row.id)
            yield depth, row
            waiting += [(depth + 1, each) for each in reversed(self.below.get(row.id, ()))]

    def reading_order(self, parent: UUID | None = None) -> list[TreeRow]:
        """All that stands under `parent`, as one would read it from first to last."""
        return [row for _, row in self.outline(parent)]


def load_whole_tree(session: ScopedSession, *, lock: bool = False) -> WholeTree:
    """The group's tree; with `lock`, nobody else may move in it."""
    own = ManualSection.group_id == session.scope.group_id
    if lock:
        share_library(session)
        # In one order for everybody, so that two who move at once take turns; and read
        # afterwards, because what was added while this one waited is not among the locked.
        session.execute(
            select(ManualSection.id).where(own).order_by(ManualSection.id).with_for_update()
        )
    rows = [TreeRow(*row) for row in session.execute(select(*_COLUMNS).where(own))]
    below: dict[UUID | None, list[TreeRow]] = {}
    for row in sorted(rows, key=lambda row: (row.position, row.slug)):
        below.setdefault(row.parent_id, []).append(row)
    return WholeTree({row.id: row for row in rows}, below)


def load_rows(session: ScopedSession, ids: Collection[UUID]) -> dict[UUID, ManualSection]:
    """These sections with their texts, as they are in the database now, in the order asked for."""
    query = select(ManualSection).where(
        ManualSection.group_id == session.scope.group_id, ManualSection.id.in_(ids)
    )
    rows = session.scalars(query.execution_options(populate_existing=True))
    found = {row.id: row for row in rows}
    return {id_: found[id_] for id_ in ids if id_ in found}


def load_in_batches(session: ScopedSession, ids: Collection[UUID]) -> Iterator[list[ManualSection]]:
    """`load_rows` in pieces: whoever keeps none of them has few of them in memory at a time.

    What was changed in a piece is written before the next one is loaded. Each asks the database,
    and so lets everybody else of the process go on.
    """
    for batch in _batches(session, ids):
        yield list(load_rows(session, batch).values())
        session.flush()


def _batches(session: ScopedSession, ids: Collection[UUID]) -> Iterator[list[UUID]]:
    sizes = _sizes(session, ids)
    batch: list[UUID] = []
    size = 0
    for id_ in ids:
        own = sizes.get(id_, 0)
        if batch and (len(batch) == BATCH_ROWS or size + own > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(id_)
        size += own
    if batch:
        yield batch


def _sizes(session: ScopedSession, ids: Collection[UUID]) -> dict[UUID, int]:
    """The bytes of the texts of these sections, which the database knows without reading them."""
    size = func.octet_length(ManualSection.body_en) + func.octet_length(ManualSection.body_es)
    rows = session.execute(
        select(ManualSection.id, size).where(
            ManualSection.group_id == session.scope.group_id, ManualSection.id.in_(ids)
        )
    )
    return dict(rows.all())


_NUMBER = text("""
    UPDATE manual_sections AS s SET position = n.position
    FROM unnest(CAST(:ids AS uuid[]), CAST(:positions AS integer[])) AS n (id, position)
    WHERE s.group_id = :group AND s.id = n.id
""")


def number_rows(session: ScopedSession, places: Mapping[UUID, int]) -> None:
    """Give these sections other places among their siblings, without reading them.

    That is no change of theirs: their words, their versions and when they changed stay.
    """
    if places:
        values = {"ids": list(places), "positions": list(places.values())}
        session.execute(_NUMBER, {"group": session.scope.group_id, **values})


# UNION and not UNION ALL: what was found already is not gone through again.
_BELOW = text("""
    WITH RECURSIVE below AS (
        SELECT id FROM manual_sections WHERE group_id = :group AND id = ANY (:ids)
        UNION
        SELECT s.id FROM below AS b JOIN manual_sections AS s ON s.parent_id = b.id
        WHERE s.group_id = :group
    )
    SELECT id FROM below
""")
_ABOVE = text("""
    WITH RECURSIVE above AS (
        SELECT id, parent_id, is_published FROM manual_sections
        WHERE group_id = :group AND id = :id
        UNION
        SELECT s.id, s.parent_id, s.is_published
        FROM above AS a JOIN manual_sections AS s ON s.id = a.parent_id
        WHERE s.group_id = :group
    )
    SELECT EXISTS (SELECT 1 FROM above WHERE NOT is_published)
""")


# What is above each of some sections, from the top down; no manual is as deep as `deepest`.
_TITLES = text("""
    WITH RECURSIVE chain AS (
        SELECT id AS start, parent_id, 0 AS height FROM manual_sections
        WHERE group_id = :group AND id = ANY (:ids)
        UNION ALL
        SELECT c.start, s.parent_id, c.height + 1
        FROM chain AS c JOIN manual_sections AS s ON s.id = c.parent_id
        WHERE s.group_id = :group AND c.height < :deepest
    )
    SELECT c.start, s.title_en, s.title_es
    FROM chain AS c JOIN manual_sections AS s ON s.id = c.parent_id
    WHERE s.group_id = :group ORDER BY c.start, c.height DESC
""")


def find_titles_above(
    session: ScopedSession, group_id: UUID, ids: Collection[UUID]
) -> dict[UUID, list[tuple[str, str]]]:
    """The titles of the sections above each of these, in English and in Spanish, topmost first.

    A title in one language serves for both. Hidden sections count: they are where it stands.
    """
    above: dict[UUID, list[tuple[str, str]]] = {id_: [] for id_ in ids}
    values = {"group": group_id, "ids": list(above), "deepest": DEEPEST}
    for start, english, spanish in session.execute(_TITLES, values) if above else ():
        above[start].append((english or spanish, spanish or english))
    return above


def find_with_below(session: ScopedSession, group_id: UUID, ids: Collection[UUID]) -> set[UUID]:
    """The ids of these sections and of all below them."""
    return set(session.scalars(_BELOW, {"group": group_id, "ids": list(ids)}))


def is_hidden(session: ScopedSession, section_id: UUID) -> bool:
    """True when this section, or one above it, is not shown to readers."""
    values = {"group": session.scope.group_id, "id": section_id}
    return bool(session.scalar(_ABOVE, values))
