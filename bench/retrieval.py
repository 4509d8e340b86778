"""How fast and how exact the search is, against its two legs run bare, in one run.

Options: --documents=10000,100000 --dimensions=256,3072 --queries=200; every pair is measured.
The text has the word statistics
of prose (Zipf, with stop words), the vectors have no clusters. Every query is measured
three ways in turn, so that a busy machine slows all of them alike. DATABASE_URL and
MIGRATION_DATABASE_URL choose the database; without them a throw-away one is started.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from sqlalchemy import text

from app.db import Database, Scope, ScopedSession, app_database, new_id, owner_database
from app.retrieval.embedder import Vector, Vectors, WordLlamaEmbedder
from app.retrieval.evaluate import percentile, scratch_group
from app.retrieval.hybrid_query import K1, B
from app.retrieval.index import ChunkInput, SourceInput, index_sources
from app.retrieval.search import AtMost, SearchRequest, search, tune
from app.retrieval.vectors import embed_missing, send_vectors_in_binary
from bench.support.arguments import numbers
from bench.support.house import measured_services

VOCABULARY = 30_000
STOP_WORDS = (
    "the of and a in to is was it for on with he be i by as at you are his had not this have"
    " from but which she they or an were we their been has will one all if who more when said"
    " there so no out up into them than some its then two my about only do"
).split()
SYLLABLES = "ba co di fu ga le mi no pe ra si to vu za ren mal tor pin qui stra".split()
BATCH = 5_000
# At most this many times the two bare legs together, and so many ms: small, and larger.
RATIO_BAR = 1.5
SMALL = 10_000
HYBRID_BAR_MS = (4, 25)
END_TO_END_BAR_MS = 20
RECALL_BAR = 0.95


@dataclass(frozen=True)
class Options:
    documents: int
    dimensions: int
    queries: int


class RandomEmbedder:
    """Vectors of a quarter as many true dimensions (64 at most) as they have numbers."""

    model = "bench"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._random = np.random.default_rng(11)
        self._basis = self._random.normal(size=(min(dimensions // 4, 64), dimensions))

    def embed(self, texts: Sequence[str]) -> Vectors:
        raw = self._random.normal(size=(len(texts), len(self._basis))) @ self._basis
        return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), dtype=np.float32)

    embed_documents = embed

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector


@dataclass(frozen=True)
class Library:
    """Where the measured documents are, and the questions about them."""

    owner: Database
    app: Database
    group_id: UUID
    questions: list[str]

    @property
    def scope(self) -> Scope:
        return Scope(self.group_id)


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """Fill a scratch group, measure, and empty it again; figures in milliseconds."""
    parser = argparse.ArgumentParser(prog="retrieval")
    parser.add_argument("--documents", type=numbers, default=(10_000, 100_000))
    parser.add_argument("--dimensions", type=numbers, default=(256, 3_072))
    parser.add_argument("--queries", type=int, default=200)
    given = parser.parse_args(list(arguments))
    sizes = []
    for documents, dimensions in product(given.documents, given.dimensions):
        options = Options(documents, dimensions, given.queries)
        with measured_services() as settings:
            owner, app = owner_database(settings), app_database(settings)
            with scratch_group(owner) as group_id:
                figures = _measure(options, owner, app, group_id)
            owner.engine.dispose()
            app.engine.dispose()
        sizes.append({**vars(options), **_against_bars(options, figures), **figures})
    return {"met": all(size["met"] for size in sizes), "sizes": sizes}


def _against_bars(options: Options, figures: dict[str, Any]) -> dict[str, Any]:
    """Whether one size keeps to the bars, and to which."""
    database = figures["database"]
    hybrid_bar = HYBRID_BAR_MS[0 if options.documents <= SMALL else 1]
    kept = {
        f"hybrid at most {RATIO_BAR} x its legs": database["hybrid_to_bare_sum"] <= RATIO_BAR,
        f"hybrid p50 at most {hybrid_bar} ms": database["hybrid"]["p50_ms"] <= hybrid_bar,
        f"recall at least {RECALL_BAR}": figures["recall_at_10"] >= RECALL_BAR,
    }
    if options.documents <= SMALL and "end_to_end" in figures:
        whole = figures["end_to_end"]["p95_ms"] <= END_TO_END_BAR_MS
        kept[f"end to end p95 at most {END_TO_END_BAR_MS} ms"] = whole
    return {"met": all(kept.values()), "bars": kept}


def _measure(options: Options, owner: Database, app: Database, group_id: UUID) -> dict[str, Any]:
    embedder = RandomEmbedder(options.dimensions)
    started = time.perf_counter()
    bodies = _fill(options, owner, group_id)
    indexed = time.perf_counter()
    with owner.session() as session:
        embed_missing(session, embedder, group_id=group_id, batch_size=1_000)
    embedded = time.perf_counter()
    with owner.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    library = Library(owner, app, group_id, _questions(bodies, options.queries))
    figures = {
        "index_seconds": round(indexed - started, 1),
        "vectors_seconds": round(embedded - indexed, 1),
        "database": _compare(library, embedder),
        "recall_at_10": _recall(library, embedder),
        "filtered_5_percent": _filtered(library, embedder),
    }
    if options.dimensions == WordLlamaEmbedder.dimensions:
        figures["end_to_end"] = _end_to_end(library)
    return figures


def _fill(options: Options, owner: Database, group_id: UUID) -> list[str]:
    random = np.random.default_rng(5)
    words = np.array(
        STOP_WORDS
        + ["".join(random.choice(SYLLABLES, random.integers(2, 6))) for _ in range(VOCABULARY)]
    )
    shares = 1 / (np.arange(len(words)) + 2.7)
    shares /= shares.sum()
    bodies: list[str] = []
    for start in range(0, options.documents, BATCH):
        sources = []
        for _ in range(min(BATCH, options.documents - start)):
            bodies.append(" ".join(random.choice(words, random.integers(60, 220), p=shares)))
            details = {"minutes": int(random.integers(1, 101))}
            chunk = ChunkInput("en", ("en",), "", bodies[-1], details=details)
            sources.append(SourceInput("manual", new_id(), [chunk]))
        with owner.transaction() as session:
            index_sources(session, group_id=group_id, sources=sources)
    return bodies


def _questions(bodies: Sequence[str], number: int) -> list[str]:
    """Five content words of some document each, among stop words, as people ask."""
    random = np.random.default_rng(3)
    questions = []
    for place in random.integers(0, len(bodies), number):
        content = [word for word in bodies[place].split() if word not in STOP_WORDS]
        questions.append(f"is the {' of '.join(random.choice(content, 5))} for a")
    return questions


def _timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _compare(library: Library, embedder: RandomEmbedder) -> dict[str, Any]:
    """Each question by the bare legs (as the owner, no scope) and by the hybrid search."""
    times: dict[str, list[float]] = {"ann": [], "bm25": [], "hybrid": []}
    with library.owner.transaction() as bare, library.app.transaction(library.scope) as scoped:
        tune(bare)
        send_vectors_in_binary(bare.connection())
        for round_number in range(2):  # the first one warms up
            for question in library.questions:
                vector = embedder.embed_query(question)
                terms = _terms(bare, library.group_id, question)
                request = SearchRequest(question, language="en", vector=vector)
                ann = _timed(lambda v=vector: _bare_ann(bare, embedder, v))
                bm25 = _timed(lambda t=terms: _bare_bm25(bare, library.group_id, t))
                outcome = search(scoped, request, embedder)
                if round_number:
                    times["ann"].append(ann)
                    times["bm25"].append(bm25)
                    times["hybrid"].append(outcome.timings["database_ms"])
    figures: dict[str, Any] = {name: _spread(values) for name, values in times.items()}
    bare_sum = figures["ann"]["p50_ms"] + figures["bm25"]["p50_ms"]
    figures["hybrid_to_bare_sum"] = round(figures["hybrid"]["p50_ms"] / bare_sum, 2)
    return figures


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "min_ms": round(min(values), 2),
        "p50_ms": round(percentile(values, 0.5), 2),
        "p95_ms": round(percentile(values, 0.95), 2),
    }


def _bare_ann(session: ScopedSession, embedder: RandomEmbedder, vector: Vector) -> list[UUID]:
    size = embedder.dimensions
    query = text(
        f"SELECT document_id FROM embeddings WHERE model = '{embedder.model}'"
        f" AND dimensions = {size} ORDER BY (embedding::halfvec({size})) <=> :vector LIMIT 50"
    )
    return list(session.scalars(query, {"vector": HalfVector(vector)}))


def _terms(session: ScopedSession, group_id: UUID, question: str) -> dict[str, Any]:
    """The question's lexemes with their weights, which the bare leg is given for nothing."""
    query = text(
        "SELECT f.lexeme, ln(1 + (s.documents - f.documents + 0.5)::float8"
        " / (f.documents + 0.5)) AS idf, s.total_length::float8 / s.documents AS mean"
        " FROM search_terms(:question) AS t JOIN lexeme_statistics AS f USING (language, lexeme)"
        " JOIN language_statistics AS s USING (group_id, language)"
        " WHERE f.group_id = :group AND t.language = 'en'"
    )
    rows = session.execute(query, {"question": question, "group": group_id}).all()
    return {
        "lexemes": [row.lexeme for row in rows],
        "idfs": [row.idf for row in rows],
        "mean": rows[0].mean if rows else 1.0,
    }


