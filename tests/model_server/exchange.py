"""How an answer is written: in a stream of events, or whole."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NoReturn

from tests.model_server.recording import Json, RecordedCall
from tests.model_server.script import Ending


class AnswerIsOver(Exception):
    """The answer ended before its script did; `keep` tells whether the connection lives on."""

    def __init__(self, *, keep: bool) -> None:
        super().__init__()
        self.keep = keep


def response_head(status: int, headers: Mapping[str, str]) -> bytes:
    """The status line and the headers of a response."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def json_response(status: int, body: Any) -> bytes:
    """A whole response with a JSON body."""
    data = encoded(body)
    headers = {"content-type": "application/json", "content-length": str(len(data))}
    return response_head(status, headers) + data


def encoded(body: Any) -> bytes:
    """JSON in UTF-8; half characters, which UTF-8 has no place for, are escaped."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


class Answer:
    """What streamed and whole answers have in common."""

    def __init__(self, call: RecordedCall, writer: asyncio.StreamWriter) -> None:
        self.call = call
        self.ending = Ending()
        self._writer = writer
        self._calls = 0
        self._cut_after: int | None = None

    def next_index(self) -> int:
        self._calls += 1
        return self._calls - 1

    def cut_after(self, deltas: int) -> None:
        self._cut_after = deltas
        self._cut_if_due()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait(self, until: float) -> None:
        await asyncio.sleep(max(self.call.received_at + until - time.monotonic(), 0))

    async def respond(self, status: int, headers: Mapping[str, str], body: bytes) -> NoReturn:
        length = {"content-length": str(len(body))}
        self._writer.write(response_head(status, {**headers, **length}) + body)
        await self._writer.drain()
        raise AnswerIsOver(keep=True)

    def _count_delta(self) -> None:
        self.call.count_delta()
        self._cut_if_due()

    def _cut_if_due(self) -> None:
        if self._cut_after is not None and self.call.deltas >= self._cut_after:
            raise AnswerIsOver(keep=False)

    def _finish_reason(self) -> str | None:
        if self.ending.reason == "auto":
            return "tool_calls" if self._calls else "stop"
        return self.ending.reason

    def _usage(self) -> Json:
        asked = sum(len(str(message.get("content") or "")) for message in self.call.messages) // 4
        total = asked + self.call.deltas
        return {
            "prompt_tokens": asked,
            "completion_tokens": self.call.deltas,
            "total_tokens": total,
        }

    def _head(self, kind: str) -> Json:
        model = self.call.body.get("model", "scripted")
        return {"id": "chatcmpl-scripted", "object": kind, "created": 1700000000, "model": model}


class StreamedAnswer(Answer):
    """Server-sent events in HTTP chunks; the head goes out with the first of them."""

    def __init__(
        self, call: RecordedCall, writer: asyncio.StreamWriter, *, byte_by_byte: bool
    ) -> None:
        super().__init__(call, writer)
        self._byte_by_byte = byte_by_byte
        self._has_head = self._has_role = False

    async def delta(self, delta: Json) -> None:
        if not self._has_role and "role" not in delta:
            await self._choice({"role": "assistant", "content": ""})
        self._has_role = True
        await self._choice(delta)
        self._count_delta()

    async def _choice(self, delta: Json, reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        await self.chunk({"choices": [choice]})

    async def chunk(self, chunk: Json) -> None:
        await self.raw(b"data: " + encoded(self._head("chat.completion.chunk") | chunk) + b"\n\n")

    async def raw(self, data: bytes) -> None:
        self._write_head()
        pieces = [data[at : at + 1] for at in range(len(data))] if self._byte_by_byte else [data]
        for piece in pieces:
            self._writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await self._writer.drain()

    def _write_head(self) -> None:
        if not self._has_head:
            self._has_head = True
            headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
            self._writer.write(response_head(200, headers))

    async def finish(self) -> None:
        """End the stream as the script wants it ended."""
        if reason := self._finish_reason():
            await self._choice({}, reason)
        options = self.call.body.get("stream_options") or {}
        if self.ending.usage and options.get("include_usage"):
            await self.chunk({"choices": [], "usage": self._usage()})
        if self.ending.done:
            await self.raw(b"data: [DONE]\n\n")
        await asyncio.sleep(self.ending.lingers)
        self._write_head()
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()


class WholeAnswer(Answer):
    """The same script for a client that did not ask for a stream."""

    def __init__(self, call: RecordedCall, writer: asyncio.StreamWriter) -> None:
        super().__init__(call, writer)
        self._content = ""
        self._tool_calls: dict[int, Json] = {}

    async def delta(self, delta: Json) -> None:
        self._content += delta.get("content") or ""
        for part in delta.get("tool_calls", []):
            index = part.get("index", 0)
            if index in self._tool_calls:
                self._tool_calls[index]["function"]["arguments"] += part["function"]["arguments"]
            else:
                self._tool_calls[index] = {**part, "function": dict(part["function"])}
        self._count_delta()

    async def chunk(self, chunk: Json) -> None:
        """There are no chunks here."""

    async def raw(self, data: bytes) -> None:
        """Nor is there a stream to put bytes into."""

    async def finish(self) -> None:
        message: Json = {"role": "assistant", "content": self._content or None}
        if self._tool_calls:
            message["tool_calls"] = list(self._tool_calls.values())
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason()}
        body = self._head("chat.completion") | {"choices": [choice], "usage": self._usage()}
        self._writer.write(json_response(200, body))
        await self._writer.drain()
