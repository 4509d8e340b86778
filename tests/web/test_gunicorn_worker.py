"""The worker takes new connections though others keep it busy."""

from __future__ import annotations

import socket
from typing import Any

import gevent
import gevent.socket
import pytest
from gevent.pool import Pool

from app.web.gunicorn_worker import ACCEPTED_AT_ONCE, FairWorker


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
