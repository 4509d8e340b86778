"""The provider for OpenAI and for every server that speaks its Chat Completions.

vLLM, Ollama, llama.cpp and the many gateways differ from OpenAI in small ways: whole tool
calls in one chunk, no ids, one index for all calls, no usage. All of that is read here, and
nothing is sent that one of them might refuse. Nothing said or answered is ever logged.
"""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from app.assistant.providers.base import ModelEvent, ModelRequest, ProviderError
from app.assistant.providers.openai_wire import Reply, code_of_status, named_reason, wire_request
from app.config import Settings
from app.web.model_client import RefusedResponse, answered_within, bound_response, open_client

# How long to wait, after a reply has ended, for the end of the HTTP response: once that
# was read, the next call can use the same connection.
DRAIN_SECONDS = 0.25
# A reply that comes faster than it is read is worked on for so long in one go, and others have
# three times as much before it goes on.
STRETCH_SECONDS, REST_SECONDS = 0.01, 0.03
# What was waited for longer than that had not come yet.
WAITED_SECONDS = 0.001
# Of one response, as it comes over the wire; the longest thoughts of a model are far from it.
LONGEST_RESPONSE_BYTES = 32 * 1024 * 1024
# What does not come in events is decoded in one go, while all else of the runner waits.
LONGEST_WHOLE_BYTES = 1024 * 1024


class OpenAIProvider:
    """A model behind an OpenAI-compatible server; make one per process, after any fork.

    It tries once: retries, the breaker and the fallback belong to whoever calls it.
    No read waits longer than the first-token timeout, and no call takes longer than the
    timeout of a whole turn. What has come in already is read without waiting: `rest` lets
    others go on meanwhile (under gevent, `time.sleep` is gevent's).
    """

    name = "openai"
    uses_hints = False

    def __init__(self, settings: Settings, *, rest: Callable[[float], object] = time.sleep) -> None:
        self._rest = rest
        self.model = settings.ai_chat_model
        self._turn_seconds = settings.ai_turn_timeout_seconds
        self._first_token_seconds = min(settings.ai_first_token_timeout_seconds, self._turn_seconds)
        self._client = open_client(
            settings,
            timeout=openai.Timeout(
                self._first_token_seconds, connect=settings.ai_connect_timeout_seconds
            ),
            on_response=_bound,
        )

    def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
        """Yield text as it comes, then the tool calls, then the usage if it was told.

        Closing the generator, or killing the greenlet that waits in it, closes the
        connection at once. Tool arguments that came as no text at all are given as `{}`.

        Raises:
            ProviderError: once text was given out its code is `interrupted` or `declined`,
                because such a call must not be repeated.
        """
        reply = Reply()
        try:
            yield from self._read(request, reply)
        except (ProviderError, openai.OpenAIError, httpx2.HTTPError) as error:
            failure = _failure(error)
            if reply.begun and failure.code != "declined":
                failure = ProviderError("interrupted", str(failure))
            # The chain would carry the server's words, and those may repeat the messages.
            raise failure from None

    def check(self) -> str:
        """Ask the server for its models; returns what is wrong, or nothing."""
        try:
            with answered_within(self._first_token_seconds):
                known = {model.id for model in self._client.models.list()}
        except openai.APIStatusError as error:
            return f"the server answers with HTTP {error.status_code}"
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            return f"cannot be reached ({type(error).__name__})"
        # Some servers list nothing and answer all the same.
        if known and self.model not in known:
            return f"the server has no model named {self.model}"
        return ""

    def _read(self, request: ModelRequest, reply: Reply) -> Iterator[ModelEvent]:
        started = time.monotonic()
        with self._open(request) as response, _Watchdog(response) as watchdog:
            watchdog.allow_until(started + self._first_token_seconds)
            pace = _Pace(self._rest)
            events = _events(response, pace)
            for data in events:
                waiting = not reply.alive
                deltas = reply.read(data)
                if waiting and reply.alive:
                    watchdog.allow_until(started + self._turn_seconds)
                for delta in deltas:
                    yield delta
                    pace.keep()
                if reply.closed:
                    break
            yield from reply.finish()
            if reply.overflows:
                # Leaving it unread closes the connection, and so the call.
                return
            watchdog.allow_until(time.monotonic() + DRAIN_SECONDS)
            _drain(events)

    @contextmanager
    def _open(self, request: ModelRequest) -> Iterator[httpx2.Response]:
        # The client's typed method spends several milliseconds of CPU on a request and more
        # on each chunk; its plain one has the same keys, addresses and errors.
        with answered_within(self._first_token_seconds):
            stream = self._client.post(
                "/chat/completions",
                cast_to=object,
                body=wire_request(self.model, request),
                stream=True,
                stream_cls=openai.Stream[object],
            )
        with stream:
            yield stream.response


