"""After a change of the library: searchable by words at once, by meaning a moment later.

Whoever changes a section or product, in a page or by an import, has it indexed here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import and_, exists, func, or_, select, text

from app.db import ScopedSession
from app.errors import NotFound
from app.jobs.queue import VECTORS, defer
from app.retrieval.index import SourceInput, index_sources
from app.retrieval.models import Embedding, SearchDocument
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.services.editor_tree import (
    find_titles_above,
    find_with_below,
    load_in_batches,
)
from app.skills.knowledge.services.library_lock import share_library
from app.skills.knowledge.services.revisions import Entity
from app.skills.knowledge.services.search_sources import (
    SECTION_CONTEXTS,
    product_source,
    section_source,
)

# So many at once that the database is not asked often, and so few that memory stays small.
INDEX_BATCH = 200

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SearchStatus:
    """How far the search knows a text: ready, waiting, failed, or nothing to find (`none`)."""

    state: str
    passages: int


def silent(done: int, total: int) -> None:
    """Nobody watches."""


def index_entities(
    session: ScopedSession,
    entities: Collection[Entity],
    *,
    group_id: UUID,
    on_progress: Progress = silent,
) -> None:
    """Make the index hold these sections and products as they are now.

    `on_progress` is told how many of how many are done, and may raise to stop it.
    """
    session.flush()
    waiting = list(entities)
    for start in range(0, len(waiting), INDEX_BATCH):
        on_progress(start, len(waiting))
        batch = waiting[start : start + INDEX_BATCH]
        ids = [entity.id for entity in batch if isinstance(entity, ManualSection)]
        above = find_titles_above(session, group_id, ids)
        sources = [source for entity in batch for source in _sources(entity, above)]
        index_sources(session, group_id=group_id, sources=sources)


def _sources(entity: Entity, above: Mapping[UUID, Sequence[tuple[str, str]]]) -> list[SourceInput]:
    """The search documents of an entity; those of a section stand under the titles above it."""
    if isinstance(entity, Product):
        return [product_source(entity)]
    english, spanish = ([titles[place] for titles in above[entity.id]] for place in (0, 1))
    source = section_source(entity, english, spanish)
    # A section of another kind than before leaves nothing behind under the old one.
    former = [kind for kind in SECTION_CONTEXTS if kind != source.source_type]
    return [source, *(SourceInput(kind, entity.id, ()) for kind in former)]


def reindex_sections(
    session: ScopedSession, changed: Iterable[ManualSection], *, with_below: bool = True
) -> None:
    """Index these sections; `with_below` with all below them, whose places have new names."""
    share_library(session)
    session.flush()
    group_id = session.scope.group_id
    assert group_id
    sections = list(changed)
    index_entities(session, sections, group_id=group_id)
    if with_below:
        ids = {section.id for section in sections}
        below = find_with_below(session, group_id, ids) - ids
        for batch in load_in_batches(session, below):
            index_entities(session, batch, group_id=group_id)
    queue_embedding(session)


def reindex_products(session: ScopedSession, changed: Iterable[Product]) -> None:
    """Index these products as they are now."""
    share_library(session)
    group_id = session.scope.group_id
    assert group_id
    index_entities(session, list(changed), group_id=group_id)
    queue_embedding(session)


def queue_embedding(session: ScopedSession) -> None:
    """Have the group's new passages embedded once this transaction is committed.

    Called after indexing, which lets one writer of a group in at a time: two of them
    would else queue the same job.
    """
    group_id = session.scope.group_id
    defer(session, "embed_missing", lock=_lock(session), queue=VECTORS, group_id=group_id)


def find_search_status(session: ScopedSession, source_id: UUID, model: str) -> SearchStatus:
    """Whether every passage of a section or product has a vector of its present text.

    Raises:
        NotFound: the group has no section or product of that id.
    """
    _check_is_here(session, source_id)
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


def _check_is_here(session: ScopedSession, source_id: UUID) -> None:
    is_here = (
        exists().where(model.group_id == session.scope.group_id, model.id == source_id)
        for model in (ManualSection, Product)
    )
    if not session.scalar(select(or_(*is_here))):
        raise NotFound("This page does not exist, or you don't have access to it.")


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
