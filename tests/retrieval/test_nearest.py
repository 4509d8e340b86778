"""The index over vectors: it is used, it finds what is near, and filters do not starve it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import pytest
from pgvector import HalfVector
from sqlalchemy import text

from app.db import Database, Scope
from app.retrieval.embedder import Vector, Vectors
from app.retrieval.hybrid_query import Mode, Shape, statement
from app.retrieval.index import ChunkInput, SourceInput, index_sources
from app.retrieval.search import AtMost, SearchRequest, search, tune
from app.retrieval.vectors import embed_missing, index_name, send_vectors_in_binary
from tests.factories import make_group

DOCUMENTS, DIMENSIONS, HIDDEN = 3_000, 64, 24


class SeededEmbedder:
    """Vectors without clusters, of a third as many true dimensions as they have numbers.

    The text's number picks the vector; texts that are no number are questions.
    """

    model = "test-nearest"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        random = np.random.default_rng(7)
        basis = random.normal(size=(HIDDEN, DIMENSIONS))
        raw = random.normal(size=(DOCUMENTS + 100, HIDDEN)) @ basis
        self.all: Vectors = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        numbers = [int(text.split()[-1]) if text.split()[-1].isdigit() else 0 for text in texts]
        return self.all[numbers]

    embed_documents = embed

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector


@dataclass(frozen=True)
class Warehouse:
    database: Database
    scope: Scope
    embedder: SeededEmbedder

    @property
    def group_id(self) -> UUID:
        assert self.scope.group_id
        return self.scope.group_id

    def nearest(self, number: int, among: range, limit: int) -> list[int]:
        """By exact search, in numpy."""
        near = self.embedder.all[: among.stop : among.step] @ self.embedder.all[number]
        return [int(place) * among.step for place in np.argsort(-near)[:limit]]

    def found(self, number: int, limit: int, *filters: AtMost) -> list[int]:
        request = SearchRequest(
            f"question {number}", mode="semantic", limit=limit, filters=filters, language="en"
        )
        with self.database.transaction(self.scope) as session:
            hits = search(session, request, self.embedder).hits
        return [hit.details["number"] for hit in hits]


@pytest.fixture(scope="module")
def warehouse(database: Database, owner: Database) -> Warehouse:
    """Three thousand documents; every twentieth takes five minutes, the others an hour."""
    group_id, embedder = make_group(owner), SeededEmbedder()
    sources = [
        SourceInput(
            "manual",
            source_id=UUID(int=number + 1),
            chunks=[
                ChunkInput(
                    "en",
                    ("en",),
                    "",
                    f"Box {number}",
                    details={"number": number, "minutes": 60 if number % 20 else 5},
                )
            ],
        )
        for number in range(DOCUMENTS)
    ]
    with owner.transaction() as session:
        index_sources(session, group_id=group_id, sources=sources)
    with owner.session() as session:
        embed_missing(session, embedder, group_id=group_id, batch_size=1_000)
    return Warehouse(database, Scope(group_id), embedder)


QUESTIONS = range(DOCUMENTS, DOCUMENTS + 40)


def test_the_index_finds_what_exact_search_finds(warehouse: Warehouse) -> None:
    shares = [
        len(
            set(warehouse.found(question, 50))
            & set(warehouse.nearest(question, range(DOCUMENTS), 10))
        )
        / 10
        for question in QUESTIONS
    ]
    assert np.mean(shares) >= 0.95


def test_a_filter_of_one_in_twenty_still_fills_the_list(warehouse: Warehouse) -> None:
    few = range(0, DOCUMENTS, 20)
    shares = []
    for question in QUESTIONS:
        found = warehouse.found(question, 50, AtMost("minutes", 5))
        assert len(found) == 50
        assert all(number % 20 == 0 for number in found)
        shares.append(len(set(found) & set(warehouse.nearest(question, few, 50))) / 50)
    assert np.mean(shares) >= 0.9


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_the_plan_of_a_search_walks_the_index(warehouse: Warehouse, mode: Mode) -> None:
    embedder = warehouse.embedder
    shape = Shape(
        mode=mode,
        group_id=warehouse.group_id,
        language="en",
        model=embedder.model,
        dimensions=DIMENSIONS,
    )
    parameters = {"owner": None, "limit": 8, "vector": HalfVector(embedder.all[0])}
    if mode == "hybrid":
        parameters |= {"query": "box", "said": [], "meant": []}
        parameters |= {"semantic_weight": 0.5, "lexical_weight": 0.5}
    with warehouse.database.transaction(warehouse.scope) as session:
        send_vectors_in_binary(session.connection())
        tune(session)
        plan = "\n".join(session.scalars(text(f"EXPLAIN {statement(shape)}"), parameters))
    assert f"Index Scan using {index_name(embedder.model, DIMENSIONS)}" in plan
    assert "Seq Scan" not in plan
