"""Bringing documents and products into the library, searchable in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from app.db import ScopedSession
from app.retrieval.index import SourceInput, index_sources
from app.skills.knowledge.markdown_import import ImportReport, ParsedDocument
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.sources import SECTION_CONTEXTS, product_source, section_source
from app.skills.knowledge.staging import (
    Staging,
    load_all_sections,
    stage_documents,
    stage_products,
)

# So many at once that the database is not asked often, and so few that memory stays small.
INDEX_BATCH = 200

Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Nobody watches."""


def import_documents(
    session: ScopedSession,
    documents: Iterable[ParsedDocument],
    *,
    group_id: UUID,
    language: str,
    on_progress: Progress = _silent,
) -> ImportReport:
    """Store and index documents in one language; importing the same again changes nothing.

    What a document had at its last import and has no more is taken out of that language.
    Documents are the same when their files have the same name.
    """
    staging = stage_documents(session, [*documents], group_id=group_id, language=language)
    store(staging, group_id=group_id, on_progress=on_progress)
    return staging.report


def import_products(
    session: ScopedSession,
    items: Sequence[Mapping[str, Any]],
    *,
    group_id: UUID,
    kind: str,
    on_progress: Progress = _silent,
) -> ImportReport:
    """Store and index products of one kind, by slug; the same again changes nothing."""
    staging = stage_products(session, items, group_id=group_id, kind=kind)
    store(staging, group_id=group_id, on_progress=on_progress)
    return staging.report


def store(
    staging: Staging,
    *,
    group_id: UUID,
    import_id: UUID | None = None,
    on_progress: Progress = _silent,
) -> None:
    """Write what was staged and put it into the index; `on_progress` may raise to stop it."""
    staging.write(import_id)
    index_entities(staging.session, staging.entities(), group_id=group_id, on_progress=on_progress)


def index_entities(
    session: ScopedSession,
    entities: Collection[ManualSection | Product],
    *,
    group_id: UUID,
    on_progress: Progress = _silent,
) -> None:
    """Make the index hold these sections and products as they are now."""
    has_sections = any(isinstance(entity, ManualSection) for entity in entities)
    by_id = load_all_sections(session, group_id) if has_sections else {}
    waiting = list(entities)
    for start in range(0, len(waiting), INDEX_BATCH):
        on_progress(start, len(waiting))
        batch = waiting[start : start + INDEX_BATCH]
        sources = [source for entity in batch for source in _sources(entity, by_id)]
        index_sources(session, group_id=group_id, sources=sources)


def _sources(
    entity: ManualSection | Product, by_id: Mapping[UUID, ManualSection]
) -> list[SourceInput]:
    """The search documents of an entity; those of a section stand under the titles above it."""
    if isinstance(entity, Product):
        return [product_source(entity)]
    paths: dict[str, list[str]] = {"en": [], "es": []}
    parent = by_id.get(entity.parent_id) if entity.parent_id else None
    while parent is not None:
        for language, path in paths.items():
            path.insert(0, parent.title(language))
        parent = by_id.get(parent.parent_id) if parent.parent_id else None
    source = section_source(entity, paths["en"], paths["es"])
    # A section of another kind than before leaves nothing behind under the old one.
    former = [kind for kind in SECTION_CONTEXTS if kind != source.source_type]
    return [source, *(SourceInput(kind, entity.id, ()) for kind in former)]
