"""The web server's worker: gunicorn's for gevent, in which no connection keeps others waiting."""

from __future__ import annotations

import errno
from typing import Any

import gevent
from gunicorn.workers.ggevent import GeventWorker  # type: ignore[import-untyped]


class FairWorker(GeventWorker):  # type: ignore[misc]
    """Lets others go on after each request, and gives up readers who do not read.

    gunicorn answers what came over one connection without a pause for as long as more is there,
    and waits for a reader for ever.
    """

    # How long a piece of an answer may wait for its reader; set in gunicorn.conf.py. A page, and
    # a day's heartbeats of a stream, fit into what the system keeps for a connection.
    send_seconds: float | None = None

    def handle_request(self, name: str, request: Any, connection: Any, address: Any) -> Any:
        connection.settimeout(self.send_seconds)
        try:
            answered = super().handle_request(name, request, connection, address)
        except TimeoutError as error:
            # As if they had gone, which is nothing to be logged as an error.
            raise ConnectionResetError(errno.ECONNRESET, "not read in time") from error
        gevent.sleep(0)
        return answered
