"""The worker takes new connections though others keep it busy."""

from __future__ import annotations

import socket
from typing import Any

import gevent
import gevent.socket
import pytest
from gevent.pool import Pool

from app.web.gunicorn_worker import ACCEPTED_AT_ONCE, LOOK_SECONDS, FairWorker


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
