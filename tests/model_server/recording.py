"""What the server remembers of each request, for tests to look at."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


class RecordedCall:
    """One request to the model: what was asked, and how its answer ended.

    Moments are of the monotonic clock, in seconds. `client_left` is set when the client
    closed its connection before the answer was over, `ended` when the answer is over.
    Calls with the same `client_port` came over the same connection.
    """

    def __init__(self, body: Json, headers: Mapping[str, str], client_port: int) -> None:
        self.body = body
        self.headers = dict(headers)
        self.client_port = client_port
        self.received_at = time.monotonic()
        self.first_delta_at: float | None = None
        self.client_left_at: float | None = None
        self.deltas = 0
        self.client_left = threading.Event()
        self.ended = threading.Event()

    @property
    def messages(self) -> list[Json]:
        """The conversation as it was sent."""
        messages: list[Json] = self.body.get("messages", [])
        return messages

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    @property
    def message(self) -> str:
        """The last thing the user said."""
        return next((_text(m) for m in reversed(self.messages) if m["role"] == "user"), "")

    @property
    def since_message(self) -> list[Json]:
        """What has happened since the user said it: tool calls and their results."""
        after: list[Json] = []
        for message in reversed(self.messages):
            if message["role"] == "user":
                break
            after.insert(0, message)
        return after

    @property
    def round(self) -> int:
        """How many rounds of tools this message has already had."""
        return sum(1 for message in self.since_message if message.get("tool_calls"))

    @property
    def tool_results(self) -> list[Any]:
        """The results of the tools that this message has had, parsed where they are JSON."""
        return [_parsed(_text(m)) for m in self.since_message if m["role"] == "tool"]

    def count_delta(self) -> None:
        if not self.deltas:
            self.first_delta_at = time.monotonic()
        self.deltas += 1

    def note_leaving(self) -> None:
        self.client_left_at = time.monotonic()
        self.client_left.set()

    def __repr__(self) -> str:
        return f"<RecordedCall {self.message[:40]!r} round {self.round}>"


def _text(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
