"""Two hundred streams of three hundred words while everything breaks.

Options: --streams=200 --words=300. Readers lose their connections, a web worker and a
runner are killed, Redis is frozen for two seconds. Every reader must end up with every
word, once and in order, and so must the database.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import redis
from sqlalchemy import select

from app.assistant.models import Message
from bench.support.house import House, as_plan, open_house
from bench.support.load import load
from bench.support.wire import Guest, Line, follow

SPEAKING_SECONDS = 30.0
# Each reader loses its connection about so often.
DROP_EVERY_SECONDS = 8.0
PATIENCE_SECONDS = 240.0
TRIES = 20


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """How many words were lost, doubled or reordered, and how often what was broken."""
    parser = argparse.ArgumentParser(prog="chaos")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--words", type=int, default=300)
    options = parser.parse_args(list(arguments))
    pause = str(SPEAKING_SECONDS / options.words)
    stub = ("-m", "tests.model_server", "--words", str(options.words), "--delay", pause)
    with open_house(runners=2, stub=stub, AI_TURN_TIMEOUT_SECONDS="300") as house:
        guests = [guest for _, guest in house.hire(options.streams)]
        plan = {"port": house.port, "guests": as_plan(guests), "words": options.words}
        with load("chaos", plan) as loading:
            loading.wait_for("speaking")
            broken = _break_everything(house)
            counts = loading.result()
        stored = _stored(house, guests, options.words)
    kept = counts["lost"] == counts["doubled"] == counts["reordered"] == 0
    whole = counts["finished"] == stored["whole"] == options.streams
    return {"met": kept and whole, **vars(options), **counts, "stored": stored, "broken": broken}


def _break_everything(house: House) -> dict[str, Any]:
    """One thing after the other, while all are being answered."""
    time.sleep(4)
    os.kill(house.web.children()[0], signal.SIGKILL)
    time.sleep(4)
    with redis.Redis.from_url(house.settings.redis_url or "") as client:
        frozen = int(client.info("server")["process_id"])
    os.kill(frozen, signal.SIGSTOP)
    time.sleep(2)
    os.kill(frozen, signal.SIGCONT)
    time.sleep(4)
    house.runners[0].kill()
    return {"web_workers_killed": 1, "runners_killed": 1, "redis_frozen_seconds": 2}


def whole(words: int) -> str:
    """What every answer is."""
    return "".join(f"word{number} " for number in range(words))


def _stored(house: House, guests: list[Guest], words: int) -> dict[str, int]:
    threads = [UUID(guest.thread) for guest in guests]
    query = select(Message).where(Message.thread_id.in_(threads), Message.role == "assistant")
    with house.owner.session() as session:
        replies = list(session.scalars(query))
    right = [r for r in replies if (r.status, r.content) == ("complete", whole(words))]
    return {"replies": len(replies), "whole": len(right)}


# The load


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Send a message in each chat and follow it through all that happens."""
    readers = [Reader(plan["port"], Guest(**each), plan["words"]) for each in plan["guests"]]
    for start in range(0, len(readers), 20):
        await asyncio.gather(*[reader.begin() for reader in readers[start : start + 20]])
    say("speaking")
    ends = [reader.done.wait() for reader in readers]
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.gather(*ends), PATIENCE_SECONDS)
    for reader in readers:
        reader.leave()
    counts = [reader.count() for reader in readers]
    return {
        "messages": plan["words"] * len(readers),
        **{name: sum(each[name] for each in counts) for name in counts[0]},
        "finished": sum(reader.done.is_set() for reader in readers),
    }


class Reader:
    """A page that follows one answer, and connects again with the last id it has seen."""

    def __init__(self, port: int, guest: Guest, words: int) -> None:
        self.port, self.guest, self.words = port, guest, words
        self.text, self.last_id = "", ""
        self.gaps = self.drops = self.resets = 0
        self.done = asyncio.Event()
        self._rest = b""
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Send the message; a house that is busy says so, and is asked again as the page does."""
        path, key = f"/chat/{self.guest.thread}/messages", uuid4().hex
        for _ in range(TRIES):
            line = Line(self.port)
            answer = await line.post(path, self.guest, message="Talk", message_key=key)
            line.close()
            if answer.status != 503:
                break
            await asyncio.sleep(1)
        # 204: it had been taken the first time, and only the answer was lost.
        assert answer.status in (200, 204), answer
        self._tasks = [asyncio.create_task(self._stay_connected())]

    async def _stay_connected(self) -> None:
        while True:
            self._rest = b""
            headers = self.guest.header
            if self.last_id:
                headers += f"Last-Event-ID: {self.last_id}\r\n"
            path = f"/chat/{self.guest.thread}/events"
            following = asyncio.create_task(follow(self.port, path, headers, self._hear))
            patience = random.expovariate(1 / DROP_EVERY_SECONDS)
            await asyncio.wait([following], timeout=patience)
            self.drops += not following.done()
            following.cancel()
            with suppress(OSError, EOFError, asyncio.CancelledError):
                await following
            await asyncio.sleep(0.3)

    def _hear(self, piece: bytes) -> None:
        *frames, self._rest = (self._rest + piece).split(b"\n\n")
        for frame in frames:
            fields = dict(
                line.split(b":", 1) for line in frame.split(b"\n") if line and line[:1] != b":"
            )
            if b"data" in fields:
                self._take(fields[b"event"].decode(), fields.get(b"id", b""), fields[b"data"])

    def _take(self, kind: str, event_id: bytes, data: bytes) -> None:
        if event_id:
            before, number = self.last_id, int(event_id.rsplit(b"-", 1)[1])
            self.last_id = event_id.decode()
            if before and kind != "reset" and number != int(before.rsplit("-", 1)[1]) + 1:
                self.gaps += 1
        if kind == "reset":
            # A runner that takes over begins the answer anew.
            self.resets += 1
            self.text = ""
        elif kind == "token":
            self.text += json.loads(data)["text"]
        elif kind in ("done", "error"):
            self.done.set()

    def leave(self) -> None:
        for task in self._tasks:
            task.cancel()

    def count(self) -> dict[str, int]:
        """What is wrong with the text that a page would show, word by word."""
        numbers = [int(word.removeprefix("word")) for word in self.text.split()]
        return {
            "lost": len(set(range(self.words)) - set(numbers)),
            "doubled": len(numbers) - len(set(numbers)),
            "reordered": sum(a > b for a, b in pairwise(numbers)),
            "gaps_in_ids": self.gaps,
            "drops": self.drops,
            "resets": self.resets,
        }
