"""The language in which a test says how the model behaves.

    scenario(
        Call("search_manual_v2", {"query": "tips"}),
        Say("Tips are shared every Friday. [1]"),
        when="tip",
    )

is a model that, asked about tips, first calls a tool and then, once it has the tool's
result, answers. Each argument of `scenario` is what one model call replies: a step, or a
list of steps that are played one after the other.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.model_server.recording import Json, RecordedCall

Sizes = int | Sequence[int] | None
Text = str | Sequence[str] | Callable[[RecordedCall], str]
Arguments = Mapping[str, Any] | str | Callable[[RecordedCall], Mapping[str, Any]]


class Exchange(Protocol):
    """One answer while it is being given; steps write to it."""

    call: RecordedCall
    ending: Ending

    async def delta(self, delta: Json) -> None:
        """Send some more of the message."""

    async def chunk(self, chunk: Json) -> None:
        """Send a chunk that is not simply some more of the message."""

    async def raw(self, data: bytes) -> None:
        """Send bytes as they are, in the middle of the stream."""

    async def wait(self, until: float) -> None:
        """Wait until this many seconds after the request came."""

    async def sleep(self, seconds: float) -> None:
        """Be silent for a while."""

    async def respond(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Answer with this HTTP response, and with nothing else."""

    def cut_after(self, deltas: int) -> None:
        """Break the connection off as soon as this many deltas of text or calls were sent."""

    def next_index(self) -> int:
        """The index of the next tool call of this answer."""


class Step(Protocol):
    """One thing that a model does in its reply."""

    async def play(self, exchange: Exchange) -> None:
        """Do it."""


@dataclass(frozen=True)
class Say:
    """Some text, in deltas of the given sizes; `delay` and `after` are in seconds."""

    text: Text
    sizes: Sizes = None
    delay: float = 0.0
    after: float = 0.0

    async def play(self, exchange: Exchange) -> None:
        text = self.text(exchange.call) if callable(self.text) else self.text
        pieces = split(text, self.sizes) if isinstance(text, str) else text
        for number, piece in enumerate(pieces):
            if self.after or self.delay:
                await exchange.wait(self.after + number * self.delay)
            await exchange.delta({"content": piece})


@dataclass(frozen=True)
class Call:
    """A wish to run a tool; text instead of arguments is sent as it is, JSON or not."""

    name: str
    arguments: Arguments
    id: str | None = None
    sizes: Sizes = 12

    async def play(self, exchange: Exchange) -> None:
        index = exchange.next_index()
        arguments = self.arguments(exchange.call) if callable(self.arguments) else self.arguments
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call_id = self.id or f"call_{len(exchange.call.messages)}_{index}"
        function = {"name": self.name, "arguments": ""}
        head = {"index": index, "id": call_id, "type": "function", "function": function}
        await exchange.delta({"tool_calls": [head]})
        for piece in split(arguments, self.sizes):
            part = {"index": index, "function": {"arguments": piece}}
            await exchange.delta({"tool_calls": [part]})


@dataclass(frozen=True)
class Delta:
    """A delta exactly as given, for servers that are different."""

    content: Json

    async def play(self, exchange: Exchange) -> None:
        await exchange.delta(self.content)


@dataclass(frozen=True)
class Chunk:
    """A whole chunk exactly as given."""

    content: Json

    async def play(self, exchange: Exchange) -> None:
        await exchange.chunk(self.content)


@dataclass(frozen=True)
class Raw:
    """Bytes in the middle of the stream."""

    data: bytes

    async def play(self, exchange: Exchange) -> None:
        await exchange.raw(self.data)


@dataclass(frozen=True)
class Stall:
    """Silence, but for a comment every `ping` seconds where that is wanted."""

    seconds: float
    ping: float | None = None

    async def play(self, exchange: Exchange) -> None:
        left = self.seconds
        while left > 0:
            if self.ping:
                await exchange.raw(b": still here\n\n")
            await exchange.sleep(min(left, self.ping or left))
            left -= self.ping or left


