"""Asking a model's server over HTTP: no more of an answer is read than one can have.

Chat, pictures and embeddings ask servers that others run. Whatever such a server sends is read
by a process in which others wait, so each caller says how long an answer can be.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2

from app.config import Settings
from app.text.json_text import parse_json

if TYPE_CHECKING:
    import openai

# Servers at home ask for no key, but the client insists on having one.
NO_KEY = "none"
LONGEST_ERROR_BYTES = 64 * 1024
# Of one answer with all that stands above and around it, which no caller sees.
LONGEST_ANSWER_BYTES = 64 * 1024 * 1024
# Others have three times as much before what comes without a pause is read on. What was waited for
# longer had not come yet.
STRETCH_SECONDS, REST_SECONDS, WAITED_SECONDS = 0.01, 0.03, 0.001


class RefusedResponse(httpx2.HTTPError):
    """A response that is not read on; the message says why, in none of the server's words."""


def open_client(
    settings: Settings,
    *,
    timeout: openai.Timeout | float,
    on_response: Callable[[httpx2.Response], None] | None = None,
) -> openai.OpenAI:
    """A client of the server that the settings name; it tries once.

    `on_response` bounds what is read of a response, that of an error too, which the client reads
    itself; by default errors alone are bounded.
    """
    # Importing it takes half a second, which an installation without it need not wait.
    import openai

    return openai.OpenAI(
        api_key=settings.openai_api_key or NO_KEY,
        base_url=settings.openai_base_url,
        max_retries=0,
        timeout=timeout,
        # What is packed grows without bounds when it is unpacked.
        default_headers={"Accept-Encoding": "identity"},
        http_client=_bound_reading(
            # What is said goes to the address that was set, and nowhere it points to.
            openai.DefaultHttpxClient(
                follow_redirects=False, event_hooks={"response": [on_response or _bound_error]}
            )
        ),
    )


class _Exchange:
    """A question that must have been answered in time, and the lines it goes over.

    A read timeout is not enough: it starts anew with each byte that comes, and TLS waits for whole
    records without saying so. Shutting the line down wakes a reader in another thread or greenlet.
    """

    def __init__(self, seconds: float) -> None:
        self._lines = set[socket.socket]()
        self._is_over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def use(self, line: socket.socket) -> None:
        """Note that the question goes over this line from here on.

        Raises:
            httpcore2.ReadTimeout: its time is over.
        """
        with self._lock:
            if self._is_over:
                raise httpcore2.ReadTimeout("the answer takes too long")
            self._lines.add(line)

    def close(self) -> None:
        """The line may be another question's now."""
        with self._lock:
            self._timer.cancel()
            self._lines.clear()

    def _end(self) -> None:
        with self._lock:
            self._is_over = True
            for line in self._lines:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)


_exchange: ContextVar[_Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def answered_within(seconds: float) -> Iterator[None]:
    """Let no answer that is read in this block take longer, however it comes.

    Reading it fails then as it does where a server goes away.
    """
    exchange = _Exchange(seconds)
    token = _exchange.set(exchange)
    try:
        yield
    finally:
        _exchange.reset(token)
        exchange.close()


def post_json(
    client: openai.OpenAI,
    path: str,
    body: Mapping[str, Any],
    *,
    seconds: float,
    most_bytes: int,
    most_values: int,
) -> Any:
    """The JSON that the server answers with in time, of so many bytes and values at most.

    The client's typed methods read and build whatever comes, however much it is.

    Raises:
        openai.OpenAIError, httpx2.HTTPError: it does not answer, or not with this.
        RefusedResponse: it is longer, or packed.
        ValueError: it is no JSON, or has more values or levels than that.
    """
    import openai

    with answered_within(seconds):
        stream = client.post(
            path, cast_to=object, body=body, stream=True, stream_cls=openai.Stream[object]
        )
        with stream:
            bound_response(stream.response, most_bytes)
            stream.response.read()
            return parse_json(stream.response.text, most_values=most_values)


def bound_response(response: httpx2.Response, most: int) -> None:
    """Let no more than `most` bytes be read of a response, as UTF-8, whatever it says it is.

    JSON and event streams are UTF-8; Python has codecs whose work grows with the square of a text.

    Raises:
        RefusedResponse: it is packed, though that was not asked for. Reading raises it too, where
            the response is longer.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        response.close()
        raise RefusedResponse("a response is packed")
    response.encoding = "utf-8"
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _BoundedStream(response.stream, most)


def _bound_error(response: httpx2.Response) -> None:
    # An answer that leads elsewhere is one too: nobody follows it, and the client reads it.
    if not response.is_success:
        bound_response(response, LONGEST_ERROR_BYTES)


def _bound_reading(client: httpx2.Client) -> httpx2.Client:
    """Bound what the client reads before there is a response, as hints without end (103).

    The library has a place for another network and none to say which: hence the private names.
    """
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = _Network()
    return client


class _Network(httpcore2.SyncBackend):
    """Connections on which one answer is read within bounds, and with rests."""

    def connect_tcp(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        stream = super().connect_tcp(*args, **options)
        plain = stream.get_extra_info("socket")
        # TLS takes the socket away; this is the same line.
        return _Connection(stream, socket.fromfd(plain.fileno(), plain.family, plain.type))


class _Connection(httpcore2.NetworkStream):
    """What has come already is read without waiting: nobody else would go on meanwhile."""

    def __init__(self, stream: httpcore2.NetworkStream, line: socket.socket) -> None:
        self._stream, self._line = stream, line
        self._length, self._since = 0, time.monotonic()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        began = time.monotonic()
        if began - self._since >= STRETCH_SECONDS:
            time.sleep(REST_SECONDS)
            began = self._since = time.monotonic()
        with self._in_time():
            data = self._stream.read(max_bytes, timeout)
        ended = time.monotonic()
        if ended - began >= WAITED_SECONDS:
            self._since = ended
        self._length += len(data)
        if self._length > LONGEST_ANSWER_BYTES:
            raise httpcore2.RemoteProtocolError("longer than any answer")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # What is read from here on answers another question.
        self._length, self._since = 0, time.monotonic()
        with self._in_time():
            self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()
        self._line.close()

    def start_tls(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        try:
            with self._in_time():
                return _Connection(self._stream.start_tls(*args, **options), self._line)
        except BaseException:
            self._line.close()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Where the exchange is over, that is what is told, and not that the line is down."""
        exchange = _exchange.get()
        if exchange is None:
            yield
            return
        exchange.use(self._line)
        try:
            yield
        except Exception:
            exchange.use(self._line)
            raise
        exchange.use(self._line)


class _BoundedStream(httpx2.SyncByteStream):
    """The bytes of a response, and no more of them than are read.

    Comments and half events are never seen further up, and may come without end.
    """

    def __init__(self, stream: httpx2.SyncByteStream, most: int) -> None:
        self._stream, self._most = stream, most

    def __iter__(self) -> Iterator[bytes]:
        length = 0
        for chunk in self._stream:
            length += len(chunk)
            if length > self._most:
                raise RefusedResponse("longer than any response")
            yield chunk

    def close(self) -> None:
        self._stream.close()
