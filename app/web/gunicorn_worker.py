"""The web server's worker: gunicorn's for gevent, in which no connection keeps others waiting."""

from __future__ import annotations

import errno
from contextlib import suppress
from functools import partial
from typing import Any

import gevent
from gevent.server import StreamServer
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from gunicorn.workers.ggevent import GeventWorker  # type: ignore[import-untyped]

# What is read of a body that the app has left, so that the connection can go on.
LEFT_BYTES, PIECE_BYTES, LEFT_SECONDS = 64 * 1024, 1024, 1.0
# So many new connections are taken whenever the worker looks for them, which is once a pass over
# all that go on: with gunicorn's one, forty that were busy kept new ones waiting for seconds.
ACCEPTED_AT_ONCE = 16
# After each answer a worker looks at what others wait for (the database, a new connection). It
# looks only when nothing else can go on, and where a few connections ask again at once something
# always can: `gevent.sleep(0)` lets that go on and does not look.
LOOK_SECONDS = 0.0005


class FairWorker(GeventWorker):  # type: ignore[misc]
    """Lets others go on after each request, and gives up readers who do not read.

    gunicorn answers what came over one connection without a pause for as long as more is there,
    waits for a reader for ever, and takes one new connection at a time.
    """

    # How long a piece of an answer may wait for its reader; set in gunicorn.conf.py. A page, and
    # a day's heartbeats of a stream, fit into what the system keeps for a connection.
    send_seconds: float | None = None

    def server_class(self, listener: Any, *, spawn: Any, **_wsgi: Any) -> StreamServer:
        """What gunicorn's `run` would make for a socket where it is given nothing else."""
        server = StreamServer(listener, handle=partial(self.handle, listener), spawn=spawn)
        server.max_accept = ACCEPTED_AT_ONCE
        return server

    def handle_request(self, name: str, request: Any, connection: Any, address: Any) -> Any:
        connection.settimeout(self.send_seconds)
        try:
            answered = super().handle_request(name, request, connection, address)
        except TimeoutError as error:
            # As if they had gone, which is nothing to be logged as an error.
            raise ConnectionResetError(errno.ECONNRESET, "not read in time") from error
        gevent.sleep(LOOK_SECONDS)
        if not _is_read(request.body):
            raise StopIteration("more of a body came than anybody read")
        return answered


def _is_read(body: Any) -> bool:
    """Whether a body has come to its end, with the little that is read of it here.

    gunicorn reads the rest of it, however much there is, and lets nobody go on meanwhile; how it
    is told to close a connection is that there is no further request.
    """
    # One that is no body is not read further either; what was answered stays answered.
    with gevent.Timeout(LEFT_SECONDS, exception=False), suppress(OSError, ParseException):
        for _ in range(LEFT_BYTES // PIECE_BYTES):
            if not body.read(PIECE_BYTES):
                return True
    return False
