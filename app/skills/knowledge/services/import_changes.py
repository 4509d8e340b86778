"""What an import is about to change, worked out in a session and not yet written.

The same code makes the preview (the session is rolled back) and the import itself (the
session is flushed), so that what was shown is what happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.config import LANGUAGES
from app.db import JsonObject, ScopedSession, new_id
from app.skills.knowledge.models import (
    LibraryImport,
    LibraryRevision,
    ManualSection,
    Product,
)
from app.skills.knowledge.services.markdown_import import (
    ImportReport,
    ParsedDocument,
    ParsedSection,
)
from app.skills.knowledge.services.menu_limits import Excess, find_excess
from app.skills.knowledge.services.revisions import Entity, keep, snapshot
from app.skills.knowledge.services.row_values import NOTHING, KnownProducts, said_of

RECIPE_FACTS = ("difficulty", "total_time_minutes", "servings", "cuisine", "meal")
_PLAIN = (
    "name_en", "name_es", "description_en", "description_es", "category", "allergens",
    "ingredients", "steps", "tags", "pairing_notes_en", "pairing_notes_es", "is_active",
)  # fmt: skip
STRUCTURE = ("kind", "position", "parent_id")


@dataclass(frozen=True)
class Change:
    """What becomes of one section or product; `what` is a field's name of ImportReport.

    `place` is where the file has it: (document, section) or (row,); empty when removed.
    """

    entity: Entity
    what: str
    fields: tuple[str, ...] = ()
    place: tuple[int, ...] = ()


@dataclass
class Staging:
    """The changes of an import, in the order of the file.

    `refused` says of each row that is left out what its product would have too much of.
    """

    session: ScopedSession
    changes: list[Change] = field(default_factory=list)
    before: dict[UUID, JsonObject | None] = field(default_factory=dict)
    touched: dict[UUID, Entity] = field(default_factory=dict)
    refused: dict[int, Excess] = field(default_factory=dict)

    @property
    def report(self) -> ImportReport:
        """How many were added, changed, left as they were, and taken out."""
        counted = ImportReport()
        for change in self.changes:
            setattr(counted, change.what, getattr(counted, change.what) + 1)
        return counted

    def entities(self) -> list[Entity]:
        """All that the file has or had, each once."""
        return list({change.entity.id: change.entity for change in self.changes}.values())

    def add(self, entity: Entity) -> None:
        self.session.add(entity)
        self.before[entity.id] = None
        self.touched[entity.id] = entity

    def set(self, entity: Entity, wanted: Mapping[str, Any]) -> tuple[str, ...]:
        """Bring it in step with what is wanted; returns the fields that differed."""
        differing = tuple(n for n, value in wanted.items() if getattr(entity, n) != value)
        if differing and entity.id not in self.before:
            self.before[entity.id] = snapshot(entity)
            self.touched[entity.id] = entity
        for name in differing:
            setattr(entity, name, wanted[name])
        return differing

    def write(self, import_id: UUID | None = None) -> None:
        """Write what was staged, with what was before it."""
        moved = self._hold_back_moves()
        self.session.flush()
        for section, parent_id in moved:
            section.parent_id = parent_id
        for id_, entity in self.touched.items():
            keep(self.session, entity, self.before[id_], import_id=import_id)
        self.session.flush()

    def _hold_back_moves(self) -> list[tuple[ManualSection, UUID]]:
        """Leave what moves under a new section where it is: a flush changes before it adds."""
        moved = []
        for id_, entity in self.touched.items():
            before = self.before[id_]
            if before is None or not isinstance(entity, ManualSection) or not entity.parent_id:
                continue
            if entity.parent_id in self.before and self.before[entity.parent_id] is None:
                moved.append((entity, entity.parent_id))
                former = before["parent_id"]
                entity.parent_id = UUID(former) if former else None
        return moved


@dataclass
class _Shelf:
    """The group's sections as they stand while an import goes through them."""

    group_id: UUID
    language: str
    by_id: dict[UUID, ManualSection]
    editions: frozenset[str]

    def __post_init__(self) -> None:
        self.by_slug = {row.slug: row for row in self.by_id.values()}
        tops = [row.position for row in self.by_id.values() if row.parent_id is None]
        self.following = max(tops, default=-1) + 1

    def add(self, row: ManualSection) -> None:
        self.by_id[row.id] = self.by_slug[row.slug] = row

    def chapter_position(self, slug: str) -> int:
        """Where a chapter stands now; a new one comes last."""
        row = self.by_slug.get(slug)
        if row is not None and row.parent_id is None:
            return row.position
        self.following += 1
        return self.following - 1

    def top(self, row: ManualSection) -> ManualSection:
        while row.parent_id is not None and row.parent_id in self.by_id:
            row = self.by_id[row.parent_id]
        return row


