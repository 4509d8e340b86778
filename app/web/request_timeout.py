"""A request's body, for which the server waits for a while and no longer, and others never.

Without a limit whoever sends half a body and stops keeps a connection for as long as they
like, and a thousand of them keep everybody else out. gunicorn's worker for gevent has a limit
for the headers alone (`keepalive` in gunicorn.conf.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import gevent
from gevent import monkey
from werkzeug.exceptions import RequestTimeout

# Somebody's slow line; each second's worth that came is waited for a second longer.
SLOWEST_BYTES_PER_SECOND = 16 * 1024
STEP_BYTES = 64 * 1024
# A body that is there already is worked on for so long in one go; then others go on for as long.
STRETCH_SECONDS = 0.01


class Source(Protocol):
    """What a WSGI server gives as `wsgi.input`."""

    def read(self, size: int = -1, /) -> bytes: ...
    def readline(self, size: int = -1, /) -> bytes: ...


class TimedBody:
    """A body whose reads raise RequestTimeout once it was waited for too long in all.

    `seconds` are what it may take, and one more for each 16 KiB that came.
    """

    def __init__(self, source: Source, seconds: float) -> None:
        self._source = source
        self._left = seconds
        self._since = time.monotonic()

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size >= 0:
            return self._wait(lambda: self._source.read(size))
        steps = iter(lambda: self._wait(lambda: self._source.read(STEP_BYTES)), b"")
        return b"".join(steps)

    def readline(self, size: int | None = -1) -> bytes:
        return self._wait(lambda: self._source.readline(-1 if size is None else size))

    def readlines(self, _hint: int = -1) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def _wait(self, read: Callable[[], bytes]) -> bytes:
        if self._left <= 0:
            raise RequestTimeout
        began = time.monotonic()
        if began - self._since >= STRETCH_SECONDS:
            gevent.sleep(STRETCH_SECONDS)
            began = self._since = time.monotonic()
        try:
            with gevent.Timeout(self._left, RequestTimeout()):
                data = read()
        finally:
            self._left -= time.monotonic() - began
        self._left += len(data) / SLOWEST_BYTES_PER_SECOND
        return data


def limit_waiting(app: WSGIApplication, seconds: float) -> WSGIApplication:
    """`app`, whose requests' bodies keep it waiting for `seconds` at most, where gevent serves."""

    def limited(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if monkey.is_module_patched("socket"):
            source: Any = environ["wsgi.input"]
            environ["wsgi.input"] = TimedBody(source, seconds)
        return app(environ, start_response)

    return limited
