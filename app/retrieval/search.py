"""The one way to search: by words, by meaning, or by both at once.

Whom a search serves comes from the session's scope, never from its text. Whatever is asked,
there is an answer: a model that is away leaves the words, and a query without a word in it
finds nothing and says why.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID

import numpy as np
import structlog
from pgvector import HalfVector
from sqlalchemy import Row, TextClause, text

from app.db import JsonObject, ScopedSession
from app.observability.metrics import time_search
from app.retrieval.calibration import Calibration, calibration_of
from app.retrieval.embedder import Embedder, Vector, WrongVectorSize
from app.retrieval.hybrid_query import (
    CANDIDATES,
    AtMost,
    Contains,
    Equals,
    Filter,
    Lacks,
    Mode,
    Shape,
    filter_parameters,
    position_statement,
    statement,
)
from app.retrieval.query_cache import EmbeddingUnavailable
from app.retrieval.vectors import send_vectors_in_binary
from app.text.normalize import words
from app.text.plain_text import storable
from app.text.synonyms import synonyms_of, with_meant

__all__ = [
    "AtMost",
    "Contains",
    "Equals",
    "Filter",
    "Hit",
    "Lacks",
    "Position",
    "SearchOutcome",
    "SearchRequest",
    "position",
    "search",
    "tune",
    "unknown_words",
]

LONGEST_QUERY = 2_000
MOST_HITS = 50
# Both legs together, where somebody wants to see everything that was weighed.
MOST_CANDIDATES = 2 * CANDIDATES
LEGS = ("words", "meaning")

# Why an outcome is not what was asked for.
Reason = Literal[
    "", "empty_query", "only_stop_words", "embedding_unavailable", "wrong_vector_size", "no_group"
]

log = structlog.get_logger(__name__)

# For this transaction. An HNSW scan must return fifty rows and go on where filters drop
# some; the planner must know that pages are cheap; compiling or sharing out a search of a
# few milliseconds takes longer than running it, and what a plan depends on stands in the
# statement's text, so that it may be kept.
_TUNING = text(
    "SELECT set_config('hnsw.ef_search', '100', true),"
    " set_config('hnsw.iterative_scan', 'relaxed_order', true),"
    " set_config('random_page_cost', '1.1', true), set_config('jit', 'off', true),"
    " set_config('max_parallel_workers_per_gather', '0', true),"
    " set_config('plan_cache_mode', 'force_generic_plan', true)"
)


@dataclass(frozen=True)
class SearchRequest:
    """What is searched for, and where.

    `language` limits to documents that serve its readers (None: all); `source_types`
    empty means every kind. `owner_id` is whose private documents are searched beside the
    shared ones: the session's user where it is None. With `per_source`, only the best
    chunk of each source is returned. `vector` stands for the embedded text where the
    caller has it already. `source_id` limits to one source. `explained` tells which leg found
    each hit, and gives up to all candidates where the limit says so. Without `with_text` the
    texts of the hits stay in the database.
    """

    text: str
    language: str | None = None
    source_types: Sequence[str] = ()
    limit: int = 8
    mode: Mode = "hybrid"
    filters: Sequence[Filter] = ()
    per_source: bool = True
    owner_id: UUID | None = None
    calibration: Calibration | None = None
    vector: Vector | None = None
    source_id: UUID | None = None
    explained: bool = False
    with_text: bool = True


@dataclass(frozen=True)
class Hit:
    """A document that was found, and why: its scores, each between 0 and 1 but `bm25`.

    `semantic` is None where the document has no vector (yet) or none was asked for.
    `coverage` is the share of the query's words, weighed by rarity, that it contains. `legs`
    (words, meaning) are those that brought it, where the request wants them explained; `text` is
    "" where it wants none.
    """

    document_id: UUID
    source_type: str
    source_id: UUID
    chunk_no: int
    language: str
    title: str
    headings: tuple[str, ...]
    text: str
    details: JsonObject
    score: float
    semantic: float | None
    lexical: float | None
    bm25: float | None
    coverage: float | None
    legs: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchOutcome:
    """The hits, best first; how they were found, and what that took in milliseconds.

    `degraded` is true where the model was away and words had to do.
    """

    hits: tuple[Hit, ...]
    mode: Mode
    degraded: bool = False
    reason: Reason = ""
    timings: dict[str, float] = field(default_factory=dict)


def search(
    session: ScopedSession, request: SearchRequest, embedder: Embedder | None
) -> SearchOutcome:
    """Search the session's group. Without an embedder (None), by words alone.

    The order is stable: the same request on the same data gives the same hits, ties by id.
    """
    started = time.perf_counter()
    if session.scope.group_id is None:
        return SearchOutcome((), "lexical", reason="no_group")
    query = _readable(request.text)
    if not query and request.vector is None:
        return SearchOutcome((), "lexical", reason="empty_query")
    vector, reason = _vector(request, query, embedder)
    embedded = time.perf_counter()
    mode: Mode = "lexical" if vector is None else request.mode
    hits = _run(session, request, query, mode, vector, embedder)
    if mode != "semantic" and not reason and not any(hit.bm25 for hit in hits):
        reason = _why_no_word(session, query)
    finished = time.perf_counter()
    timings = {
        "embed_ms": round((embedded - started) * 1000, 3),
        "database_ms": round((finished - embedded) * 1000, 3),
        "total_ms": round((finished - started) * 1000, 3),
    }
    time_search(mode, finished - started)
    degraded = mode != request.mode
    return SearchOutcome(hits, mode, degraded, reason, timings)


def _readable(query: str) -> str:
    """The query without what cannot be sent (NUL, halves of surrogates), not too long."""
    return storable(query[:LONGEST_QUERY]).strip()


_UNKNOWN = text(
    "SELECT asked.word FROM search_words(:query) AS asked"
    " WHERE NOT is_stop_word(asked.word) AND asked.word !~ '[0-9]' AND NOT EXISTS ("
    "SELECT FROM (VALUES ('en'), ('es'), ('mul')) AS kind (language)"
    " JOIN lexeme_statistics AS known ON known.group_id = :group AND known.documents > 0"
    " AND known.language = kind.language"
    " AND known.lexeme = word_stem(kind.language, asked.word))"
    " ORDER BY asked.place"
)


def unknown_words(
    session: ScopedSession, query: str, language: str | None = None
) -> tuple[str, ...]:
    """The words of `query`, folded, that no document of the session's group has in any form.

    A word is known where another word for it in `language` is.
    """
    query = with_meant(_readable(query), language)
    others = synonyms_of(query, language)
    everything = " ".join([query, *(word for each in others.values() for word in each)])
    parameters = {"query": everything, "group": session.scope.group_id}
    unknown = dict.fromkeys(session.scalars(_UNKNOWN, parameters))
    said = set(words(query))
    return tuple(
        word
        for word in unknown
        if word in said and all(other in unknown for other in others.get(word, ()))
    )


def remember_vector(text: str, embedder: Embedder) -> None:
    """Have the vector of a search that is to come.

    Whoever does so first holds no connection to the database while it is made elsewhere.
    """
    with suppress(EmbeddingUnavailable):
        # The search itself tells why there is none.
        embedder.embed_query(_readable(text))


def _vector(
    request: SearchRequest, query: str, embedder: Embedder | None
) -> tuple[Vector | None, Reason]:
    """The query's vector, or None and why there is none."""
    if request.mode == "lexical" or embedder is None:
        return None, ""
    try:
        vector = embedder.embed_query(query) if request.vector is None else request.vector
    except WrongVectorSize as error:
        log.error("search_by_words_alone", reason=error.code)
        return None, "wrong_vector_size"
    except EmbeddingUnavailable as error:
        log.warning("search_by_words_alone", reason=error.reason)
        return None, "embedding_unavailable"
    if np.shape(vector) != (embedder.dimensions,) or not np.isfinite(vector).all():
        log.error("search_by_words_alone", reason="wrong_vector_size")
        return None, "wrong_vector_size"
    return vector, ""