def load_all_sections(
    session: ScopedSession, group_id: UUID, *, lock: bool = False
) -> dict[UUID, ManualSection]:
    """Every section of the group by its id, published or not; locked until the end if asked."""
    query = select(ManualSection).where(ManualSection.group_id == group_id)
    query = query.order_by(ManualSection.id)
    rows = session.scalars(query.with_for_update() if lock else query)
    return {row.id: row for row in rows}


def stage_documents(
    session: ScopedSession,
    documents: Sequence[ParsedDocument],
    *,
    group_id: UUID,
    language: str,
    editions: Iterable[str] = (),
    lock: bool = False,
) -> Staging:
    """Work out what bringing in these documents in one language changes.

    `editions` names the documents that are another language's text of a chapter that is
    there: what that chapter has already keeps its place, whatever the translation does.
    """
    shelf = _Shelf(
        group_id, language, load_all_sections(session, group_id, lock=lock), frozenset(editions)
    )
    staging = Staging(session)
    with session.no_autoflush:
        for number, document in enumerate(documents):
            _stage_document(staging, shelf, number, document)
        # When all are staged, because a section may have moved from one document to another.
        _stage_vanished(staging, shelf, documents)
    return staging


def _stage_document(staging: Staging, shelf: _Shelf, number: int, document: ParsedDocument) -> None:
    stored: dict[str, ManualSection] = {}
    for place, parsed in enumerate(document.sections):
        position = place or shelf.chapter_position(parsed.slug)
        parent = stored[parsed.parent.slug] if parsed.parent else None
        row = shelf.by_slug.get(parsed.slug)
        is_new = row is None
        if row is None:
            row = _new_section(shelf.group_id, parsed.slug, document.source)
        wanted = _wanted(row, parsed, document, shelf, parent, position)
        fields = staging.set(row, wanted) if not is_new else ()
        if is_new:
            for name, value in wanted.items():
                setattr(row, name, value)
            staging.add(row)
            shelf.add(row)
        what = "added" if is_new else "changed" if fields else "unchanged"
        staging.changes.append(Change(row, what, fields, (number, place)))
        stored[parsed.slug] = row


def _new_section(group_id: UUID, slug: str, source: str) -> ManualSection:
    """A section with every value, so that it can be read before it is written."""
    return ManualSection(
        id=new_id(), group_id=group_id, slug=slug, source=source, version=1, is_published=True,
        title_en="", title_es="", body_en="", body_es="",
    )  # fmt: skip


def _wanted(
    row: ManualSection,
    parsed: ParsedSection,
    document: ParsedDocument,
    shelf: _Shelf,
    parent: ManualSection | None,
    position: int,
) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "kind": document.kind,
        "position": position,
        "parent_id": parent.id if parent else None,
        f"title_{shelf.language}": parsed.title,
        f"body_{shelf.language}": parsed.body,
    }
    others = [each for each in LANGUAGES if each != shelf.language]
    if document.source in shelf.editions and any(row.is_written_in(each) for each in others):
        wanted = {name: value for name, value in wanted.items() if name not in STRUCTURE}
    if not is_written(row):
        # New, or emptied by an import whose document did not have it: shown (again).
        wanted["is_published"] = True
    return wanted


def _stage_vanished(staging: Staging, shelf: _Shelf, documents: Sequence[ParsedDocument]) -> None:
    """Take out what the documents do not have any more.

    A section that stands in the other language too loses this one's words and no more; one
    without any words left is unpublished, and an import that has it again brings it back.
    """
    gone = _vanished(documents, shelf)
    for row in gone:
        emptied = {f"title_{shelf.language}": "", f"body_{shelf.language}": ""}
        fields = staging.set(row, emptied)
        if not is_written(row):
            fields += staging.set(row, {"is_published": False})
        staging.changes.append(Change(row, "removed", fields))
    for row in gone:
        # What stays must not hang below an emptied section, where no reader would find it.
        while row.parent_id and is_written(row) and not is_written(shelf.by_id[row.parent_id]):
            staging.set(row, {"parent_id": shelf.by_id[row.parent_id].parent_id})


