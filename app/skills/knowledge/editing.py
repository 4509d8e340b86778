"""Writing the manual's sections: made, changed, withdrawn, restored, in one transaction each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from app.accounts.audit import record
from app.accounts.models import User
from app.db import ScopedSession
from app.errors import Conflict, InvalidInput, NotFound
from app.skills.knowledge.markdown_import import SLUG_LENGTH, slugify
from app.skills.knowledge.models import SECTION_KINDS, LibraryRevision, ManualSection
from app.skills.knowledge.reindexing import reindex_sections
from app.skills.knowledge.revisions import Entity, keep, list_revisions, snapshot
from app.skills.knowledge.whole_tree import load_whole_tree

LONGEST_TITLE = 200
# In characters: about eighty pages. A longer text is a chapter, and wants sections.
LONGEST_BODY = 200_000
_SLUG = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{SLUG_LENGTH - 1}}}")
_DRAFTED = ("title_en", "title_es", "body_en", "body_es", "kind", "is_published")


class StaleEdit(Conflict):
    """Somebody else has changed it since the form was opened.

    `entity` is how it stands now, `editor` the name of who changed it, if that is known.
    """

    def __init__(self, entity: Entity, editor: str) -> None:
        super().__init__("Somebody has changed this meanwhile. Look at it again first.")
        self.entity = entity
        self.editor = editor


@dataclass(frozen=True)
class SectionDraft:
    """What a person wants a section to be; without a `slug` it keeps the one it has."""

    title_en: str = ""
    title_es: str = ""
    body_en: str = ""
    body_es: str = ""
    kind: str = "sop"
    is_published: bool = True
    slug: str = ""


def draft_of(section: ManualSection) -> SectionDraft:
    values = {name: getattr(section, name) for name in _DRAFTED}
    return SectionDraft(**values, slug=section.slug)


def load_section_to_edit(
    session: ScopedSession, section_id: UUID, *, lock: bool = False
) -> ManualSection:
    """A section of the group, published or not, or NotFound; with `lock`, nobody else's."""
    query = select(ManualSection).where(
        ManualSection.group_id == session.scope.group_id, ManualSection.id == section_id
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    section = session.scalar(query)
    if section is None:
        raise NotFound("The manual has no such section any more.")
    return section


def find_section_id(session: ScopedSession, slug: str) -> UUID:
    """The id of the group's section of that name, published or not, or NotFound."""
    section_id = session.scalar(
        select(ManualSection.id).where(
            ManualSection.group_id == session.scope.group_id, ManualSection.slug == slug
        )
    )
    if section_id is None:
        raise NotFound("The manual has no such section any more.")
    return section_id


def create_section(
    session: ScopedSession, section_id: UUID, draft: SectionDraft, parent_id: UUID | None
) -> ManualSection:
    """Add a section at the end of what stands under `parent_id` (None: a chapter).

    `section_id` comes with the form: a form that is sent twice makes one section.

    Raises:
        InvalidInput: the draft will not do, or there is no such parent.
    """
    _check_draft(draft)
    existing = session.scalar(
        select(ManualSection).where(
            ManualSection.group_id == session.scope.group_id, ManualSection.id == section_id
        )
    )
    if existing is not None:
        return existing
    section = ManualSection(
        id=section_id,
        group_id=session.scope.group_id,
        parent_id=parent_id,
        position=_last_position(session, parent_id) + 1,
        slug=_choose_slug(session, draft),
        **{name: getattr(draft, name) for name in _DRAFTED},
    )
    session.add(section)
    _flush_named(session)
    keep(session, section, None)
    record(session, "section_created", section.slug)
    reindex_sections(session, [section])
    session.commit()
    return section


def save_section(
    session: ScopedSession, section_id: UUID, version: int, draft: SectionDraft
) -> ManualSection:
    """Make a section what the draft says, if nobody changed its words since `version`.

    Raises:
        NotFound, InvalidInput
        StaleEdit: somebody did, and their words are not these.
    """
    _check_draft(draft)
    section = load_section_to_edit(session, section_id, lock=True)
    wanted = {name: getattr(draft, name) for name in _DRAFTED}
    wanted["slug"] = draft.slug or section.slug
    is_the_same = all(getattr(section, name) == value for name, value in wanted.items())
    if not is_the_same and _is_stale(session, section, version):
        raise StaleEdit(section, find_editor(session, section_id))
    if wanted["slug"] != section.slug:
        _check_slug_is_free(session, wanted["slug"])
    if section.is_published and not draft.is_published:
        _check_nothing_below(session, section)
    before = snapshot(section)
    for name, value in wanted.items():
        setattr(section, name, value)
    _flush_named(session)
    if keep(session, section, before):
        record(session, "section_changed", f"{section.slug}: version {section.version}")
        reindex_sections(session, [section])
    session.commit()
    return section


def withdraw_section(session: ScopedSession, section_id: UUID, version: int) -> list[ManualSection]:
    """Take a section, and what hangs below it, out of readers' sight; returns all of them.

    Nothing is lost: `restore_section` brings the same ones back.

    Raises:
        NotFound
        Conflict: it has changed since `version`.
    """
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id)
    if section.version != version:
        raise Conflict("Somebody has changed this meanwhile. Look at it again first.")
    withdrawn = [row for row in (section, *tree.reading_order(section.id)) if row.is_published]
    _publish(session, withdrawn, False)
    record(session, "section_withdrawn", f"{section.slug} and {len(withdrawn) - 1} below it")
    session.commit()
    return withdrawn


