"""The worker takes new connections though others keep it busy."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

import gevent
import gevent.socket
import pytest
from gevent.pool import Pool
from gunicorn.config import Config
from gunicorn.http.errors import InvalidChunkSize, LimitRequestHeaders
from gunicorn.http.parser import RequestParser

from app.web.gunicorn_worker import (
    ACCEPTED_AT_ONCE,
    CRUMB_SECONDS,
    FEW_CRUMBS,
    LONGEST_HEAD,
    LOOK_SECONDS,
    BoundedConnection,
    FairWorker,
    bound_chunks,
)


class Taking(FairWorker):
    """A worker that remembers whose connections it was given, and does nothing else."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    def handle(self, _listener: Any, _client: Any, address: Any) -> None:
        self.taken.append(address)


@pytest.mark.fault(63)
def test_whenever_it_looks_for_connections_it_takes_several_of_those_that_wait() -> None:
    worker = Taking()
    with gevent.socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        server = worker.server_class(listener, spawn=Pool(100), application=None)
        address, more = listener.getsockname(), 4
        waiting = [socket.create_connection(address) for _ in range(ACCEPTED_AT_ONCE + more)]
        server.init_socket()
        # Once a pass over all that goes on, which a busy worker makes a few times a second.
        for taken in (ACCEPTED_AT_ONCE, ACCEPTED_AT_ONCE + more, ACCEPTED_AT_ONCE + more):
            server._do_read()
            gevent.sleep(0)
            assert len(worker.taken) == taken
        for each in waiting:
            each.close()


@pytest.mark.fault(63)
def test_between_two_requests_it_looks_at_what_others_wait_for() -> None:
    """With `gevent.sleep(0)` who waited for a byte that was there went on hundreds later."""
    ours, theirs = gevent.socket.socketpair()
    woke = gevent.spawn(theirs.recv, 1)
    gevent.sleep(0)
    busy = [gevent.spawn(_end_turns, woke) for _ in range(3)]
    gevent.sleep(0)
    ours.send(b"x")
    gevent.joinall([woke, *busy], timeout=60)
    assert max(each.value for each in busy) <= 5
    ours.close()
    theirs.close()


def _end_turns(until: gevent.Greenlet[Any, Any]) -> int:
    """How many requests of a connection that asks without a pause are answered until then."""
    turns = 0
    while not until.ready():
        gevent.sleep(LOOK_SECONDS)
        turns += 1
    return turns


@pytest.mark.fault(33)
def test_of_a_head_no_more_is_taken_than_any_browser_sends() -> None:
    ours, theirs = gevent.socket.socketpair()
    connection = BoundedConnection(ours)
    theirs.sendall(b"a" * LONGEST_HEAD)
    read = 0
    while read < LONGEST_HEAD:
        read += len(connection.recv(8192))
    theirs.sendall(b"a")
    with pytest.raises(LimitRequestHeaders):
        connection.recv(8192)
    # A body may be longer.
    connection.begin(is_head=False)
    theirs.sendall(b"a" * 2 * LONGEST_HEAD)
    while read < 3 * LONGEST_HEAD:
        read += len(connection.recv(8192))
    ours.close()
    theirs.close()


@pytest.mark.fault(33)
def test_what_comes_byte_by_byte_is_looked_at_now_and_then() -> None:
    ours, theirs = gevent.socket.socketpair()
    connection, sent = BoundedConnection(ours), FEW_CRUMBS + 20

    def drip() -> None:
        for _ in range(sent):
            theirs.sendall(b"a")
            gevent.sleep(CRUMB_SECONDS / 100)

    dripping, pieces = gevent.spawn(drip), []
    while sum(pieces) < sent:
        pieces.append(len(connection.recv(8192)))
    # The first ones as they come; then all that came meanwhile at once.
    assert pieces[: FEW_CRUMBS + 1] == [1] * (FEW_CRUMBS + 1)
    assert len(pieces) < sent
    dripping.join()
    ours.close()
    theirs.close()


CHUNKED = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def read_body(body: str) -> bytes:
    """What an app reads of a body in chunks."""
    ours, theirs = gevent.socket.socketpair()
    connection = BoundedConnection(ours)
    sending = gevent.spawn(_send, theirs, (CHUNKED + body).encode())
    request = next(RequestParser(Config(), connection, ("127.0.0.1", 1)))
    connection.begin(is_head=False)
    bound_chunks(request.body.reader, connection)
    try:
        read: bytes = request.body.read()
    finally:
        ours.close()
        sending.join()
    return read


def _send(connection: Any, data: bytes) -> None:
    with connection, suppress(OSError):
        connection.sendall(data)


@pytest.mark.parametrize(
    ("chunk", "number"), [("1\r\na\r\n", 200), ("400\r\n" + "a" * 1024 + "\r\n", 2_000)]
)
@pytest.mark.fault(33)
def test_a_body_in_chunks_is_read_whole(chunk: str, number: int) -> None:
    assert len(read_body(chunk * number + "0\r\n\r\n")) == chunk.count("a") * number


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("1\r\na\r\n" * 2_000 + "0\r\n\r\n", InvalidChunkSize),
        (("82" + ";a" * 4_000 + "\r\n" + "b" * 130 + "\r\n") * 40, InvalidChunkSize),
        (("0" * 8_000 + "82\r\n" + "b" * 130 + "\r\n") * 40, InvalidChunkSize),
        ("0\r\nX: " + "a" * 20_000 + "\r\n", LimitRequestHeaders),
    ],
    ids=["crumbs", "extensions", "zeros", "trailers"],
)
@pytest.mark.fault(33)
def test_a_body_of_crumbs_or_with_a_book_below_it_is_none(
    body: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        read_body(body)