class HttpError:
    """An HTTP error instead of a reply; with `times`, only that often."""

    def __init__(
        self,
        status: int,
        retry_after: float | str | None = None,
        code: str | None = None,
        message: str = "scripted failure",
        times: int | None = None,
    ) -> None:
        self.status = status
        self.headers = {"content-type": "application/json"}
        if retry_after is not None:
            self.headers["retry-after"] = str(retry_after)
        error = {"message": message, "type": "scripted", "code": code}
        self.body = json.dumps({"error": error}).encode()
        self._left = times
        self._lock = threading.Lock()

    async def play(self, exchange: Exchange) -> None:
        with self._lock:
            if self._left == 0:
                return
            if self._left is not None:
                self._left -= 1
        await exchange.respond(self.status, self.headers, self.body)


@dataclass(frozen=True)
class Page:
    """A response that is no reply at all, such as the page of a gateway."""

    html: str
    status: int = 200

    async def play(self, exchange: Exchange) -> None:
        await exchange.respond(self.status, {"content-type": "text/html"}, self.html.encode())


@dataclass(frozen=True)
class CutAfter:
    """The connection breaks after so many deltas of this reply."""

    deltas: int

    async def play(self, exchange: Exchange) -> None:
        exchange.cut_after(self.deltas)


@dataclass(frozen=True)
class Ending:
    """How the reply ends; by default as a healthy server ends it.

    `reason` is found out when it is "auto" and left out when it is None; `usage` is sent
    to those who asked for it; `lingers` seconds pass before the response is over.
    """

    reason: str | None = "auto"
    usage: bool = True
    done: bool = True
    lingers: float = 0.0

    async def play(self, exchange: Exchange) -> None:
        exchange.ending = self


def split(text: str, sizes: Sizes) -> list[str]:
    """The text in words, in pieces of one size, or in pieces of these sizes and the rest."""
    if sizes is None:
        return re.findall(r"\s*\S+(?:\s+$)?|\s+$", text)
    if isinstance(sizes, int):
        return [text[start : start + sizes] for start in range(0, len(text), sizes)]
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [piece for piece in (*pieces, text) if piece]


class Script(Protocol):
    """Something that decides how the model answers the calls that it is meant for."""

    @property
    def streams(self) -> bool:
        """Whether it answers in a stream where a stream is asked for."""

    @property
    def byte_by_byte(self) -> bool:
        """Whether each byte of a stream is a chunk of its own."""

    def is_for(self, call: RecordedCall) -> bool:
        """Whether this call is answered by this script."""

    def steps(self, call: RecordedCall) -> Sequence[Step]:
        """What the model does in answer to this call."""


@dataclass(frozen=True)
class Scenario:
    """A model with a fixed plan for a message; the last round is repeated for ever.

    `when` is a pattern that is looked for in the user's message, or a function of the call.
    A model that `heeds_tools` calls none where none is offered. One that never `streams`
    sends its reply whole. With `byte_by_byte` each byte of a stream is a chunk of its own.
    """

    rounds: Sequence[Sequence[Step]]
    when: str | Callable[[RecordedCall], bool] = ""
    heeds_tools: bool = True
    streams: bool = True
    byte_by_byte: bool = False
    without_tools: Step = Say("That is all I could find out.")

    def is_for(self, call: RecordedCall) -> bool:
        if callable(self.when):
            return self.when(call)
        return re.search(self.when, call.message, re.IGNORECASE) is not None

    def steps(self, call: RecordedCall) -> Sequence[Step]:
        steps = self.rounds[min(call.round, len(self.rounds) - 1)]
        wants_tools = any(isinstance(step, Call) for step in steps)
        if wants_tools and self.heeds_tools and not call.tools:
            return [self.without_tools]
        return steps


def scenario(
    *rounds: Step | Sequence[Step],
    when: str | Callable[[RecordedCall], bool] = "",
    heeds_tools: bool = True,
    streams: bool = True,
    byte_by_byte: bool = False,
) -> Scenario:
    """A model whose first call replies with the first round, and so on; see `Scenario`."""
    lists = [list(each) if isinstance(each, Sequence) else [each] for each in rounds]
    return Scenario(lists, when, heeds_tools, streams, byte_by_byte)


def benchmark(when: str | Callable[[RecordedCall], bool] = "") -> Scenario:
    """The model that speed is measured against: a first token at 100 ms, 100 in 2 s."""
    tokens = [f"token{number} " for number in range(100)]
    return scenario(Say(tokens, after=0.1, delay=0.02), when=when)
