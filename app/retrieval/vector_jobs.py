"""Having vectors made in the background."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from app.db import Database, ScopedSession
from app.jobs.queue import VECTORS, defer
from app.retrieval.embedder import Embedder
from app.retrieval.vectors import ensure_index

_WITHOUT_VECTORS = text(
    "SELECT DISTINCT d.group_id FROM search_documents AS d WHERE NOT EXISTS ("
    "SELECT FROM embeddings AS e WHERE e.document_id = d.id AND e.model = :model"
    " AND e.dimensions = :dimensions) ORDER BY d.group_id"
)


def lock_of(group_id: UUID | None) -> str:
    """Of a group, one job at a time makes vectors."""
    return f"embed:{group_id}"


def queue_group(session: ScopedSession, group_id: UUID | None) -> None:
    """Have the group's new passages embedded once this transaction is committed."""
    defer(session, "embed_missing", lock=lock_of(group_id), queue=VECTORS, group_id=group_id)


def queue_missing(database: Database, embedder: Embedder) -> int:
    """As the owner, make ready for this model: its index, and a job for each group without vectors.

    After an upgrade that brings another model, searches go by words until the jobs are done.
    Returns for how many groups.
    """
    ensure_index(database.engine, embedder.model, embedder.dimensions)
    asked = {"model": embedder.model, "dimensions": embedder.dimensions}
    with database.transaction() as session:
        groups = list(session.scalars(_WITHOUT_VECTORS, asked))
        for group_id in groups:
            queue_group(session, group_id)
    return len(groups)