def restore_section(session: ScopedSession, section_id: UUID) -> list[ManualSection]:
    """Show a withdrawn section again, with what went together with it.

    Raises:
        NotFound
        Conflict: what it stands under is not shown itself.
    """
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id)
    if any(not above.is_published for above in tree.ancestors(section)):
        raise Conflict("What it stands under is not shown either. Restore that first.")
    if section.is_published:
        return []
    since = _withdrawal(session, section)
    below = [row for row in tree.reading_order(section.id) if not row.is_published]
    together = [row for row in below if _went_with(since, _withdrawal(session, row))]
    restored = [section, *together]
    _publish(session, restored, True)
    record(session, "section_restored", f"{section.slug} and {len(together)} below it")
    session.commit()
    return restored


def _publish(session: ScopedSession, rows: Sequence[ManualSection], shown: bool) -> None:
    for row in rows:
        before = snapshot(row)
        row.is_published = shown
        keep(session, row, before)
    reindex_sections(session, rows)


def _went_with(first: UUID | None, other: UUID | None) -> bool:
    """True when `other` was withdrawn with `first` or after it; ids are in the order of time."""
    return first is not None and other is not None and other >= first


def _withdrawal(session: ScopedSession, section: ManualSection) -> UUID | None:
    """The latest change that took it out of sight."""
    taken = (each.id for each in list_revisions(session, section.id) if _was_published(each))
    return next(taken, None)


def _was_published(revision: LibraryRevision) -> bool:
    return bool(revision.snapshot and revision.snapshot["is_published"])


def list_hidden_sections(session: ScopedSession) -> list[ManualSection]:
    """The sections that readers do not see, the last changed first."""
    query = select(ManualSection).where(
        ManualSection.group_id == session.scope.group_id, ~ManualSection.is_published
    )
    return list(session.scalars(query.order_by(ManualSection.updated_at.desc())))


def find_editor(session: ScopedSession, entity_id: UUID) -> str:
    """The name of who changed it last; empty where nobody knows."""
    name = session.scalar(
        select(User.name)
        .join(LibraryRevision, LibraryRevision.author_id == User.id)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == entity_id,
        )
        .order_by(LibraryRevision.version.desc())
        .limit(1)
    )
    return name or ""


def _is_stale(session: ScopedSession, section: ManualSection, version: int) -> bool:
    """True when its words have changed since `version`; a neighbour's move is no matter."""
    if version == section.version:
        return False
    revisions = list_revisions(session, section.id)
    then = next((each.snapshot for each in revisions if each.version == version), None)
    now = snapshot(section)
    return then is None or any(then[name] != now[name] for name in (*_DRAFTED, "slug"))


def _check_draft(draft: SectionDraft) -> None:
    if not draft.title_en and not draft.title_es:
        raise InvalidInput("Give it a title in one language at least.", field="title_en")
    for language in ("en", "es"):
        _check_length(getattr(draft, f"title_{language}"), f"title_{language}", LONGEST_TITLE)
        _check_length(getattr(draft, f"body_{language}"), f"body_{language}", LONGEST_BODY)
    if draft.kind not in SECTION_KINDS:
        raise InvalidInput("Choose from the list.", field="kind")
    if draft.slug and not _SLUG.fullmatch(draft.slug):
        raise InvalidInput(
            "An address has small letters without accents, numbers and hyphens only.", field="slug"
        )


def _check_length(value: str, field: str, longest: int) -> None:
    if len(value) > longest:
        raise InvalidInput(
            "That is too long: at most %(longest)s characters. Divide it into several.",
            field=field,
            longest=f"{longest:,}",
        )


def _last_position(session: ScopedSession, parent_id: UUID | None) -> int:
    """The last place under a parent, which is kept from being removed meanwhile."""
    if parent_id is not None:
        try:
            load_section_to_edit(session, parent_id, lock=True)
        except NotFound:
            raise InvalidInput("Choose from the list.", field="parent_id") from None
    last = session.scalar(
        select(func.max(ManualSection.position)).where(
            ManualSection.group_id == session.scope.group_id,
            ManualSection.parent_id.is_(None)
            if parent_id is None
            else ManualSection.parent_id == parent_id,
        )
    )
    return -1 if last is None else last


def _choose_slug(session: ScopedSession, draft: SectionDraft) -> str:
    """The slug that was asked for, else one of the title that is free."""
    if draft.slug:
        _check_slug_is_free(session, draft.slug)
        return draft.slug
    base = slugify(draft.title_en or draft.title_es)[: SLUG_LENGTH - 5]
    taken = set(
        session.scalars(
            select(ManualSection.slug).where(
                ManualSection.group_id == session.scope.group_id,
                ManualSection.slug.startswith(base, autoescape=True),
            )
        )
    )
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (base, *numbered) if slug not in taken)


def _check_nothing_below(session: ScopedSession, section: ManualSection) -> None:
    """What stays published below a hidden section would be found, but not from the contents."""
    below = select(ManualSection.id).where(
        ManualSection.group_id == session.scope.group_id,
        ManualSection.parent_id == section.id,
        ManualSection.is_published,
    )
    if session.scalar(below.limit(1)) is not None:
        raise InvalidInput(
            "Other sections hang below it. “Withdraw” takes them out of sight with it.",
            field="is_published",
        )


def _check_slug_is_free(session: ScopedSession, slug: str) -> None:
    try:
        find_section_id(session, slug)
    except NotFound:
        return
    raise _slug_taken()


def _slug_taken() -> InvalidInput:
    return InvalidInput("Another section has this address. Choose another one.", field="slug")


def _flush_named(session: ScopedSession) -> None:
    """Write it; somebody who took the same slug in the same moment was first."""
    try:
        session.flush()
    except IntegrityError:
        raise _slug_taken() from None
