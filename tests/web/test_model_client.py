"""Asking a model's server: in time, whatever it sends and however slowly."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx2
import openai
import pytest

from app.config import Settings
from app.retrieval import embedder as embedding
from app.retrieval.embedder import make_embedder
from app.retrieval.query_cache import EmbeddingUnavailable
from app.web.model_client import open_client, post_json
from tests.model_server import ModelServer

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
# How a record of TLS begins that is 16 KiB long.
RECORD = b"\x16\x03\x03\x40\x00"
# Each of them before a single read is late.
PAUSE, LIMIT = 0.05, 0.5


@contextmanager
def dripping(head: bytes = b"", *, reads: bool = True) -> Iterator[str]:
    """The address of a server that sends `head` and then a byte now and then, for ever.

    One that does not read so takes a little of the question at a time and answers nothing.
    """
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            taken, _address = listening.accept()
            with taken:
                if reads:
                    taken.recv(1_000_000)
                    taken.sendall(head)
                while not over.wait(PAUSE):
                    taken.send(b"x") if reads else taken.recv(10_000)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            over.set()
            thread.join()


@pytest.mark.parametrize(
    ("head", "reads", "scheme"),
    [
        (b"", True, "http"),
        (b"HTTP/1.1 103 ", True, "http"),
        (HEAD, True, "http"),
        (b"", False, "http"),
        (RECORD, True, "https"),
    ],
)
@pytest.mark.fault(68)
def test_an_answer_that_comes_a_little_at_a_time_is_late_too(
    head: bytes, reads: bool, scheme: str
) -> None:
    body = {"input": "x" * 5_000_000}
    with dripping(head, reads=reads) as address:
        settings = Settings(openai_base_url=address.replace("http", scheme))
        client = open_client(settings, timeout=LIMIT)
        with pytest.raises((openai.APITimeoutError, httpx2.TimeoutException)):
            post_json(client, "/x", body, seconds=LIMIT, most_bytes=200_000, most_values=10)
        client.close()


@pytest.mark.fault(68)
def test_a_line_that_answered_in_time_is_used_again(model_server: ModelServer) -> None:
    client = open_client(Settings(openai_base_url=model_server.base_url), timeout=5)
    for _ in range(3):
        body = {"model": "m", "input": ["soup"], "encoding_format": "float"}
        wanted = {"most_bytes": 200_000, "most_values": 10_000}
        assert post_json(client, "/embeddings", body, seconds=0.5, **wanted)["data"]
        # Its time is over only now.
        time.sleep(0.6)
    client.close()


@pytest.mark.fault(68)
def test_a_search_goes_by_words_where_the_embeddings_come_a_little_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedding, "QUERY_TIMEOUT_SECONDS", LIMIT)
    with dripping(HEAD) as address:
        settings = Settings(
            openai_base_url=address, embedding_model="nomic-embed-text", embedding_dimensions=64
        )
        with pytest.raises(EmbeddingUnavailable):
            make_embedder(settings).embed_query("raw chicken")
