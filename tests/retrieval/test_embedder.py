"""Where vectors come from: the package's model, and servers that speak OpenAI's API."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import redis
from numpy.typing import NDArray

from app.config import Settings
from app.errors import ConfigurationError
from app.retrieval.embedder import OpenAIEmbedder, WordLlamaEmbedder, WrongVectorSize, make_embedder
from app.retrieval.query_cache import (
    MOST_AT_ONCE,
    EmbeddingUnavailable,
    QueryCache,
    normalise_query,
)
from tests.model_server import ModelServer


def api_embedder(
    server: ModelServer, cache: QueryCache | None = None, **more: Any
) -> OpenAIEmbedder:
    facts = {"embedding_model": "text-embedding-3-small", "embedding_dimensions": 64, **more}
    return OpenAIEmbedder(Settings(openai_base_url=server.base_url, **facts), cache)


def similarity(embedder: WordLlamaEmbedder, one: str, other: str) -> float:
    first, second = embedder.embed_documents([one, other])
    return float(first @ second)


class TestWordLlama:
    def test_vectors_have_length_one(self, embedder: WordLlamaEmbedder) -> None:
        for vectors in (
            embedder.embed(["chicken", "", "¿Qué?", "x" * 5000]),
            embedder.embed_documents(["chicken", "", "the of", "🍕"]),
        ):
            assert vectors.shape == (4, 256)
            assert vectors.dtype == np.float32
            assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)

    def test_nothing_to_embed_gives_no_rows(self, embedder: WordLlamaEmbedder) -> None:
        assert embedder.embed([]).shape == (0, 256)

    def test_what_means_the_same_is_near(self, embedder: WordLlamaEmbedder) -> None:
        near = similarity(embedder, "raw chicken storage", "keeping uncooked poultry cold")
        far = similarity(embedder, "raw chicken storage", "holiday pay for servers")
        assert near > far + 0.15

    def test_stop_words_do_not_move_a_vector(self, embedder: WordLlamaEmbedder) -> None:
        assert similarity(embedder, "el pollo de la casa", "pollo casa") > 0.99

    def test_unrelated_spanish_texts_are_not_near_for_being_spanish(
        self, embedder: WordLlamaEmbedder
    ) -> None:
        assert similarity(embedder, "política de propinas", "quién ganó el partido anoche") < 0.35

    def test_the_query_is_compared_as_documents_are(self, embedder: WordLlamaEmbedder) -> None:
        query = embedder.embed_query("  Raw CHICKEN ")
        assert np.allclose(query, embedder.embed_documents(["raw chicken"])[0])


class TestApi:
    def test_it_gives_the_asked_size_at_length_one(self, model_server: ModelServer) -> None:
        vectors = api_embedder(model_server).embed(["one", "two"])
        assert vectors.shape == (2, 64)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert model_server.embedding_requests[-1]["dimensions"] == 64

    def test_a_model_without_sizes_is_not_asked_for_one(self, model_server: ModelServer) -> None:
        embedder = api_embedder(
            model_server, embedding_model="nomic-embed-text", embedding_dimensions=1536
        )
        assert embedder.embed(["one"]).shape == (1, 1536)
        assert "dimensions" not in model_server.embedding_requests[-1]

    def test_a_wrong_size_is_said_with_both_numbers(self, model_server: ModelServer) -> None:
        embedder = api_embedder(
            model_server, embedding_model="nomic-embed-text", embedding_dimensions=768
        )
        with pytest.raises(WrongVectorSize) as caught:
            embedder.embed(["one"])
        assert "1536" in caught.value.reason and "768" in caught.value.reason

    def test_the_same_question_is_asked_once(self, model_server: ModelServer) -> None:
        embedder = api_embedder(model_server)
        first = embedder.embed_query("Raw chicken?")
        assert np.array_equal(first, embedder.embed_query("  raw   CHICKEN?"))
        assert len(model_server.embedding_requests) == 1

    def test_processes_share_answers_through_redis(
        self, model_server: ModelServer, redis_client: redis.Redis
    ) -> None:
        question = f"shared question {time.monotonic_ns()}"
        first = api_embedder(model_server, QueryCache(redis_client)).embed_query(question)
        second = api_embedder(model_server, QueryCache(redis_client)).embed_query(question)
        assert np.array_equal(first, second)
        assert len(model_server.embedding_requests) == 1

    def test_without_redis_it_still_answers(self, model_server: ModelServer) -> None:
        nowhere = redis.Redis(port=1, socket_connect_timeout=0.2)
        assert api_embedder(model_server, QueryCache(nowhere)).embed_query("soup").shape == (64,)

    def test_a_server_that_is_away_is_noticed_fast_and_left_alone(self) -> None:
        settings = Settings(
            embedding_model="text-embedding-3-small", openai_base_url="http://127.0.0.1:9/v1"
        )
        embedder = OpenAIEmbedder(settings)
        with pytest.raises(EmbeddingUnavailable):
            embedder.embed_query("soup")
        started = time.perf_counter()
        with pytest.raises(EmbeddingUnavailable):
            embedder.embed_query("another soup")
        assert time.perf_counter() - started < 0.05

    def test_after_its_rest_the_server_is_asked_again(self, model_server: ModelServer) -> None:
        cache = QueryCache(rest=0)
        away = OpenAIEmbedder(
            Settings(embedding_model="m", openai_base_url="http://127.0.0.1:9/v1"), cache
        )
        with pytest.raises(EmbeddingUnavailable):
            away.embed_query("soup")
        assert api_embedder(model_server, cache).embed_query("soup").shape == (64,)


class TestCache:
    def test_the_oldest_is_forgotten_first(self) -> None:
        asked: list[str] = []
        cache = QueryCache(capacity=2)

        def ask(query: str) -> None:
            def answer() -> Any:
                asked.append(query)
                return np.ones(3, dtype=np.float32)

            cache.vector("m", query, answer)

        for query in ("a", "b", "a", "c", "a", "b"):
            ask(query)
        assert asked == ["a", "b", "c", "b"]

    def test_an_answer_gets_old(self) -> None:
        answers = iter([np.zeros(3, dtype=np.float32), np.ones(3, dtype=np.float32)])
        cache = QueryCache(lifetime=0)
        assert cache.vector("m", "q", lambda: next(answers))[0] == 0
        time.sleep(0.001)
        assert cache.vector("m", "q", lambda: next(answers))[0] == 1

    def test_redis_never_learns_the_question(self, redis_client: redis.Redis) -> None:
        question = "a very private question"
        cache = QueryCache(redis_client)
        cache.vector("m", question, lambda: np.ones(3, dtype=np.float32))
        keys = b" ".join(redis_client.keys("embedding:*"))
        assert b"private" not in keys
        assert all(redis_client.pttl(key) > 0 for key in redis_client.keys("embedding:*"))

    def test_composition_and_blanks_are_evened(self) -> None:
        assert normalise_query(" Cafe\u0301\n CON  leche ") == "café con leche"


@pytest.mark.parametrize(
    ("facts", "setting"),
    [
        ({"embedding_dimensions": 512}, "EMBEDDING_DIMENSIONS"),
        ({"embedding_model": "text-embedding-3-large"}, "EMBEDDING_MODEL"),
        ({"embedding_model": "x' OR 'a", "openai_api_key": "key"}, "EMBEDDING_MODEL"),
    ],
)
def test_settings_that_cannot_work_stop_the_start(facts: dict[str, Any], setting: str) -> None:
    with pytest.raises(ConfigurationError, match=setting):
        make_embedder(Settings(**facts))


def test_the_settings_choose_the_embedder() -> None:
    assert isinstance(make_embedder(Settings()), WordLlamaEmbedder)
    api = Settings(embedding_model="text-embedding-3-large", openai_api_key="key")
    assert isinstance(make_embedder(api), OpenAIEmbedder)


@pytest.mark.fault(68)
def test_few_questions_are_asked_at_once_and_no_others_wait_for_long() -> None:
    """Each may hold a connection to the database; a process has six."""
    cache, go_on = QueryCache(), threading.Event()
    asked = threading.Semaphore(0)

    def slow() -> NDArray[np.float32]:
        asked.release()
        assert go_on.wait(30)
        return np.ones(2, dtype=np.float32)

    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(cache.vector, "m", f"q{n}", slow) for n in range(MOST_AT_ONCE)]
        for _ in waiting:
            assert asked.acquire(timeout=30)
        with pytest.raises(EmbeddingUnavailable):
            cache.vector("m", "one more", slow)
        go_on.set()
        assert all(each.result().shape == (2,) for each in waiting)
    # Nobody has failed: the next one is asked at once.
    assert cache.vector("m", "one more", slow).shape == (2,)
