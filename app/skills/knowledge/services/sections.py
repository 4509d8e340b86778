"""Writing the manual's sections: made, changed, and moved, in one transaction each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, literal, select
from sqlalchemy.exc import IntegrityError

from app.accounts.audit import record
from app.accounts.models import User
from app.db import ScopedSession
from app.errors import Conflict, InvalidInput, NotFound
from app.skills.knowledge.models import SECTION_KINDS, LibraryRevision, ManualSection
from app.skills.knowledge.services.editor_tree import (
    TreeRow,
    WholeTree,
    load_whole_tree,
    number_rows,
)
from app.skills.knowledge.services.library_lock import share_library
from app.skills.knowledge.services.markdown_import import SLUG_LENGTH, slugify
from app.skills.knowledge.services.reindex import reindex_sections
from app.skills.knowledge.services.revisions import Entity, find_snapshot, keep, snapshot
from app.skills.knowledge.services.visibility import check_may_show, check_shown
from app.text.edits import check_same

LONGEST_TITLE = 200
# In characters: about eighty pages. A longer text is a chapter, and wants sections.
LONGEST_BODY = 200_000
# Ten times what the longest manuals have: each page of an editor shows them all.
MOST_SECTIONS = 3_000
# Of titles and texts in both languages: what goes through a whole manual takes so long at most.
MOST_LETTERS_IN_ALL = 10_000_000
_SLUG = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{SLUG_LENGTH - 1}}}")
TITLES = ("title_en", "title_es")
WORDS = (*TITLES, "body_en", "body_es")
_DRAFTED = (*WORDS, "kind", "is_published")
STEPS = {"up": -1, "down": 1}


@dataclass(frozen=True)
class Editor:
    """Who changed something last; without a name where nobody knows."""

    name: str = ""
    is_self: bool = False


class StaleEdit(Conflict):
    """It has changed since the form was opened; `entity` is how it stands now."""

    def __init__(self, entity: Entity, editor: Editor) -> None:
        super().__init__("Somebody changed this in the meantime. Look at it again first.")
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
        share_library(session)
        query = query.with_for_update().execution_options(populate_existing=True)
    section = session.scalar(query)
    if section is None:
        raise NotFound("The manual no longer has that section.")
    return section


def find_section_id(session: ScopedSession, slug: str) -> UUID:
    """The id of the group's section of that name, published or not, or NotFound."""
    section_id = session.scalar(
        select(ManualSection.id).where(
            ManualSection.group_id == session.scope.group_id, ManualSection.slug == slug
        )
    )
    if section_id is None:
        raise NotFound("The manual no longer has that section.")
    return section_id


def _check_room(session: ScopedSession) -> None:
    """See that the manual may have one more section."""
    own = select(func.count()).where(ManualSection.group_id == session.scope.group_id)
    if (session.scalar(own) or 0) >= MOST_SECTIONS:
        raise InvalidInput(
            "The manual can have at most %(limit)s sections. Put this into an existing one.",
            limit=f"{MOST_SECTIONS:,}",
        )


def count_letters(section: ManualSection | SectionDraft) -> int:
    """How long its titles and texts are in both languages."""
    return sum(len(getattr(section, name)) for name in WORDS)


def check_letters(session: ScopedSession, added: int) -> None:
    """See that the manual may become longer by so many characters; shorter it may always become.

    Raises:
        InvalidInput: it would be too long.
    """
    if added <= 0:
        return
    lengths = (func.length(getattr(ManualSection, name)) for name in WORDS)
    in_all = select(func.sum(sum(lengths, start=literal(0)))).where(
        ManualSection.group_id == session.scope.group_id
    )
    number = int(session.scalar(in_all) or 0) + added
    if number > MOST_LETTERS_IN_ALL:
        raise InvalidInput(
            "With this text, the manual would have %(number)s characters in both "
            "languages together; the limit is %(limit)s. Shorten this text, or "
            "another one that nobody needs in full.",
            number=f"{number:,}",
            limit=f"{MOST_LETTERS_IN_ALL:,}",
        )


def create_section(
    session: ScopedSession, section_id: UUID, draft: SectionDraft, parent_id: UUID | None
) -> ManualSection:
    """Add a section at the end of what stands under `parent_id` (None: a chapter).

    `section_id` comes with the form: a form that is sent twice makes one section.

    Raises:
        InvalidInput: the draft will not do, or there is no such parent.
        Conflict: it would be shown below a hidden section, or the form made a section before
            and said something else then.
    """
    _check_draft(draft)
    existing = session.scalar(
        select(ManualSection).where(
            ManualSection.group_id == session.scope.group_id, ManualSection.id == section_id
        )
    )
    if existing is not None:
        if existing.parent_id != parent_id or not _says(existing, draft):
            raise made_already()
        return existing
    _check_room(session)
    check_letters(session, count_letters(draft))
    position = _last_position(session, parent_id) + 1
    if draft.is_published:
        check_may_show(session, parent_id)
    section = ManualSection(
        id=section_id,
        group_id=session.scope.group_id,
        parent_id=parent_id,
        position=position,
        slug=_choose_slug(session, draft),
        **{name: getattr(draft, name) for name in _DRAFTED},
    )
    session.add(section)
    _flush_named(session)
    keep(session, section, None)
    record(session, "section_created", section.slug)
    reindex_sections(session, [section], with_below=False)
    session.commit()
    return section