def _run(
    session: ScopedSession,
    request: SearchRequest,
    query: str,
    mode: Mode,
    vector: Vector | None,
    embedder: Embedder | None,
) -> tuple[Hit, ...]:
    calibration = request.calibration or calibration_of(embedder.model if embedder else "")
    most = MOST_CANDIDATES if request.explained else MOST_HITS
    parameters = _parameters(session, request, query, mode, vector)
    parameters["limit"] = max(1, min(request.limit, most))
    if mode == "hybrid":
        parameters["semantic_weight"] = calibration.semantic_weight
        parameters["lexical_weight"] = calibration.lexical_weight
    tune(session)
    rows = session.execute(_clause(_shape(session, request, mode, embedder)), parameters)
    return tuple(_hit(row) for row in rows)


def _parameters(
    session: ScopedSession, request: SearchRequest, query: str, mode: Mode, vector: Vector | None
) -> dict[str, Any]:
    """What stands in both legs: whom it is for, what is asked, and the filters."""
    parameters = {
        "owner": request.owner_id or session.scope.user_id,
        **filter_parameters(request.filters),
    }
    if request.source_id is not None:
        parameters["source"] = request.source_id
    if mode != "semantic":
        parameters |= _words_asked(query, request.language)
    if vector is not None:
        send_vectors_in_binary(session.connection())
        parameters["vector"] = HalfVector(vector)
    return parameters


