"""Taking sections out of readers' sight, with what hangs below them, and showing them again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import and_, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import aliased

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import Conflict
from app.skills.knowledge.models import LibraryRevision, ManualSection
from app.skills.knowledge.services.editor_tree import (
    TreeRow,
    WholeTree,
    load_in_batches,
    load_whole_tree,
)
from app.skills.knowledge.services.reindex import reindex_sections
from app.skills.knowledge.services.revisions import keep, snapshot
from app.skills.knowledge.services.sections import load_section_to_edit
from app.skills.knowledge.services.visibility import check_may_show

PAGE = 25
# So many sections below one are named; of more than that it is said how many they are.
MOST_NAMED = 20


@dataclass(frozen=True)
class HiddenBranch:
    """A hidden section that may be shown again, and what is hidden below it, with its depth."""

    top: TreeRow
    below: Sequence[tuple[int, TreeRow]]
    more: int  # how many there are below it that are not named


@dataclass(frozen=True)
class HiddenPage:
    """Some of the hidden branches, the last changed first."""

    branches: Sequence[HiddenBranch]
    has_more: bool


def withdraw_section(session: ScopedSession, section_id: UUID, version: int) -> int:
    """Take a section, and what hangs below it, out of readers' sight; returns how many.

    Nothing is lost: `restore_section` brings the same ones back.

    Raises:
        NotFound
        Conflict: it has changed since `version`.
    """
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id, lock=True)
    if section.version != version:
        raise Conflict("Somebody has changed this meanwhile. Look at it again first.")
    below = [row.id for row in list_shown_below(tree, section_id)]
    withdrawn = [section_id, *below] if section.is_published else below
    _publish(session, withdrawn, False)
    record(session, "section_withdrawn", f"{section.slug} and {len(below)} below it")
    session.commit()
    return len(withdrawn)


def restore_section(session: ScopedSession, section_id: UUID) -> int:
    """Show a withdrawn section again, with what went together with it; returns how many.

    Raises:
        NotFound
        Conflict: what it stands under is not shown itself.
    """
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id, lock=True)
    if section.is_published:
        return 0
    check_may_show(session, section.parent_id)
    below = [row.id for row in tree.reading_order(section_id) if not row.is_published]
    taken = _withdrawals(session, [section_id, *below])
    since = taken.get(section_id)
    # Ids are in the order of time: withdrawn with it, or after it.
    together = [id_ for id_ in below if since and id_ in taken and taken[id_] >= since]
    _publish(session, [section_id, *together], True)
    record(session, "section_restored", f"{section.slug} and {len(together)} below it")
    session.commit()
    return 1 + len(together)


def list_shown_below(tree: WholeTree, section_id: UUID) -> list[TreeRow]:
    """What readers see below a section, and would not see any more without it."""
    return [row for row in tree.reading_order(section_id) if row.is_published]


def list_hidden_branches(session: ScopedSession, page: int = 1) -> HiddenPage:
    """The sections that readers do not see, each below the topmost that hides it."""
    parent = aliased(ManualSection)
    query = (
        select(ManualSection.id)
        .outerjoin(
            parent,
            and_(parent.id == ManualSection.parent_id, parent.group_id == ManualSection.group_id),
        )
        .where(
            ManualSection.group_id == session.scope.group_id,
            ~ManualSection.is_published,
            or_(parent.id.is_(None), parent.is_published),
        )
        .order_by(ManualSection.updated_at.desc(), ManualSection.id)
    )
    ids = session.scalars(query.offset((page - 1) * PAGE).limit(PAGE + 1)).all()
    if not ids:
        return HiddenPage((), False)
    tree = load_whole_tree(session)
    branches = [_hidden_branch(tree, tree.by_id[id_]) for id_ in ids[:PAGE]]
    return HiddenPage(branches, len(ids) > PAGE)


def _hidden_branch(tree: WholeTree, top: TreeRow) -> HiddenBranch:
    hidden = [(depth, row) for depth, row in tree.outline(top.id) if not row.is_published]
    return HiddenBranch(top, hidden[:MOST_NAMED], max(len(hidden) - MOST_NAMED, 0))


def _publish(session: ScopedSession, ids: Sequence[UUID], shown: bool) -> None:
    for batch in load_in_batches(session, ids):
        for row in batch:
            before = snapshot(row)
            row.is_published = shown
            keep(session, row, before)
        reindex_sections(session, batch, with_below=False)


def _withdrawals(session: ScopedSession, ids: Collection[UUID]) -> dict[UUID, UUID]:
    """The latest change that took each of these out of sight, as far as there is one."""
    rows = session.execute(
        select(LibraryRevision.entity_id, LibraryRevision.id)
        .ext(distinct_on(LibraryRevision.entity_id))
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id.in_(ids),
            LibraryRevision.snapshot["is_published"].as_boolean(),
        )
        .order_by(LibraryRevision.entity_id, LibraryRevision.version.desc())
    )
    return dict(rows.all())
