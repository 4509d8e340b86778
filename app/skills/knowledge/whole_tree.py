"""The manual's tree as its editors see it: every section, published or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from app.db import ScopedSession
from app.skills.knowledge.models import ManualSection


@dataclass(frozen=True)
class WholeTree:
    """The sections by the one they stand under, in order."""

    below: Mapping[UUID | None, Sequence[ManualSection]]

    def ancestors(self, section: ManualSection) -> list[ManualSection]:
        """The sections above this one, the topmost first."""
        by_id = {row.id: row for rows in self.below.values() for row in rows}
        above: list[ManualSection] = []
        parent = by_id.get(section.parent_id) if section.parent_id else None
        while parent is not None:
            above.insert(0, parent)
            parent = by_id.get(parent.parent_id) if parent.parent_id else None
        return above

    def reading_order(self, parent: UUID | None = None) -> list[ManualSection]:
        """All that stands under `parent`, as one would read it from first to last."""
        flat: list[ManualSection] = []
        for row in self.below.get(parent, ()):
            flat += [row, *self.reading_order(row.id)]
        return flat


def load_whole_tree(session: ScopedSession, *, lock: bool = False) -> WholeTree:
    """The group's tree; with `lock`, nobody else may move in it."""
    query = select(ManualSection).where(ManualSection.group_id == session.scope.group_id)
    if lock:
        # In one order for everybody, so that two who move at once take turns.
        query = query.order_by(ManualSection.id).with_for_update()
        query = query.execution_options(populate_existing=True)
    below: dict[UUID | None, list[ManualSection]] = {}
    for row in sorted(session.scalars(query), key=lambda row: (row.position, row.slug)):
        below.setdefault(row.parent_id, []).append(row)
    return WholeTree(below)