def _vanished(documents: Sequence[ParsedDocument], shelf: _Shelf) -> list[ManualSection]:
    """The sections of these documents, as stored, that no document has in this language.

    A section belongs to the document of the chapter at the top above it: its own `source`
    may name the document that it was in before it moved.
    """
    slugs = {section.slug for document in documents for section in document.sections}
    chapters = {document.sections[0].slug for document in documents}
    sources = {document.source for document in documents}
    gone = []
    for row in shelf.by_id.values():
        top = shelf.top(row)
        # What somebody wrote in the browser below a chapter came with no file, and stays.
        is_theirs = row.source and (top.slug in chapters or top.source in sources)
        if is_theirs and row.slug not in slugs and row.is_written_in(shelf.language):
            gone.append(row)
    return gone


def is_written(section: ManualSection) -> bool:
    """True when it has words in any language."""
    return any(section.is_written_in(language) for language in LANGUAGES)


def stage_products(
    session: ScopedSession,
    items: Sequence[Mapping[str, Any]],
    *,
    group_id: UUID,
    kind: str,
    is_partial: bool = False,
    lock: bool = False,
) -> Staging:
    """Work out what bringing in these products of one kind changes.

    Of partial items, such as the rows of a table, what they do not say stays as it is
    (`row_values`), and those of which a product would have too much are refused. Whole ones are
    those of their slug.
    """
    query = select(Product).where(Product.group_id == group_id, Product.kind == kind)
    query = query.order_by(Product.id)
    rows = session.scalars(query.with_for_update() if lock else query)
    known = KnownProducts(rows)
    origins = _origins(session, group_id) if is_partial else {}
    staging = Staging(session)
    with session.no_autoflush:
        for number, item in enumerate(items):
            wanted = _product_values(item, kind)
            product = known.meant(item)
            if product is None and item.get("is_left_out"):
                continue
            if product and item.get("is_left_out"):
                is_the_same = {*(item["allergens"] or ())} == {*(product.allergens or ())}
                is_said = item["allergens"] is not None
                wanted = {} if is_said and is_the_same else {"allergens": None}
            elif product and is_partial:
                wanted = said_of(product, item, wanted, origins.get(product.id, ""))
            if is_partial and (excess := find_excess(product, wanted)):
                staging.refused[number] = excess
                continue
            if product is None:
                product = _new_product(item, wanted, known, group_id=group_id, kind=kind)
                staging.add(product)
                known.add(product)
                staging.changes.append(Change(product, "added", (), (number,)))
                continue
            fields = staging.set(product, wanted)
            if item.get("is_left_out") and not fields:
                continue
            what = "changed" if fields else "unchanged"
            staging.changes.append(Change(product, what, fields, (number,)))
    return staging


def _origins(session: ScopedSession, group_id: UUID) -> dict[UUID, str]:
    """The language of the file that each product came with, of those that came with one."""
    rows = session.execute(
        select(LibraryRevision.entity_id, LibraryImport.language)
        .join(LibraryImport, LibraryImport.id == LibraryRevision.import_id)
        .where(
            LibraryRevision.group_id == group_id,
            LibraryRevision.entity == "product",
            LibraryRevision.snapshot.is_(None),
            LibraryImport.group_id == group_id,
        )
    )
    return {row.entity_id: row.language for row in rows}


def _new_product(
    item: Mapping[str, Any],
    wanted: Mapping[str, Any],
    known: KnownProducts,
    *,
    group_id: UUID,
    kind: str,
) -> Product:
    values = {**NOTHING, **wanted}
    # Of its own: neither list nor dict is anybody else's too.
    own = {n: v.copy() if isinstance(v, list | dict) else v for n, v in values.items()}
    slug = known.free_slug(item["slug"])
    return Product(id=new_id(), group_id=group_id, kind=kind, slug=slug, version=1, **own)


def _product_values(item: Mapping[str, Any], kind: str) -> dict[str, Any]:
    values = {name: item[name] for name in _PLAIN if name in item}
    facts = dict(item.get("facts", {}))
    if kind == "recipes":
        facts |= {name: item[name] for name in RECIPE_FACTS if name in item}
        values["category"] = item.get("cuisine", item.get("category", ""))
    values["facts"] = facts
    values["price"] = Decimal(str(item["price"])) if item.get("price") else None
    return values