def save_section(
    session: ScopedSession, section_id: UUID, version: int, draft: SectionDraft
) -> ManualSection:
    """Make a section what the draft says, if nobody changed its words since `version`.

    Raises:
        NotFound, InvalidInput
        StaleEdit: somebody did, and their words are not these.
        Conflict: it would be shown below a hidden section.
    """
    _check_draft(draft)
    section = load_section_to_edit(session, section_id, lock=True)
    if not _says(section, draft) and _is_stale(session, section, version):
        raise StaleEdit(section, find_editor(session, section_id))
    if draft.slug and draft.slug != section.slug:
        _check_slug_is_free(session, draft.slug)
    check_shown(session, section, draft.is_published)
    check_letters(session, count_letters(draft) - count_letters(section))
    before = snapshot(section)
    for name in _DRAFTED:
        setattr(section, name, getattr(draft, name))
    section.slug = draft.slug or section.slug
    _flush_named(session)
    if keep(session, section, before):
        record(session, "section_changed", f"{section.slug}: version {section.version}")
        is_renamed = any(before[name] != getattr(section, name) for name in TITLES)
        reindex_sections(session, [section], with_below=is_renamed)
    session.commit()
    return section


def made_already() -> Conflict:
    """The form that was sent has made something already, and that says something else."""
    return Conflict(
        "This page was already saved once, with different text. Nothing is lost: "
        "save again to add this too."
    )


def _says(section: ManualSection, draft: SectionDraft) -> bool:
    """True when the section is what the draft wants it to be."""
    if draft.slug and draft.slug != section.slug:
        return False
    return all(getattr(section, name) == getattr(draft, name) for name in _DRAFTED)


def find_editor(session: ScopedSession, entity_id: UUID) -> Editor:
    """Who changed it last."""
    row = session.execute(
        select(User.id, User.name)
        .select_from(LibraryRevision)
        .outerjoin(User, LibraryRevision.author_id == User.id)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == entity_id,
        )
        .order_by(LibraryRevision.version.desc())
        .limit(1)
    ).first()
    if row is None or row.id is None:
        return Editor()
    return Editor(row.name, row.id == session.scope.user_id)


def _is_stale(session: ScopedSession, section: ManualSection, version: int) -> bool:
    """True when its words have changed since `version`; that it has moved is no matter."""
    if version == section.version:
        return False
    then = find_snapshot(session, section.id, version)
    now = snapshot(section)
    return then is None or any(then[name] != now[name] for name in (*_DRAFTED, "slug"))


def _check_draft(draft: SectionDraft) -> None:
    if not draft.title_en and not draft.title_es:
        raise InvalidInput("Give it a title in at least one language.", field="title_en")
    for language in ("en", "es"):
        _check_length(getattr(draft, f"title_{language}"), f"title_{language}", LONGEST_TITLE)
        _check_length(getattr(draft, f"body_{language}"), f"body_{language}", LONGEST_BODY)
    if draft.kind not in SECTION_KINDS:
        raise InvalidInput("Choose from the list.", field="kind")
    if draft.slug and not _SLUG.fullmatch(draft.slug):
        raise InvalidInput(
            "An address can only have numbers, hyphens and lowercase letters without accents.",
            field="slug",
        )


def _check_length(value: str, field: str, longest: int) -> None:
    if len(value) > longest:
        raise InvalidInput(
            "That is too long: at most %(longest)s characters. Split it into several sections.",
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


def move_section(
    session: ScopedSession, section_id: UUID, version: int, direction: str
) -> ManualSection:
    """Let it change places with the neighbour before (`up`) or after (`down`) it.

    At either end it stays where it is.

    Raises:
        NotFound
        InvalidInput: no such direction.
        Conflict: the section has changed since `version`.
    """
    if direction not in STEPS:
        raise InvalidInput("Choose from the list.", field="direction")
    tree, section = _load_to_move(session, section_id, version)
    siblings = list(tree.below[section.parent_id])
    place = siblings.index(tree.by_id[section_id])
    other = place + STEPS[direction]
    if 0 <= other < len(siblings):
        siblings[place], siblings[other] = siblings[other], siblings[place]
        _put(session, section, siblings, section.parent_id)
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
    tree, section = _load_to_move(session, section_id, version)
    if parent_id is not None and parent_id not in tree.by_id:
        raise InvalidInput("Choose from the list.", field="parent_id")
    own = [tree.by_id[section_id], *tree.reading_order(section_id)]
    if parent_id in {row.id for row in own}:
        raise InvalidInput("A section cannot be under itself.", field="parent_id")
    if parent_id != section.parent_id:
        if any(row.is_published for row in own):
            check_may_show(session, parent_id)
        _put(session, section, [*tree.below.get(parent_id, ()), own[0]], parent_id)
        under = tree.by_id[parent_id].slug if parent_id else "the top"
        record(session, "section_moved", f"{section.slug}: under {under}")
        reindex_sections(session, [section])
    session.commit()
    return section


def _load_to_move(
    session: ScopedSession, section_id: UUID, version: int
) -> tuple[WholeTree, ManualSection]:
    tree = load_whole_tree(session, lock=True)
    section = load_section_to_edit(session, section_id, lock=True)
    check_same(version, section.version)
    return tree, section


def _put(
    session: ScopedSession,
    section: ManualSection,
    siblings: Sequence[TreeRow],
    parent_id: UUID | None,
) -> None:
    """Give a section its place among `siblings`, itself one of them, in this order.

    What is kept is what the section was, and nothing of the others: they say what they said.
    """
    before = snapshot(section)
    places = {row.id: number for number, row in enumerate(siblings) if row.position != number}
    section.position = places.pop(section.id, section.position)
    section.parent_id = parent_id
    keep(session, section, before)
    session.flush()
    number_rows(session, places)