def _bare_bm25(session: ScopedSession, group_id: UUID, terms: dict[str, Any]) -> list[Any]:
    query = text(
        f"SELECT p.doc_no, sum(t.idf * {K1 + 1} * p.frequency / (p.frequency"
        f" + {K1 * (1 - B)} + {K1 * B} * p.length / CAST(:mean AS float8))) AS score"
        " FROM unnest(CAST(:lexemes AS text[]), CAST(:idfs AS float8[])) AS t (lexeme, idf)"
        " JOIN postings AS p ON p.group_id = :group AND p.language = 'en'"
        " AND p.lexeme = t.lexeme GROUP BY p.doc_no ORDER BY score DESC LIMIT 50"
    )
    return list(session.execute(query, {**terms, "group": group_id}))


def _recall(library: Library, embedder: RandomEmbedder) -> float:
    """Of the ten nearest by exact search, how many the fifty candidates hold."""
    shares = []
    with library.owner.transaction() as session:
        tune(session)
        send_vectors_in_binary(session.connection())
        for question in library.questions[:50]:
            vector = embedder.embed_query(question)
            found = _bare_ann(session, embedder, vector)
            session.execute(text("SET LOCAL enable_indexscan = off"))
            exact = _bare_ann(session, embedder, vector)[:10]
            session.execute(text("SET LOCAL enable_indexscan = on"))
            shares.append(len(set(found) & set(exact)) / 10)
    return round(fmean(shares), 3)


def _filtered(library: Library, embedder: RandomEmbedder) -> dict[str, Any]:
    """Searches under a filter that one document in twenty passes."""
    times, sizes = [], []
    for question in library.questions:
        request = SearchRequest(question, mode="semantic", limit=50, filters=[AtMost("minutes", 5)])
        with library.app.transaction(library.scope) as session:
            outcome = search(session, request, embedder)
        times.append(outcome.timings["database_ms"])
        sizes.append(len(outcome.hits))
    return {**_spread(times), "fewest_hits": min(sizes)}


def _end_to_end(library: Library) -> dict[str, float]:
    """From the call to the shaped result, embedding and a transaction of its own included."""
    embedder = WordLlamaEmbedder()
    with library.owner.session() as session:
        embed_missing(session, embedder, group_id=library.group_id, batch_size=1_000)
    times = []
    for round_number in range(2):
        for question in library.questions:

            def ask(question: str = question) -> None:
                with library.app.transaction(library.scope) as session:
                    search(session, SearchRequest(question, language="en"), embedder)

            took = _timed(ask)
            if round_number:
                times.append(took)
    return _spread(times)
