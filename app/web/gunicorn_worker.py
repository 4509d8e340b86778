"""The web server's worker: gunicorn's for gevent, in which no connection keeps others waiting."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from math import inf
from time import monotonic
from typing import Any

import gevent
from gevent.server import StreamServer
from gunicorn.http.body import ChunkedReader  # type: ignore[import-untyped]
from gunicorn.http.errors import (  # type: ignore[import-untyped]
    InvalidChunkSize,
    LimitRequestHeaders,
    ParseException,
)
from gunicorn.workers.ggevent import GeventWorker  # type: ignore[import-untyped]

from app.web.addresses import network_of
from app.web.fair_queue import Pace, has_left

# What is read of a body that the app has left, so that the connection can go on.
LEFT_BYTES, PIECE_BYTES, LEFT_SECONDS = 64 * 1024, 16 * 1024, 1.0
# So many new connections are taken whenever the worker looks for them, which is once a pass over
# all that go on: with gunicorn's one, forty that were busy kept new ones waiting for seconds.
ACCEPTED_AT_ONCE = 16
# After each answer a worker looks at what others wait for (the database, a new connection). It
# looks only when nothing else can go on, and where a few connections ask again at once something
# always can: `gevent.sleep(0)` lets that go on and does not look.
LOOK_SECONDS = 0.0005
# What stands above a body, and below one that comes in chunks. gunicorn looks through all of it
# after each read, and would take 819 KB of it.
LONGEST_HEAD, LONGEST_TRAILERS = 32 * 1024, 4 * 1024
# After so many reads of one request that brought next to nothing, the next ones wait, so that
# what comes byte by byte is looked through ten times a second.
CRUMB_BYTES, FEW_CRUMBS, CRUMB_SECONDS = 512, 32, 0.1
# A body in chunks has so many bytes to a chunk, after a few of them, and is most of what comes for
# it over the wire: gunicorn goes through the sizes of all chunks of one read without letting
# anybody go on. Browsers and proxies send kilobytes with a size of a few letters.
FEW_CHUNKS, LEAST_BYTES_OF_CHUNKS, MOST_AROUND_CHUNKS = 256, 64, 64 * 1024
# Who sends without a pause is read without one, and gevent lets nobody else go on meanwhile.
STRETCH_SECONDS, WAITED_SECONDS = 0.01, 0.001
# What is no request, or is left before its end, is answered so often, of one address; the first
# ones at once. So are connections taken: a proxy without kept ones opens one for each request.
_broken_ones = Pace(0.1, longest=2.0, burst=10)
_connections = Pace(0.004, longest=4.0, burst=60)
TURNS_OF_LEFT = 10.0
_open: Counter[str] = Counter()


class FairWorker(GeventWorker):  # type: ignore[misc]
    """Lets others go on after each request, and gives up readers who do not read.

    gunicorn answers what came over one connection without a pause for as long as more is there,
    waits for a reader for ever, and takes one new connection at a time.
    """

    # How long a piece of an answer may wait for its reader; set in gunicorn.conf.py. A page, and
    # a day's heartbeats of a stream, fit into what the system keeps for a connection.
    send_seconds: float | None = None
    # How many connections of one address are kept; None where all are a proxy's, which has a limit
    # of its own. Beyond they are closed at once, or those of one would be all that a worker keeps.
    most_of_address: int | None = None

    def server_class(self, listener: Any, *, spawn: Any, **_wsgi: Any) -> StreamServer:
        """What gunicorn's `run` would make for a socket where it is given nothing else."""
        server = StreamServer(listener, handle=partial(self.handle, listener), spawn=spawn)
        server.max_accept = ACCEPTED_AT_ONCE
        return server

    def handle(self, listener: Any, client: Any, address: Any) -> None:
        sender = _sender(address)
        is_left, is_many = has_left(client), _open[sender] >= (self.most_of_address or inf)
        if is_many or (is_left and _connections.is_behind(sender)):
            # Who asks and goes without waiting for an answer can ask a thousand times a second.
            client.close()
            return
        _open[sender] += 1
        try:
            _connections.wait(sender, TURNS_OF_LEFT if is_left else 1.0)
            super().handle(listener, BoundedConnection(client, sender), address)
        finally:
            _open[sender] -= 1
            if not _open[sender]:
                del _open[sender]

    def handle_error(self, request: Any, client: Any, address: Any, error: BaseException) -> None:
        # No request of the app's, whose own pace these do not have.
        if isinstance(error, ParseException):
            _broken_ones.wait(_sender(address))
        super().handle_error(request, client, address, error)

    def handle_request(self, name: str, request: Any, connection: Any, address: Any) -> Any:
        connection.settimeout(self.send_seconds)
        if self.most_of_address and has_left(connection):
            # As those that had left when they came: what comes next of this sender waits longer.
            _connections.wait(connection.sender, TURNS_OF_LEFT)
        connection.begin(is_head=False)
        bound_chunks(request.body.reader, connection)
        try:
            answered = super().handle_request(name, request, connection, address)
        except TimeoutError as error:
            # As if they had gone, which is nothing to be logged as an error.
            raise ConnectionResetError(errno.ECONNRESET, "not read in time") from error
        gevent.sleep(LOOK_SECONDS)
        if not _is_read(request.body):
            raise StopIteration("more of a body came than anybody read")
        connection.begin(is_head=True)
        return answered


