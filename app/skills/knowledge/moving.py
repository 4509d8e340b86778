"""Moving sections within the manual: up, down, and under another one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import Conflict, InvalidInput
from app.skills.knowledge.editing import load_section_to_edit
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.reindexing import reindex_sections
from app.skills.knowledge.revisions import keep, snapshot
from app.skills.knowledge.whole_tree import WholeTree, load_whole_tree

STEPS = {"up": -1, "down": 1}


def move_section(
    session: ScopedSession, section_id: UUID, version: int, direction: str
) -> ManualSection:
    """Change places with the neighbour before (`up`) or after (`down`) it.

    At either end it stays where it is.

    Raises:
        NotFound
        InvalidInput: no such direction.
        Conflict: the section has changed since `version`.
    """
    if direction not in STEPS:
        raise InvalidInput("Choose from the list.", field="direction")
    tree, section = _load(session, section_id, version)
    siblings = list(tree.below[section.parent_id])
    place = siblings.index(section)
    other = place + STEPS[direction]
    if 0 <= other < len(siblings):
        siblings[place], siblings[other] = siblings[other], siblings[place]
        _put(session, siblings, section.parent_id)
        record(session, "section_moved", f"{section.slug}: {direction}")
    session.commit()
    return section


def move_under(
    session: ScopedSession, section_id: UUID, version: int, parent_id: UUID | None
) -> ManualSection:
    """Make it the last of what stands under `parent_id` (None: a chapter of its own).

    Raises:
        NotFound
        InvalidInput: there is no such parent, or it stands under the section itself.
        Conflict: the section has changed since `version`.
    """
    tree, section = _load(session, section_id, version)
    everything = {row.id: row for rows in tree.below.values() for row in rows}
    if parent_id is not None and parent_id not in everything:
        raise InvalidInput("Choose from the list.", field="parent_id")
    own = {section.id, *(row.id for row in tree.reading_order(section.id))}
    if parent_id in own:
        raise InvalidInput("A section cannot stand under itself.", field="parent_id")
    if parent_id != section.parent_id:
        siblings = [*tree.below.get(parent_id, ()), section]
        _put(session, siblings, parent_id)
        under = everything[parent_id].slug if parent_id else "the top"
        record(session, "section_moved", f"{section.slug}: under {under}")
        reindex_sections(session, [section])
    session.commit()
    return section


def _load(
    session: ScopedSession, section_id: UUID, version: int
) -> tuple[WholeTree, ManualSection]:
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id)
    if section.version != version:
        raise Conflict("Somebody has changed this meanwhile. Look at it again first.")
    return tree, section


def _put(session: ScopedSession, siblings: Sequence[ManualSection], parent_id: UUID | None) -> None:
    """Number the siblings in this order; those that keep their place are not touched."""
    for position, row in enumerate(siblings):
        before = snapshot(row)
        row.position, row.parent_id = position, parent_id
        keep(session, row, before)
    session.flush()
