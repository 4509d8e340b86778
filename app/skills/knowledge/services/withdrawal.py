"""Taking sections out of readers' sight, with what hangs below them, and showing them again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import and_, or_, select, text
from sqlalchemy.orm import aliased

from app.accounts.audit import record
from app.db import ScopedSession, new_id
from app.errors import Conflict
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.editor_tree import (
    TreeRow,
    WholeTree,
    load_in_batches,
    load_whole_tree,
)
from app.skills.knowledge.services.reindex import reindex_sections
from app.skills.knowledge.services.revisions import WITHDRAWAL, keep, snapshot
from app.skills.knowledge.services.sections import load_section_to_edit
from app.skills.knowledge.services.visibility import check_may_show
from app.text.edits import check_same, sign

PAGE = 25
# So many sections below one are named; of more than that it is said how many they are.
MOST_NAMED = 20


@dataclass(frozen=True)
class HiddenBranch:
    """A hidden section that may be shown again, and what is hidden below it, with its depth."""

    top: TreeRow
    below: Sequence[tuple[int, TreeRow]]
    more: int  # how many there are below it that are not named
    coming_back: Mapping[UUID, TreeRow]  # what `restore_section` shows again, itself first

    @property
    def signature(self) -> str:
        return sign_rows(self.coming_back.values())


@dataclass(frozen=True)
class HiddenPage:
    """Some of the hidden branches, the last changed first."""

    branches: Sequence[HiddenBranch]
    has_more: bool


class _Hiding(NamedTuple):
    """The change that took a section out of sight; those before this was kept have no `mark`."""

    revision: UUID
    mark: str | None


def sign_rows(rows: Iterable[TreeRow]) -> str:
    """What tells these sections, as they are now, from others and from what they were before.

    A page that lists them carries it, so that nothing happens to sections that it did not list.
    """
    return sign(*((row.id, row.version) for row in rows))


def withdraw_section(session: ScopedSession, section_id: UUID, version: int, signature: str) -> int:
    """Take a section, and what hangs below it, out of readers' sight; returns how many.

    Nothing is lost: `restore_section` brings the same ones back. `signature` is that of the
    sections below that the person was shown (`list_shown_below`).

    Raises:
        NotFound
        Conflict: it has changed since `version`, or what hangs below it is not what was shown.
    """
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id, lock=True)
    check_same(version, section.version)
    shown = list_shown_below(tree, section_id)
    if sign_rows(shown) != signature:
        raise Conflict(
            "The sections below this one have changed since you opened this page. Nothing was"
            " withdrawn. Look at them again first."
        )
    below = [row.id for row in shown]
    withdrawn = [section_id, *below] if section.is_published else below
    _publish(session, withdrawn, False)
    record(session, "section_withdrawn", f"{section.slug} and {len(below)} below it")
    session.commit()
    return len(withdrawn)


def restore_section(session: ScopedSession, section_id: UUID, signature: str) -> int:
    """Show a withdrawn section again, with what went together with it; returns how many.

    `signature` is that of the sections that the person was told would come back.

    Raises:
        NotFound
        Conflict: what it stands under is not shown itself, or others would come back than those.
    """
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id, lock=True)
    if section.is_published:
        return 0
    check_may_show(session, section.parent_id)
    branch = _hidden_branches(session, tree, [section_id])[0]
    if branch.signature != signature:
        raise Conflict(
            "The sections to restore have changed since you opened this page. "
            "Nothing was restored. Look at them again first."
        )
    _publish(session, list(branch.coming_back), True)
    together = len(branch.coming_back)
    record(session, "section_restored", f"{section.slug} and {together - 1} below it")
    session.commit()
    return together


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
    branches = _hidden_branches(session, load_whole_tree(session), ids[:PAGE])
    return HiddenPage(branches, len(ids) > PAGE)


def load_hidden_branch(session: ScopedSession, section_id: UUID) -> HiddenBranch:
    """A section of the group with what is hidden below it, and what comes back with it.

    Raises:
        NotFound
    """
    tree = load_whole_tree(session)
    load_section_to_edit(session, section_id)
    return _hidden_branches(session, tree, [section_id])[0]


def _hidden_branches(
    session: ScopedSession, tree: WholeTree, ids: Sequence[UUID]
) -> list[HiddenBranch]:
    hidden = {
        id_: [(depth, row) for depth, row in tree.outline(id_) if not row.is_published]
        for id_ in ids
    }
    below = [row.id for rows in hidden.values() for _depth, row in rows]
    hidings = _find_hidings(session, [*ids, *below])
    return [
        HiddenBranch(
            tree.by_id[id_],
            rows[:MOST_NAMED],
            max(len(rows) - MOST_NAMED, 0),
            _coming_back(tree, tree.by_id[id_], hidings),
        )
        for id_, rows in hidden.items()
    ]


def _coming_back(
    tree: WholeTree, top: TreeRow, hidings: Mapping[UUID, _Hiding]
) -> dict[UUID, TreeRow]:
    """The section and what is shown again with it: as far as nothing between them stays hidden."""
    coming, seen = {top.id: top}, {top.id}
    for row in tree.reading_order(top.id):
        is_seen = row.is_published or _went_together(hidings.get(top.id), hidings.get(row.id))
        if row.parent_id not in seen or not is_seen:
            continue
        seen.add(row.id)
        if not row.is_published:
            coming[row.id] = row
    return coming


def _went_together(top: _Hiding | None, other: _Hiding | None) -> bool:
    if top is None or other is None:
        return False
    if top.mark is None:
        # From before marks were kept: what was hidden with it or after it, by the order of ids.
        return other.mark is None and other.revision >= top.revision
    return other.mark == top.mark


def _publish(session: ScopedSession, ids: Sequence[UUID], shown: bool) -> None:
    withdrawal = new_id()
    for batch in load_in_batches(session, ids):
        for row in batch:
            before = snapshot(row)
            row.is_published = shown
            keep(session, row, before, withdrawal=withdrawal)
        reindex_sections(session, batch, with_below=False)


# The last version of each that readers saw. Of a section with many versions only the latest are
# read: they hold whole texts.
_LAST_SHOWN = text("""
    SELECT s.id, r.id, r.mark
    FROM unnest(CAST(:ids AS uuid[])) AS s (id) CROSS JOIN LATERAL (
        SELECT id, snapshot ->> :mark AS mark FROM library_revisions
        WHERE group_id = :group AND entity_id = s.id
          AND CAST(snapshot ->> 'is_published' AS boolean)
        ORDER BY version DESC LIMIT 1
    ) AS r
""")


def _find_hidings(session: ScopedSession, ids: Collection[UUID]) -> dict[UUID, _Hiding]:
    """The latest change that took each of these out of sight, as far as there is one."""
    values = {"group": session.scope.group_id, "ids": list(ids), "mark": WITHDRAWAL}
    rows = session.execute(_LAST_SHOWN, values)
    return {section_id: _Hiding(revision, mark) for section_id, revision, mark in rows}
