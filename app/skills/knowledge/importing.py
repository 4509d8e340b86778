"""Bringing documents and products into the library, searchable in the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.config import LANGUAGES
from app.db import ScopedSession
from app.retrieval.index import SourceInput, index_sources
from app.skills.knowledge.markdown_import import ImportReport, ParsedDocument, store_document
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.sources import SECTION_CONTEXTS, product_source, section_source

RECIPE_FACTS = ("difficulty", "total_time_minutes", "servings", "cuisine", "meal")
_PLAIN = (
    "name_en", "name_es", "description_en", "description_es", "category", "allergens",
    "ingredients", "steps", "tags", "pairing_notes_en", "pairing_notes_es", "is_active",
)  # fmt: skip


def import_documents(
    session: ScopedSession,
    documents: Iterable[ParsedDocument],
    *,
    group_id: UUID,
    language: str,
) -> ImportReport:
    """Store and index documents in one language; importing the same again changes nothing.

    What a document had at its last import and has no more is taken out of that language.
    Documents are the same when their files have the same name.
    """
    report = ImportReport()
    imported: list[ParsedDocument] = []
    known = dict(
        session.execute(
            select(ManualSection.slug, ManualSection.position).where(
                ManualSection.group_id == group_id, ManualSection.parent_id.is_(None)
            )
        ).all()
    )
    following = max(known.values(), default=-1) + 1
    for document in documents:
        position = known.get(document.sections[0].slug)
        if position is None:
            position, following = following, following + 1
        sections = store_document(
            session,
            document,
            group_id=group_id,
            language=language,
            position=position,
            report=report,
        )
        by_id = {section.id: section for section in sections}
        index_sources(session, group_id=group_id, sources=_sources(sections, by_id))
        imported.append(document)
    # When all are stored, because a section may have moved from one document to another.
    report.removed = _remove_vanished(session, imported, group_id=group_id, language=language)
    return report


def _remove_vanished(
    session: ScopedSession, documents: Sequence[ParsedDocument], *, group_id: UUID, language: str
) -> int:
    """Take out what the documents do not have any more; returns how many sections that were.

    A section that stands in the other language too loses this one's words and no more; one
    without any words left is unpublished, and an import that has it again brings it back.
    """
    rows = session.scalars(select(ManualSection).where(ManualSection.group_id == group_id))
    by_id = {row.id: row for row in rows}
    gone = _vanished(documents, by_id, language)
    if not gone:
        return 0
    for row in gone:
        setattr(row, f"title_{language}", "")
        setattr(row, f"body_{language}", "")
        row.is_published = row.is_published and _is_written(row)
    for row in gone:
        # What stays must not hang below an emptied section, where no reader would find it.
        while row.parent_id and not _is_written(by_id[row.parent_id]) and _is_written(row):
            row.parent_id = by_id[row.parent_id].parent_id
    session.flush()
    index_sources(session, group_id=group_id, sources=_sources(gone, by_id))
    return len(gone)


def _vanished(
    documents: Sequence[ParsedDocument], by_id: Mapping[UUID, ManualSection], language: str
) -> list[ManualSection]:
    """The sections of these documents, as stored, that no document has in this language.

    A section belongs to the document of the chapter at the top above it: its own `source`
    may name the document that it was in before it moved.
    """
    slugs = {section.slug for document in documents for section in document.sections}
    chapters = {document.sections[0].slug for document in documents}
    sources = {document.source for document in documents}
    gone = []
    for row in by_id.values():
        top = row
        while top.parent_id is not None:
            top = by_id[top.parent_id]
        is_theirs = top.slug in chapters or top.source in sources
        if is_theirs and row.slug not in slugs and row.is_written_in(language):
            gone.append(row)
    return gone


def _is_written(section: ManualSection) -> bool:
    return any(section.is_written_in(language) for language in LANGUAGES)


def _sources(
    sections: Sequence[ManualSection], by_id: Mapping[UUID, ManualSection]
) -> list[SourceInput]:
    """The search documents of sections, each under the titles of those above it in `by_id`."""
    sources = []
    for section in sections:
        paths: dict[str, list[str]] = {"en": [], "es": []}
        parent = by_id.get(section.parent_id) if section.parent_id else None
        while parent is not None:
            for language, path in paths.items():
                path.insert(0, parent.title(language))
            parent = by_id.get(parent.parent_id) if parent.parent_id else None
        source = section_source(section, paths["en"], paths["es"])
        # A section of another kind than before leaves nothing behind under the old one.
        former = [kind for kind in SECTION_CONTEXTS if kind != source.source_type]
        sources += [source, *(SourceInput(kind, section.id, ()) for kind in former)]
    return sources


def import_products(
    session: ScopedSession, items: Sequence[dict[str, Any]], *, group_id: UUID, kind: str
) -> ImportReport:
    """Store and index products of one kind, by slug; the same again changes nothing."""
    report = ImportReport()
    known = {
        product.slug: product
        for product in session.scalars(
            select(Product).where(Product.group_id == group_id, Product.kind == kind)
        )
    }
    products = []
    for item in items:
        wanted = _product_values(item, kind)
        product = known.get(item["slug"])
        if product is None:
            product = Product(group_id=group_id, kind=kind, slug=item["slug"], **wanted)
            session.add(product)
            report.added += 1
        else:
            differing = {n: v for n, v in wanted.items() if getattr(product, n) != v}
            for name, value in differing.items():
                setattr(product, name, value)
            report.changed += bool(differing)
            report.unchanged += not differing
        products.append(product)
    session.flush()
    sources = [product_source(product) for product in products]
    index_sources(session, group_id=group_id, sources=sources)
    return report


def _product_values(item: dict[str, Any], kind: str) -> dict[str, Any]:
    values = {name: item[name] for name in _PLAIN if name in item}
    facts = dict(item.get("facts", {}))
    if kind == "recipes":
        facts |= {name: item[name] for name in RECIPE_FACTS if name in item}
        values["category"] = item.get("cuisine", "")
    values["facts"] = facts
    values["price"] = Decimal(str(item["price"])) if item.get("price") else None
    return values
