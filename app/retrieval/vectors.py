"""Vectors in the database: writing the missing ones, and the index that finds near ones."""

# What is put into the SQL here are names and numbers of this code, never a request's text.
# ruff: noqa: S608

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from pgvector.psycopg import register_vector
from sqlalchemy import Connection, Engine, Row, text
from sqlalchemy.orm import Session
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from app.db import utc_now
from app.retrieval.embedder import Embedder, Vectors, WrongVectorSize
from app.retrieval.hybrid_query import literal
from app.retrieval.query_cache import EmbeddingUnavailable

ATTEMPTS = 4  # the first and three retries
# Models refuse longer texts; a chunk is a tenth of it.
LONGEST_TEXT = 24_000
# Half as many links again as the default: on vectors without clusters, recall@10 at
# ef_search 100 rises from .94 to .985, for twice the time to build.
GRAPH_DEGREE, GRAPH_EFFORT = 24, 128
INDEX_LOCK = 7_240_461_120


@dataclass(frozen=True)
class BackfillReport:
    """What a backfill found and did.

    `coverage` is the share of published documents with a vector of their present text.
    `stopped` says why it ended early; running it again goes on from there.
    """

    documents: int
    missing: int
    embedded: int = 0
    coverage: float = 1.0
    stopped: str = ""


def embed_missing(
    session: Session,
    embedder: Embedder,
    *,
    group_id: UUID | None = None,
    batch_size: int = 200,
    force: bool = False,
    dry_run: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    first_wait: float = 1.0,
) -> BackfillReport:
    """Embed every document of the group (of all groups: None) whose vector is not there.

    With `force`, all of them. Each batch is committed, so a run that was killed goes on
    where it stopped; old vectors serve until they are replaced. A session of the owner
    also makes the index and refreshes the planner's statistics at the end.
    `on_progress(done, missing)` is called after each batch; waits are in seconds.

    Raises:
        WrongVectorSize: the model does not answer in the size that it should.
        EmbeddingUnavailable: it did not answer the very first question.
    """
    _check_size(embedder)
    started = utc_now()
    scope = {
        "group": group_id,
        "model": embedder.model,
        "dimensions": embedder.dimensions,
        "before": started if force else datetime.min.replace(tzinfo=started.tzinfo),
    }
    report = _count(session, scope)
    if not dry_run:
        embedded, stopped = _embed_batches(
            session, embedder, scope, batch_size, report.missing, on_progress, first_wait
        )
        report = replace(report, embedded=embedded, stopped=stopped)
        session.commit()
        _tidy(session, embedder)
    return replace(report, coverage=_coverage(session, scope))


@dataclass(frozen=True)
class Standing:
    """How many documents there are, how many have a vector, and how many got it lately."""

    documents: int
    ready: int
    made: int


def read_standing(
    session: Session, model: str, dimensions: int, *, group_id: UUID, since: datetime
) -> Standing:
    """How far the group's vectors are; no embedder is asked. `made` counts since a moment."""
    scope = {
        "group": group_id,
        "model": model,
        "dimensions": dimensions,
        "before": datetime.min.replace(tzinfo=utc_now().tzinfo),
    }
    row = session.execute(
        text(
            "SELECT count(*), count(e.document_id),"
            " count(*) FILTER (WHERE e.created_at >= :since)" + _STALE
        ),
        {**scope, "since": since},
    ).one()
    return Standing(*row)


def embedding_text(title: str, headings: Sequence[str], body: str) -> str:
    """What is embedded of a document: its place above its text."""
    place = [part for part in dict.fromkeys([title, *headings]) if part]
    return "\n".join([" > ".join(place), body] if place else [body])[:LONGEST_TEXT]


def send_vectors_in_binary(connection: Connection) -> None:
    """Teach the driver's connection the vector types, once in its life."""
    if not connection.info.get("knows_vectors"):
        driver = connection.connection.driver_connection
        assert driver is not None
        register_vector(driver)
        connection.info["knows_vectors"] = True


def index_name(model: str, dimensions: int) -> str:
    """The name of the HNSW index of a model and size; always the same, always short enough."""
    digest = hashlib.sha256(f"{model}/{dimensions}".encode()).hexdigest()[:8]
    readable = re.sub(r"\W+", "_", model.lower())[:30]
    return f"hnsw_embeddings_{readable}_{dimensions}_{digest}"


def ensure_index(engine: Engine, model: str, dimensions: int) -> bool:
    """Make the partial HNSW index of this model and size unless it is there; as the owner.

    Searching goes on while it is built. Returns whether it was made now.
    """
    name, quoted = index_name(model, dimensions), literal(model)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": INDEX_LOCK})
        try:
            valid = connection.execute(
                text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)"),
                {"name": name},
            ).scalar()
            if valid:
                return False
            if valid is not None:  # a build that was interrupted
                connection.execute(text(f"DROP INDEX {name}"))
            rows = connection.execute(
                text(f"SELECT count(*) FROM embeddings WHERE model = {quoted}")
            ).scalar_one()
            connection.execute(
                text(f"SET maintenance_work_mem = '{_megabytes(rows, dimensions)}MB'")
            )
            # Parallel builds share memory that small containers do not have.
            connection.execute(text("SET max_parallel_maintenance_workers = 0"))
            connection.execute(
                text(
                    f"CREATE INDEX {'CONCURRENTLY' if rows else ''} {name} ON embeddings"
                    f" USING hnsw ((embedding::halfvec({int(dimensions)})) halfvec_cosine_ops)"
                    f" WITH (m = {GRAPH_DEGREE}, ef_construction = {GRAPH_EFFORT})"
                    f" WHERE model = {quoted} AND dimensions = {int(dimensions)}"
                )
            )
            return True
        finally:
            connection.execute(text("RESET ALL"))
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": INDEX_LOCK})


