"""The worker takes new connections though others keep it busy."""

from __future__ import annotations

import socket
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import gevent
import gevent.event
import gevent.socket
import pytest
from gevent.pool import Pool
from gunicorn.config import Config
from gunicorn.http.errors import InvalidChunkSize, LimitRequestHeaders
from gunicorn.http.parser import RequestParser
from gunicorn.workers.ggevent import GeventWorker

from app.web import gunicorn_worker
from app.web.fair_queue import Pace
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


class Answering(FairWorker):
    """A worker that remembers which connections it answered, and keeps them open."""

    def __init__(self, most: int | None = None) -> None:
        self.most_of_address, self.answered = most, list[Any]()
        self.may_end = gevent.event.Event()

    def handle_requests(self, client: Any) -> None:
        self.answered.append(client)
        self.may_end.wait()


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No address has sent anything before."""
    monkeypatch.setattr(gunicorn_worker, "_connections", Pace(0.004, longest=1.0, burst=3))
    monkeypatch.setattr(
        GeventWorker, "handle", lambda self, _to, client, _of: self.handle_requests(client)
    )


def pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair()


@pytest.mark.fault(63)
@pytest.mark.usefixtures("quiet")
def test_who_asks_again_and_again_and_leaves_is_not_answered() -> None:
    """A thousand a second of them kept everybody waiting for ten seconds."""
    worker, left = Answering(), 20
    for _ in range(left):
        mine, its = pair()
        mine.sendall(b"GET / HTTP/1.1\r\n\r\n")
        mine.close()
        gevent.spawn(worker.handle, None, its, ("192.0.2.1", 1))
    gevent.sleep(0.01)
    assert 0 < len(worker.answered) < left / 2
    few = len(worker.answered)
    # Who waits for an answer has one meanwhile, also from there, and so has who asks rarely.
    mine, its = pair()
    stays = gevent.spawn(worker.handle, None, its, ("192.0.2.1", 1))
    other, its_other = pair()
    other.shutdown(socket.SHUT_WR)
    goes = gevent.spawn(worker.handle, None, its_other, ("192.0.2.2", 1))
    gevent.sleep(0.3)
    assert len(worker.answered) == few + 2
    worker.may_end.set()
    gevent.joinall([stays, goes])
    for each in (mine, other):
        each.close()


@pytest.mark.fault(63)
@pytest.mark.usefixtures("quiet")
def test_connections_of_one_address_beyond_many_are_closed_at_once() -> None:
    """Of 15,000 that sent nothing all that a worker keeps was taken."""
    worker, most = Answering(most=5), 5
    pairs = [pair() for _ in range(8)]
    running = [gevent.spawn(worker.handle, None, its, ("192.0.2.3", 1)) for _mine, its in pairs]
    gevent.sleep(0.3)
    assert len(worker.answered) == most
    closed = [mine for mine, _its in pairs[most:]]
    assert [mine.recv(1) for mine in closed] == [b"", b"", b""]
    _mine, its = pair()
    other = gevent.spawn(worker.handle, None, its, ("192.0.2.4", 1))
    gevent.sleep(0.05)
    assert len(worker.answered) == most + 1
    worker.may_end.set()
    gevent.joinall([*running, other])
    assert not gunicorn_worker._open


@pytest.mark.fault(63)
@pytest.mark.usefixtures("quiet")
def test_addresses_of_one_network_of_ipv6_are_one_sender() -> None:
    """Twenty of them took all connections that a worker keeps."""
    worker, most = Answering(most=5), 5
    pairs = [pair() for _ in range(8)]
    running = [
        gevent.spawn(worker.handle, None, its, (f"2001:db8::{number:x}", 1, 0, 0))
        for number, (_mine, its) in enumerate(pairs)
    ]
    # As a server that listens for both kinds is told an address of IPv4.
    _mine, its = pair()
    other = gevent.spawn(worker.handle, None, its, ("::ffff:192.0.2.9", 1, 0, 0))
    gevent.sleep(0.3)
    assert len(worker.answered) == most + 1
    worker.may_end.set()
    gevent.joinall([*running, other])
    assert not gunicorn_worker._open


@pytest.mark.fault(63)
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("most", "waits"), [(5, True), (None, False)])
def test_who_leaves_before_the_answer_makes_what_comes_next_wait(
    monkeypatch: pytest.MonkeyPatch, most: int | None, waits: bool
) -> None:
    """Two thousand connections a second that were hung up after five milliseconds each.

    Behind a proxy they may be anybody's, and all of its connections would wait.
    """
    monkeypatch.setattr(GeventWorker, "handle_request", lambda *_given: True)
    monkeypatch.setattr(gunicorn_worker, "bound_chunks", lambda *_given: None)
    monkeypatch.setattr(gunicorn_worker, "_is_read", lambda _body: True)
    worker, sender = Answering(most), "192.0.2.5"
    asked = SimpleNamespace(body=SimpleNamespace(reader=None))
    for _ in range(5):
        mine, its = pair()
        mine.close()
        worker.handle_request("name", asked, BoundedConnection(its, sender), (sender, 1))
        its.close()
    assert gunicorn_worker._connections.is_behind(sender) is waits


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
    connection, rest = BoundedConnection(ours), 20
    pieces = []
    # The first ones as they come, each sent once the one before it has been read.
    for _ in range(FEW_CRUMBS + 1):
        theirs.sendall(b"a")
        pieces.append(len(connection.recv(8192)))
    assert pieces == [1] * (FEW_CRUMBS + 1)

    def drip() -> None:
        for _ in range(rest):
            theirs.sendall(b"a")
            gevent.sleep(CRUMB_SECONDS / 100)

    # Then all that came meanwhile at once.
    dripping, pieces = gevent.spawn(drip), []
    while sum(pieces) < rest:
        pieces.append(len(connection.recv(8192)))
    assert len(pieces) < rest
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