class _Pace:
    """Lets others go on when one reply has kept this process busy for a while.

    Whoever waits for a reply's next words keeps nobody busy: a model that writes at any usual
    speed is never made to wait.
    """

    def __init__(self, rest: Callable[[float], object]) -> None:
        self._rest = rest
        self._since = time.monotonic()

    def keep(self) -> None:
        """Rest if it is time to; called between any two pieces of work."""
        if time.monotonic() - self._since >= STRETCH_SECONDS:
            self._rest(REST_SECONDS)
            self._since = time.monotonic()

    def wait(self, come: Callable[[], bytes | None]) -> bytes | None:
        """What comes next; what it was waited for is no work."""
        began = time.monotonic()
        found = come()
        ended = time.monotonic()
        if ended - began >= WAITED_SECONDS:
            self._since = ended
        return found


def _bound(response: httpx2.Response) -> None:
    in_events = response.is_success and not _is_whole(response)
    bound_response(response, LONGEST_RESPONSE_BYTES if in_events else LONGEST_WHOLE_BYTES)


class _PacedStream(httpx2.SyncByteStream):
    """The bytes of a response with rests between them."""

    def __init__(self, stream: httpx2.SyncByteStream, pace: _Pace) -> None:
        self._stream = stream
        self._pace = pace

    def __iter__(self) -> Iterator[bytes]:
        chunks = iter(self._stream)
        while (chunk := self._pace.wait(lambda: next(chunks, None))) is not None:
            yield chunk
            self._pace.keep()

    def close(self) -> None:
        self._stream.close()


def _is_whole(response: httpx2.Response) -> bool:
    return "json" in response.headers.get("content-type", "")


def _events(response: httpx2.Response, pace: _Pace) -> Iterator[str]:
    """The data of each event; a server that does not stream sends one thing, whole."""
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _PacedStream(response.stream, pace)
    if _is_whole(response):
        response.read()
        yield response.text
    else:
        for event in httpx2.EventSource(response):
            yield event.data
            pace.keep()


def _drain(events: Iterator[str]) -> None:
    # The reply is complete: however its connection ends, nothing is lost any more.
    with suppress(httpx2.HTTPError):
        for _ in events:
            pass


class _Watchdog:
    """Shuts a connection down when its time is up, whatever its reader is waiting for.

    A read timeout is not enough: it starts anew with each keep-alive comment.
    """

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._timer = threading.Timer(0, self._shut_down)
        self._fired = False

    def __enter__(self) -> _Watchdog:
        return self

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        self._timer.cancel()
        if self._fired and isinstance(error, Exception):
            raise ProviderError("timeout") from None

    def allow_until(self, moment: float) -> None:
        """Let the response go on until this moment of the monotonic clock."""
        self._timer.cancel()
        self._timer = threading.Timer(max(moment - time.monotonic(), 0), self._shut_down)
        self._timer.daemon = True
        self._timer.start()

    def _shut_down(self) -> None:
        # A response that was read to its end no longer owns its connection.
        if self._response.is_closed:
            return
        self._fired = True
        connection = self._response.extensions["network_stream"].get_extra_info("socket")
        # Only this wakes a reader both in another thread and in another greenlet. The plain
        # socket's method is called because that of TLS takes the reader's state away.
        with suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _failure(error: Exception) -> ProviderError:
    """What went wrong, in the provider's terms and without a word of the conversation."""
    match error:
        case ProviderError():
            return error
        case RefusedResponse():
            return ProviderError("malformed", str(error))
        case openai.APIStatusError():
            return _status_failure(error)
        case openai.APIConnectionError():
            cause = error.__cause__
            answerless = isinstance(cause, httpx2.ReadTimeout | httpx2.WriteTimeout)
            return ProviderError("timeout" if answerless else "unreachable", type(cause).__name__)
        case httpx2.TimeoutException():
            return ProviderError("timeout", type(error).__name__)
        case httpx2.SSEError() | openai.OpenAIError():
            return ProviderError("server_error", type(error).__name__)
        case _:
            return ProviderError("interrupted", type(error).__name__)


def _status_failure(error: openai.APIStatusError) -> ProviderError:
    body = error.body if isinstance(error.body, dict) else {}
    return ProviderError(
        code_of_status(error.status_code, body),
        f"HTTP {error.status_code} {named_reason(body)}".strip(),
        retry_after=_retry_after(error.response.headers),
    )


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds to wait, from a number or a date; None when there is none to be understood."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