def _megabytes(rows: int, dimensions: int) -> int:
    """What building the graph in memory takes, within what a small machine has."""
    needed = rows * (2 * dimensions + 600) * 13 // 10 // 2**20
    return min(max(needed, 64), 1024)


def _check_size(embedder: Embedder) -> None:
    size = embedder.embed_documents(["test embedding"]).shape[1]
    if size != embedder.dimensions:
        raise WrongVectorSize(embedder.model, embedder.dimensions, size)


_STALE = (
    " FROM search_documents AS d LEFT JOIN embeddings AS e ON e.document_id = d.id"
    " AND e.model = :model AND e.dimensions = :dimensions"
    " AND e.content_hash = d.content_hash AND e.created_at >= :before"
    " WHERE (CAST(:group AS uuid) IS NULL OR d.group_id = :group)"
)


def _count(session: Session, scope: dict[str, Any]) -> BackfillReport:
    row = session.execute(
        text("SELECT count(*), count(*) FILTER (WHERE e.document_id IS NULL)" + _STALE), scope
    ).one()
    return BackfillReport(documents=row[0], missing=row[1])


def _coverage(session: Session, scope: dict[str, Any]) -> float:
    share = session.execute(
        text(
            "SELECT count(e.document_id)::float / nullif(count(*), 0)"
            + _STALE
            + " AND d.is_published"
        ),
        {**scope, "before": datetime.min.replace(tzinfo=utc_now().tzinfo)},
    ).scalar()
    return 1.0 if share is None else float(share)


def _embed_batches(
    session: Session,
    embedder: Embedder,
    scope: dict[str, Any],
    batch_size: int,
    missing: int,
    on_progress: Callable[[int, int], None] | None,
    first_wait: float,
) -> tuple[int, str]:
    """Embed batch after batch; returns how many documents, and why it stopped early."""
    done, last = 0, UUID(int=0)
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_exponential(multiplier=first_wait, max=30),
        retry=retry_if_exception_type(EmbeddingUnavailable),
        reraise=True,
    )
    while batch := _next_batch(session, scope, last, batch_size):
        # Nothing is locked and no snapshot held while a server far away thinks.
        session.commit()
        texts = [embedding_text(row.title, row.headings, row.text) for row in batch]
        try:
            vectors = retrying(embedder.embed_documents, texts)
        except EmbeddingUnavailable as error:
            return done, error.reason
        _write(session, scope, batch, vectors)
        session.commit()
        done, last = done + len(batch), batch[-1].id
        if on_progress:
            on_progress(done, missing)
    return done, ""


def _next_batch(
    session: Session, scope: dict[str, Any], last: UUID, size: int
) -> Sequence[Row[Any]]:
    """The next documents without a vector, each looked up by itself: joined as a whole, all of
    them would be read again for every batch.
    """
    return session.execute(
        text(
            "SELECT d.id, d.title, d.headings, d.text, d.content_hash"
            " FROM search_documents AS d LEFT JOIN LATERAL ("
            "SELECT e.document_id FROM embeddings AS e WHERE e.document_id = d.id"
            " AND e.model = :model AND e.dimensions = :dimensions"
            " AND e.content_hash = d.content_hash AND e.created_at >= :before LIMIT 1"
            ") AS e ON true"
            " WHERE (CAST(:group AS uuid) IS NULL OR d.group_id = :group)"
            " AND e.document_id IS NULL AND d.id > :last ORDER BY d.id LIMIT :size"
        ),
        {**scope, "last": last, "size": size},
    ).all()


def _write(
    session: Session, scope: dict[str, Any], batch: Sequence[Row[Any]], vectors: Vectors
) -> None:
    """Store a batch; a document that was deleted meanwhile is left out by the join."""
    send_vectors_in_binary(session.connection())
    session.execute(
        text(
            "INSERT INTO embeddings AS e (document_id, model, dimensions, group_id, owner_id,"
            " content_hash, embedding, created_at)"
            " SELECT d.id, :model, :dimensions, d.group_id, d.owner_id, v.hash, v.embedding, :now"
            " FROM unnest(CAST(:ids AS uuid[]), CAST(:hashes AS text[]),"
            " CAST(:vectors AS halfvec[])) AS v (id, hash, embedding)"
            " JOIN search_documents AS d ON d.id = v.id"
            " ON CONFLICT (document_id, model) DO UPDATE SET"
            " dimensions = excluded.dimensions, content_hash = excluded.content_hash,"
            " embedding = excluded.embedding, created_at = excluded.created_at"
        ),
        {
            "model": scope["model"],
            "dimensions": scope["dimensions"],
            "now": utc_now(),
            "ids": [row.id for row in batch],
            "hashes": [row.content_hash for row in batch],
            "vectors": [HalfVector(vector) for vector in vectors],
        },
    )


def _tidy(session: Session, embedder: Embedder) -> None:
    """As the owner, make the index and let the planner know; the app's role cannot."""
    owner = session.execute(
        text(
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class"
            " WHERE oid = to_regclass('embeddings')"
        )
    ).scalar_one()
    session.commit()
    if owner:
        ensure_index(session.get_bind().engine, embedder.model, embedder.dimensions)
        session.execute(text("ANALYZE search_documents, embeddings, postings, lexeme_statistics"))
        session.commit()
