"""Moving sections within the manual: up, down, and under another one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import Conflict, InvalidInput
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.editor_tree import TreeRow, WholeTree, load_rows, load_whole_tree
from app.skills.knowledge.services.reindex import reindex_sections
from app.skills.knowledge.services.revisions import keep, snapshot
from app.skills.knowledge.services.sections import load_section_to_edit
from app.skills.knowledge.services.visibility import check_may_show

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
    place = siblings.index(tree.by_id[section_id])
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
        Conflict: the section has changed since `version`, or readers see it and would not see
            what it stands under.
    """
    tree, section = _load(session, section_id, version)
    if parent_id is not None and parent_id not in tree.by_id:
        raise InvalidInput("Choose from the list.", field="parent_id")
    own = [tree.by_id[section_id], *tree.reading_order(section_id)]
    if parent_id in {row.id for row in own}:
        raise InvalidInput("A section cannot stand under itself.", field="parent_id")
    if parent_id != section.parent_id:
        if any(row.is_published for row in own):
            check_may_show(session, parent_id)
        _put(session, [*tree.below.get(parent_id, ()), own[0]], parent_id)
        under = tree.by_id[parent_id].slug if parent_id else "the top"
        record(session, "section_moved", f"{section.slug}: under {under}")
        reindex_sections(session, [section])
    session.commit()
    return section


def _load(
    session: ScopedSession, section_id: UUID, version: int
) -> tuple[WholeTree, ManualSection]:
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id, lock=True)
    if section.version != version:
        raise Conflict("Somebody has changed this meanwhile. Look at it again first.")
    return tree, section


def _put(session: ScopedSession, siblings: Sequence[TreeRow], parent_id: UUID | None) -> None:
    """Number the siblings in this order; those that keep their place are not touched."""
    places = {
        row.id: position
        for position, row in enumerate(siblings)
        if (row.position, row.parent_id) != (position, parent_id)
    }
    rows = load_rows(session, places)
    for id_, position in places.items():
        before = snapshot(rows[id_])
        rows[id_].position, rows[id_].parent_id = position, parent_id
        keep(session, rows[id_], before)
    session.flush()
