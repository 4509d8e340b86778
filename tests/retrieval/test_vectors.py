"""Giving documents their vectors: resumable, repeatable, and honest about what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from app.db import Database
from app.retrieval.embedder import Vectors, WordLlamaEmbedder, WrongVectorSize
from app.retrieval.hybrid_query import literal
from app.retrieval.query_cache import EmbeddingUnavailable
from app.retrieval.vectors import (
    BackfillReport,
    embed_missing,
    embedding_text,
    ensure_index,
    index_name,
)
from tests.retrieval.shelf import Shelf


class FlakyEmbedder(WordLlamaEmbedder):
    """Fails as often as it is told, at the calls after the first few."""

    def __init__(self, good_calls: int, failures: int) -> None:
        self.good_calls = good_calls
        self.failures = failures
        self.calls = 0

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.good_calls < self.calls <= self.good_calls + self.failures:
            raise EmbeddingUnavailable("busy")
        return super().embed_documents(texts)


class SmallEmbedder(WordLlamaEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 3), dtype=np.float32)


def backfill(shelf: Shelf, embedder: Any = None, **wishes: Any) -> BackfillReport:
    with shelf.database.session(shelf.scope) as session:
        return embed_missing(
            session,
            embedder or shelf.embedder,
            group_id=shelf.group_id,
            first_wait=0.001,
            **wishes,
        )


@pytest.fixture
def five(shelf: Shelf) -> Shelf:
    for number in range(5):
        shelf.put(f"Soup number {number}.")
    return shelf


def test_every_document_gets_its_vector_once(five: Shelf) -> None:
    assert backfill(five) == BackfillReport(documents=5, missing=5, embedded=5, coverage=1)
    assert backfill(five) == BackfillReport(documents=5, missing=0, embedded=0, coverage=1)


def test_progress_is_told_batch_by_batch(five: Shelf) -> None:
    told: list[tuple[int, int]] = []
    backfill(five, batch_size=2, on_progress=lambda done, missing: told.append((done, missing)))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_dry_run_only_counts(five: Shelf) -> None:
    report = backfill(five, dry_run=True)
    assert report == BackfillReport(documents=5, missing=5, embedded=0, coverage=0)
    assert backfill(five).embedded == 5


def test_force_embeds_everything_again(five: Shelf) -> None:
    backfill(five)
    assert backfill(five, force=True).embedded == 5


def test_a_changed_text_is_embedded_again_and_serves_meanwhile(shelf: Shelf) -> None:
    source = shelf.put("Soup of the day.", embed=True)
    shelf.put("Soup of the night.", source_id=source)
    assert shelf.search("soup", mode="semantic").hits[0].semantic is not None
    assert backfill(shelf, dry_run=True).coverage == 0
    assert backfill(shelf).embedded == 1


def test_three_failures_in_a_row_are_survived(five: Shelf) -> None:
    report = backfill(five, FlakyEmbedder(good_calls=1, failures=3))
    assert (report.embedded, report.stopped) == (5, "")


def test_a_run_that_stopped_goes_on_where_it_was(five: Shelf) -> None:
    report = backfill(five, FlakyEmbedder(good_calls=2, failures=99), batch_size=2)
    assert (report.embedded, report.stopped, report.coverage) == (2, "busy", 0.4)
    assert backfill(five).embedded == 3


def test_a_model_of_another_size_is_found_out_first(five: Shelf) -> None:
    with pytest.raises(WrongVectorSize):
        backfill(five, SmallEmbedder())


def test_a_model_that_is_away_from_the_start_is_said_to_be(five: Shelf) -> None:
    with pytest.raises(EmbeddingUnavailable):
        backfill(five, FlakyEmbedder(good_calls=0, failures=99))


def test_what_is_not_published_does_not_lower_the_coverage(five: Shelf) -> None:
    backfill(five)
    five.put("A draft.", is_published=False)
    assert backfill(five, dry_run=True).coverage == 1


def test_two_models_live_side_by_side(five: Shelf) -> None:
    class OtherEmbedder(WordLlamaEmbedder):
        model = "other"

    backfill(five)
    assert backfill(five, OtherEmbedder()).embedded == 5
    assert backfill(five).missing == 0


def test_the_owners_run_makes_the_index(shelf: Shelf, owner: Database) -> None:
    shelf.put("Soup.")
    with owner.session() as session:
        embed_missing(session, shelf.embedder, group_id=shelf.group_id)
        name = index_name(shelf.embedder.model, shelf.embedder.dimensions)
        query = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
        assert session.execute(query, {"name": name}).scalar_one()


def test_the_index_is_made_once(owner: Database) -> None:
    assert ensure_index(owner.engine, "made-once", 8)
    assert not ensure_index(owner.engine, "made-once", 8)
    assert ensure_index(owner.engine, "made-once", 16)


@pytest.mark.parametrize("name", ["", "x'; DROP TABLE embeddings; --", "a" * 200, "a b", "ñ"])
def test_what_is_no_name_never_reaches_the_text_of_a_statement(name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        literal(name)


def test_the_name_of_an_index_fits_postgres() -> None:
    assert len(index_name("some/very-long:model@name." * 4, 4000)) <= 63


def test_the_place_of_a_text_is_embedded_with_it_once() -> None:
    assert embedding_text("Bar", ["Bar", "Hours"], "At five.") == "Bar > Hours\nAt five."
    assert embedding_text("", [], "At five.") == "At five."