def _words_asked(query: str, language: str | None) -> dict[str, Any]:
    """The query, and pairs of a word of it and another word for that, as two lists."""
    asked = with_meant(query, language)
    pairs = [
        (said, meant) for said, others in synonyms_of(asked, language).items() for meant in others
    ]
    said, meant = [said for said, _ in pairs], [meant for _, meant in pairs]
    return {"query": asked, "said": said, "meant": meant}


@dataclass(frozen=True)
class Position:
    """How many documents in the search's scope each leg ranks before a given score."""

    by_words: int | None
    by_meaning: int | None


def position(
    session: ScopedSession,
    request: SearchRequest,
    embedder: Embedder | None,
    *,
    bm25: float,
    cosine: float,
) -> Position:
    """Where something of these scores stands in the legs of this search."""
    query = _readable(request.text)
    vector, _reason = _vector(request, query, embedder)
    mode: Mode = "lexical" if vector is None else request.mode
    parameters = _parameters(session, request, query, mode, vector)
    parameters |= {"bm25": bm25} if mode != "semantic" else {}
    parameters |= {"cosine": cosine} if mode != "lexical" else {}
    tune(session)
    shape = _shape(session, request, mode, embedder)
    row = session.execute(text(position_statement(shape)), parameters).one()._mapping
    return Position(row.get("before_by_words"), row.get("before_by_meaning"))


def _shape(
    session: ScopedSession, request: SearchRequest, mode: Mode, embedder: Embedder | None
) -> Shape:
    assert session.scope.group_id is not None
    by_meaning = embedder if mode != "lexical" else None
    return Shape(
        mode=mode,
        group_id=session.scope.group_id,
        language=request.language,
        source_types=tuple(sorted(request.source_types)),
        model=by_meaning.model if by_meaning else "",
        dimensions=by_meaning.dimensions if by_meaning else 0,
        by_metadata=any(isinstance(item, Equals | Contains) for item in request.filters),
        maximums=sum(isinstance(item, AtMost) for item in request.filters),
        absences=sum(isinstance(item, Lacks) for item in request.filters),
        per_source=request.per_source,
        one_source=request.source_id is not None,
        explained=request.explained,
        with_text=request.with_text,
    )


@lru_cache(maxsize=1024)
def _clause(shape: Shape) -> TextClause:
    return text(statement(shape))


def tune(session: ScopedSession) -> None:
    """Set what searching needs, once a transaction."""
    transaction = session.get_transaction()
    if transaction is None or session.info.get("tuned_for_search") is not transaction:
        session.execute(_TUNING)
        session.info["tuned_for_search"] = session.get_transaction()


def _hit(row: Row[Any]) -> Hit:
    return Hit(
        document_id=row.id,
        source_type=row.source_type,
        source_id=row.source_id,
        chunk_no=row.chunk_no,
        language=row.language,
        title=row.title,
        headings=tuple(row.headings),
        text=row.text,
        details=row.metadata,
        score=float(row.score or 0),
        semantic=row.semantic,
        lexical=row.lexical,
        bm25=row.bm25,
        coverage=row.coverage,
        legs=tuple(leg for leg in LEGS if getattr(row, f"by_{leg}", False)),
    )


def _why_no_word(session: ScopedSession, query: str) -> Reason:
    found = session.execute(
        text("SELECT EXISTS (SELECT FROM search_terms(:query))"), {"query": query}
    )
    return "" if found.scalar_one() else "only_stop_words"
