"""After a change of the library: searchable by words at once, by meaning a moment later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import and_, func, select, text

from app.config import LANGUAGES
from app.db import ScopedSession
from app.queue import defer
from app.retrieval.index import SourceInput, index_sources
from app.retrieval.models import Embedding, SearchDocument
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.sources import SECTION_CONTEXTS, product_source, section_source


@dataclass(frozen=True)
class SearchStatus:
    """How far the search knows a text: ready, waiting, failed, or nothing to find (`none`)."""

    state: str
    passages: int


def reindex_sections(session: ScopedSession, changed: Iterable[ManualSection]) -> None:
    """Index these sections and all below them, whose places may have new names."""
    session.flush()
    group_id = session.scope.group_id
    assert group_id
    rows = session.scalars(select(ManualSection).where(ManualSection.group_id == group_id)).all()
    by_id = {row.id: row for row in rows}
    wanted = _with_all_below({section.id for section in changed}, rows)
    sources = [each for row in rows if row.id in wanted for each in _sources(row, by_id)]
    index_sources(session, group_id=group_id, sources=sources)
    queue_embedding(session)


def _sources(section: ManualSection, by_id: Mapping[UUID, ManualSection]) -> list[SourceInput]:
    """The section's passages under its present titles, and none under a former kind."""
    above: list[ManualSection] = []
    parent_id = section.parent_id
    while parent_id is not None:
        above.insert(0, by_id[parent_id])
        parent_id = above[0].parent_id
    path_en, path_es = ([row.title(language) for row in above] for language in LANGUAGES)
    source = section_source(section, path_en, path_es)
    former = [kind for kind in SECTION_CONTEXTS if kind != source.source_type]
    return [source, *(SourceInput(kind, section.id, ()) for kind in former)]


def _with_all_below(ids: set[UUID], rows: Sequence[ManualSection]) -> set[UUID]:
    while more := {row.id for row in rows if row.parent_id in ids} - ids:
        ids = ids | more
    return ids


def reindex_products(session: ScopedSession, changed: Iterable[Product]) -> None:
    """Index these products as they are now."""
    session.flush()
    group_id = session.scope.group_id
    assert group_id
    sources = [product_source(product) for product in changed]
    index_sources(session, group_id=group_id, sources=sources)
    queue_embedding(session)


def queue_embedding(session: ScopedSession) -> None:
    """Have the group's new passages embedded once this transaction is committed.

    Called after indexing, which lets one writer of a group in at a time: two of them
    would else queue the same job.
    """
    group_id = session.scope.group_id
    defer(session, "embed_missing", lock=_lock(session), group_id=group_id)


def find_search_status(session: ScopedSession, source_id: UUID, model: str) -> SearchStatus:
    """Whether every passage of a section or product has a vector of its present text."""
    # In this order: a job that ends in between has committed what is counted after it.
    is_queued = _is_queued(session)
    embedded = and_(
        Embedding.document_id == SearchDocument.id,
        Embedding.model == model,
        Embedding.content_hash == SearchDocument.content_hash,
    )
    passages, ready = session.execute(
        select(func.count(SearchDocument.id), func.count(Embedding.document_id))
        .outerjoin(Embedding, embedded)
        .where(
            SearchDocument.group_id == session.scope.group_id,
            SearchDocument.source_id == source_id,
            SearchDocument.is_published,
        )
    ).one()
    if passages == ready:
        return SearchStatus("ready" if passages else "none", passages)
    return SearchStatus("waiting" if is_queued else "failed", passages)


def _is_queued(session: ScopedSession) -> bool:
    query = text(
        "SELECT EXISTS (SELECT 1 FROM procrastinate_jobs"
        " WHERE lock = :lock AND status IN ('todo', 'doing'))"
    )
    return bool(session.execute(query, {"lock": _lock(session)}).scalar())


def _lock(session: ScopedSession) -> str:
    return f"embed:{session.scope.group_id}"


def requeue_embedding(session: ScopedSession) -> None:
    """Try again to embed what has failed."""
    queue_embedding(session)
    session.commit()
