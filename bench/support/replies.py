"""When the replies of a thread are heard of, by one who listens to its events."""

from __future__ import annotations

import asyncio
import re
import time

_REPLY = re.compile(rb'data-message="([0-9a-f-]{36})" data-role="assistant"')
# An event's name and the id that its data begins with are never further apart.
_KEPT_BYTES = 200


def reply_of(page: bytes) -> str:
    """The id of the reply that is announced in the answer to a message; empty without one."""
    found = _REPLY.findall(page)
    return found[-1].decode() if found else ""


class ReplyEvents:
    """The first moment at which each reply had an event of one of these types.

    Moments are those of `time.perf_counter`; `hear` takes the stream as it comes.
    """

    def __init__(self, *types: str) -> None:
        names = "|".join(types).encode()
        self._pattern = re.compile(
            rb"event:(" + names + rb')\ndata:\{"message_id": ?"([0-9a-f-]{36})"'
        )
        self._heard: dict[str, tuple[str, float]] = {}
        self._news = asyncio.Event()
        self._rest = b""

    def hear(self, piece: bytes) -> None:
        data, now = self._rest + piece, time.perf_counter()
        for type_, reply in self._pattern.findall(data):
            self._heard.setdefault(reply.decode(), (type_.decode(), now))
            self._news.set()
        self._rest = data[-_KEPT_BYTES:]

    def forget_rest(self) -> None:
        """The stream has ended: what comes next is the beginning of another one."""
        self._rest = b""

    async def wait_for(self, reply: str) -> tuple[str, float]:
        """The type and the moment of the reply's first event."""
        while reply not in self._heard:
            self._news.clear()
            await self._news.wait()
        return self._heard[reply]
