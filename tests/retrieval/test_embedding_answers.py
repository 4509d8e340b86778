"""What a server of embeddings may send: as much as was asked for, and nothing else."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Mapping
from typing import Any

import pytest

from app.config import Settings
from app.retrieval.embedder import OpenAIEmbedder, Vectors, WrongVectorSize
from app.retrieval.query_cache import EmbeddingUnavailable
from tests.model_server import plain_server

JSON = {"Content-Type": "application/json"}
SIZE = 64


def answer(*vectors: Any, **more: Any) -> bytes:
    rows = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return json.dumps({"data": rows, **more}).encode()


def embed(
    body: bytes, *, texts: int = 1, status: int = 200, headers: Mapping[str, str] = JSON
) -> Vectors:
    """The vectors of so many texts, by a server that answers so."""
    with plain_server(status, headers, body) as url:
        facts = {"embedding_model": "m", "embedding_dimensions": SIZE}
        return OpenAIEmbedder(Settings(openai_base_url=url, **facts)).embed(["soup"] * texts)


def test_numbers_that_are_written_at_length_are_read() -> None:
    """As a server writes them that gives each a line of its own."""
    vectors = [[-0.12345678901234567 - row / 1_000] * 1_000 for row in range(3)]
    with plain_server(
        200, JSON, json.dumps(json.loads(answer(*vectors)), indent=2).encode()
    ) as url:
        facts = {"embedding_model": "m", "embedding_dimensions": 1_000}
        embedder = OpenAIEmbedder(Settings(openai_base_url=url, **facts))
        assert embedder.embed(["soup"] * 3).shape == (3, 1_000)


def test_a_model_with_far_longer_vectors_is_still_told_as_such() -> None:
    with pytest.raises(WrongVectorSize) as caught:
        embed(answer([0.0123456] * 4_096))
    assert "4096" in caught.value.reason


@pytest.mark.parametrize(
    "body",
    [
        answer([0.5] * SIZE, pad="x" * 80_000),
        answer([0.5] * SIZE, pad=[[]] * 1_000_000),
        answer([0.5] * SIZE, pad=[0] * 20_000),
        answer([0.5] * SIZE, pad=0).replace(b"0}", b"[" * 100 + b"]" * 100 + b"}"),
        answer([0.5] * SIZE, pad=0).replace(b"0}", b"[" * 30_000 + b"]" * 30_000 + b"}"),
    ],
    ids=["too long", "lists", "values", "levels", "many levels"],
)
def test_what_is_more_than_was_asked_for_is_no_answer(body: bytes) -> None:
    with pytest.raises(EmbeddingUnavailable):
        embed(body)


def test_of_many_texts_the_answer_may_be_longer() -> None:
    body = answer(*[[0.5] * SIZE] * 50, pad="x" * 80_000)
    assert embed(body, texts=50).shape == (50, SIZE)
    with pytest.raises(EmbeddingUnavailable):
        embed(answer([0.5] * SIZE, pad="x" * 80_000))


@pytest.mark.parametrize(
    "body",
    [
        answer([0.0] * SIZE),
        b"<p>Welcome</p>",
        b"null",
        b"[]",
        b'{"data": null}',
        b'{"data": [null]}',
        b'{"data": [{"embedding": [1]}]}',
        answer(None),
        answer({}),
        answer(["x"] * SIZE),
        answer([[0.5]] * SIZE),
        answer([10**400] + [0.5] * (SIZE - 1)),
        answer("!"),
        answer("AAA="),
        answer(""),
        answer(),
        answer([0.5] * SIZE, [0.5] * SIZE),
    ],
)
def test_nonsense_is_told_as_before(body: bytes) -> None:
    with pytest.raises(EmbeddingUnavailable):
        embed(body)


def test_what_is_packed_is_not_unpacked() -> None:
    with pytest.raises(EmbeddingUnavailable):
        embed(gzip.compress(answer([0.5] * SIZE)), headers={**JSON, "Content-Encoding": "gzip"})


@pytest.mark.parametrize("status", [200, 302, 500])
def test_a_flood_is_given_up_before_it_fills_the_worker(status: int) -> None:
    flood = answer([0.5] * SIZE, pad="x" * 5_000_000)
    with plain_server(status, JSON, flood) as url:
        embedder = OpenAIEmbedder(
            Settings(openai_base_url=url, embedding_model="m", embedding_dimensions=SIZE)
        )
        tracemalloc.start()
        try:
            with pytest.raises(EmbeddingUnavailable):
                embedder.embed(["soup"])
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 2_500_000


def test_numbers_that_can_hardly_be_squared_have_a_direction_all_the_same() -> None:
    for number in (3e38, 1e-42):
        [vector] = embed(answer([number] * SIZE))
        assert vector @ vector == pytest.approx(1, abs=1e-4)
    with pytest.raises(EmbeddingUnavailable):
        embed(answer([0.0] * SIZE))