class BoundedConnection:
    """A socket that gives a request's head within bounds, and crumbs of anything in their time."""

    def __init__(self, connection: Any, sender: str = "") -> None:
        self._connection, self.sender = connection, sender
        self.begin(is_head=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def begin(self, *, is_head: bool) -> None:
        """What is read from now on is the head of a request, or its body."""
        self._is_head, self.bytes_read, self._crumbs = is_head, 0, 0
        self._since = monotonic()

    def recv(self, size: int) -> bytes:
        """What has come, `size` bytes at most.

        Raises:
            LimitRequestHeaders: more of a head came than any browser sends; it is 431.
        """
        began = monotonic()
        if self._crumbs > FEW_CRUMBS:
            gevent.sleep(CRUMB_SECONDS)
        elif began - self._since >= STRETCH_SECONDS:
            gevent.sleep(LOOK_SECONDS)
            began = self._since = monotonic()
        piece: bytes = self._connection.recv(size)
        ended = monotonic()
        if ended - began >= WAITED_SECONDS:
            self._since = ended
        self._crumbs += len(piece) < CRUMB_BYTES
        self.bytes_read += len(piece)
        if self._is_head and self.bytes_read > LONGEST_HEAD:
            raise LimitRequestHeaders("longer than any browser writes")
        return piece


def bound_chunks(reader: Any, connection: BoundedConnection) -> None:
    """Have a body in chunks refused where most of it is none, or where it goes on behind its end.

    `connection` is what it is read from.
    """
    if isinstance(reader, ChunkedReader):
        reader.limit_trailer_section = LONGEST_TRAILERS
        reader.parser = _without_crumbs(reader.parser, connection)


def _without_crumbs(pieces: Iterator[bytes], connection: BoundedConnection) -> Iterator[bytes]:
    size = 0
    for number, piece in enumerate(pieces):
        size += len(piece)
        are_crumbs = number > FEW_CHUNKS and size < LEAST_BYTES_OF_CHUNKS * number
        if are_crumbs or connection.bytes_read > 2 * size + MOST_AROUND_CHUNKS:
            # Before it is answered: who has the answer comes back without waiting for anything.
            _broken_ones.wait(connection.sender)
            raise InvalidChunkSize(b"more around them than in them")
        yield piece


def _sender(address: Any) -> str:
    """Who a connection is of; all that come over a socket of this machine are one."""
    return network_of(str(address[0])) if address else ""


def _is_read(body: Any) -> bool:
    """Whether a body has come to its end, with the little that is read of it here.

    gunicorn reads the rest of it, however much there is, and lets nobody go on meanwhile; how it
    is told to close a connection is that there is no further request.
    """
    # What was none is at no end either.
    if body.failed or getattr(body.reader, "length", 0) > LEFT_BYTES:
        return False
    # One that is no body is not read further either; what was answered stays answered.
    with gevent.Timeout(LEFT_SECONDS, exception=False), suppress(OSError, ParseException):
        for _ in range(LEFT_BYTES // PIECE_BYTES):
            if not body.read(PIECE_BYTES):
                return True
    return False
