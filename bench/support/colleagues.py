"""What one notices while somebody else misbehaves: messages and pictures, at a steady pace.

Each colleague sends one message and one picture in a round, in turn, whether or not what was
sent before is answered: who waits for an answer before going on would count a stall once.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any
from uuid import uuid4

from bench.support.replies import ReplyEvents, reply_of
from bench.support.wire import Guest, Line, follow, multipart

# Who has no answer after so long has none.
LONGEST_SECONDS = 10.0
# What a page waits for before it connects again.
RECONNECT_SECONDS = 1.0


class Refused(Exception):
    """Another answer than the one that was hoped for; its text says which."""


class Colleague:
    """Somebody with an open chat."""

    def __init__(self, port: int, guest: Guest, upload: tuple[str, bytes]) -> None:
        self.port, self.guest, self.upload = port, guest, upload
        self.events = ReplyEvents("token")
        self.is_listening = asyncio.Event()
        self._following: asyncio.Task[None] | None = None

    async def arrive(self) -> None:
        """Begin the chat and open its events, which stay open."""
        await self._send_message()
        self._following = asyncio.create_task(self._listen())
        await self.is_listening.wait()

    async def ask(self) -> float:
        """Seconds from sending a message to the first token of its answer."""
        began = time.perf_counter()
        reply = await self._send_message()
        _type, heard_at = await self.events.wait_for(reply)
        return heard_at - began

    async def send_picture(self) -> float:
        """Seconds from sending a picture to the answer."""
        kind, body = self.upload
        began = time.perf_counter()
        await self._post("/files", kind, body)
        return time.perf_counter() - began

    def leave(self) -> None:
        if self._following:
            self._following.cancel()

    async def _send_message(self) -> str:
        """The id of the reply that is being made."""
        line = Line(self.port)
        try:
            path = f"/chat/{self.guest.thread}/messages"
            answer = await line.post(path, self.guest, message="How long?", message_key=uuid4().hex)
        finally:
            line.close()
        if answer.status != 200:
            raise Refused(str(answer.status))
        return reply_of(answer.body)

    async def _post(self, path: str, kind: str, body: bytes) -> None:
        line = Line(self.port)
        try:
            answer = await line.send("POST", path, self.guest.header + kind, body)
        finally:
            line.close()
        if answer.status != 200:
            raise Refused(str(answer.status))

    async def _listen(self) -> None:
        def hear(piece: bytes) -> None:
            self.is_listening.set()
            self.events.hear(piece)

        while True:
            with suppress(OSError, EOFError):
                path = f"/chat/{self.guest.thread}/events"
                await follow(self.port, path, self.guest.header, hear)
            self.is_listening.clear()
            self.events.forget_rest()
            await asyncio.sleep(RECONNECT_SECONDS)


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Rounds of as many as the benchmark says, a number a line, until it says 0."""
    guests = [Guest(**each) for each in plan["guests"]]
    colleagues = [Colleague(plan["port"], guest, _upload(plan, guest)) for guest in guests]
    for start in range(0, len(colleagues), 10):
        some = asyncio.gather(*[each.arrive() for each in colleagues[start : start + 10]])
        await asyncio.wait_for(some, LONGEST_SECONDS)
    say("here")
    while count := int(await asyncio.to_thread(input)):
        say(json.dumps(await _round(colleagues[:count], plan["period"])))
    for each in colleagues:
        each.leave()
    return {}


def _upload(plan: dict[str, Any], guest: Guest) -> tuple[str, bytes]:
    photo = bytes.fromhex(plan["photo"])
    fields = {"csrf_token": guest.csrf, "rules": plan["rules"]}
    return multipart(fields, [("file", "walk-in.jpg", photo)])


async def _round(colleagues: list[Colleague], period: float) -> dict[str, Any]:
    """Milliseconds of each message and picture, and how many failed, by how."""
    with suppress(TimeoutError):
        # After a restart of the server they connect again first, as their pages would.
        listening = [each.is_listening.wait() for each in colleagues]
        await asyncio.wait_for(asyncio.gather(*listening), LONGEST_SECONDS)
    failed: Counter[str] = Counter()
    messages, pictures = [], []
    began = time.monotonic()
    for number, each in enumerate(colleagues):
        await asyncio.sleep(max(0.0, began + number * period - time.monotonic()))
        messages.append(asyncio.create_task(_timed("message", each.ask(), failed)))
        await asyncio.sleep(max(0.0, began + (number + 0.5) * period - time.monotonic()))
        pictures.append(asyncio.create_task(_timed("picture", each.send_picture(), failed)))
    return {
        "first_token_ms": await asyncio.gather(*messages),
        "upload_ms": await asyncio.gather(*pictures),
        "failed": dict(failed),
    }


async def _timed(what: str, work: Coroutine[Any, Any, float], failed: Counter[str]) -> float:
    """The work's milliseconds; of what failed, those of the longest wait."""
    try:
        return await asyncio.wait_for(work, LONGEST_SECONDS) * 1000
    except TimeoutError:
        failed[f"{what}: nothing in {LONGEST_SECONDS:.0f} s"] += 1
    except (OSError, EOFError):
        failed[f"{what}: connection closed"] += 1
    except Refused as refused:
        failed[f"{what}: {refused}"] += 1
    return LONGEST_SECONDS * 1000
