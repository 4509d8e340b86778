"""From sending a message to the first word of its answer, with many who send at once.

Options: --rounds=3 --levels=25,100. The model's first token comes after 100 ms, its hundred
tokens take two seconds. Each level is measured on the bare model, on a server that answers
at once (what the load itself costs) and on the house, one after the other in each round; a
level's figure is the median of its best round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from app.assistant.models import Message
from app.retrieval.evaluate import percentile
from bench.support.arguments import numbers
from bench.support.house import House, as_plan, open_house, wait_until
from bench.support.load import run_load
from bench.support.memory import watching
from bench.support.wire import Guest, Line, follow

LEVELS = (1, 25, 50, 100)
BARS_MS = {1: 130, 25: 220, 50: 350, 100: 700}
MEMORY_BAR_MB = 450
# One alone is measured as often as this in a round.
ALONE = 6
ANSWER = "".join(f"token{number} " for number in range(100))
SECONDS = 60.0


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """Milliseconds to the first token by level, and whether every answer was stored."""
    parser = argparse.ArgumentParser(prog="first_token")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--levels", type=numbers, default=LEVELS)
    options = parser.parse_args(list(arguments))
    with open_house() as house:
        guests = [guest for _, guest in house.hire(max(ALONE, *options.levels))]
        plan = {
            "port": house.port,
            "model_port": house.model_port,
            "guests": as_plan(guests),
            "rounds": options.rounds,
            "levels": options.levels,
        }
        with watching(lambda: [*house.web_pids, *house.runner_pids]) as peak:
            loaded = run_load("first_token", plan)
        figures = {
            "levels": [_level(number, loaded["rounds"]) for number in options.levels],
            "answers": _stored(house, [UUID(guest.thread) for guest in guests]),
            "expected_answers": loaded["sent"],
            "refused": loaded["refused"],
            "peak_memory_mb": {
                "web_and_runner": round(peak.proportional_mib * 1.048576, 1),
                "by_process_added_up": round(peak.resident_mib * 1.048576, 1),
                "bar": MEMORY_BAR_MB,
            },
            "shares_the_cores": "2 web workers, 1 runner, Postgres, Redis, model, load",
        }
    stored = figures["answers"] == {"complete": loaded["sent"]}
    below = peak.proportional_mib * 1.048576 < MEMORY_BAR_MB
    met = all(level["met"] for level in figures["levels"])
    return {"met": met and stored and below and not loaded["refused"], **figures}


def _level(number: int, rounds: dict[str, dict[str, list[list[float]]]]) -> dict[str, Any]:
    def best(of: str) -> list[float]:
        return min(rounds[of][str(number)], key=median)

    house = best("house")
    return {
        "at_once": number,
        "median_ms": round(median(house), 1),
        "p95_ms": round(percentile(house, 0.95), 1),
        "bar_ms": BARS_MS[number],
        "met": median(house) <= BARS_MS[number],
        "median_ms_by_round": [round(median(each), 1) for each in rounds["house"][str(number)]],
        "model_alone_ms": round(median(best("model")), 1),
        "load_alone_ms": round(median(best("nothing")), 1),
        "added_ms": round(median(house) - median(best("model")), 1),
    }


def _stored(house: House, threads: list[UUID]) -> dict[str, int]:
    """How many replies are stored, by their status; one with other words is "wrong"."""
    query = select(Message).where(Message.thread_id.in_(threads), Message.role == "assistant")

    def replies() -> list[Message]:
        with house.owner.session() as session:
            return list(session.scalars(query))

    wait_until(lambda: all(r.status not in ("queued", "streaming") for r in replies()), SECONDS)
    counts: dict[str, int] = {}
    for reply in replies():
        right = reply.status != "complete" or reply.content == ANSWER
        status = reply.status if right else "wrong"
        counts[status] = counts.get(status, 0) + 1
    return counts


# The load


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """All levels on the model alone, on nothing, and on the house."""
    guests = [Guest(**each) for each in plan["guests"]]
    rounds: dict[str, dict[str, list[list[float]]]] = {"model": {}, "nothing": {}, "house": {}}
    nothing = await asyncio.start_server(_answer_at_once, "127.0.0.1", 0)
    nothing_port = nothing.sockets[0].getsockname()[1]
    visitors = [Visitor(plan["port"], guest) for guest in guests]
    # Each chat has begun before, and is open; a few at a time, as people come in.
    for start in range(0, len(visitors), 10):
        await asyncio.gather(*[each.arrive() for each in visitors[start : start + 10]])
    sent = len(visitors)
    for number in plan["levels"]:
        for _ in range(plan["rounds"]):
            times = ALONE if number == 1 else 1
            for _ in range(times):
                took = await _bare(plan["model_port"], number)
                rounds["model"].setdefault(str(number), []).append(took)
            took = await _bare(nothing_port, number)
            rounds["nothing"].setdefault(str(number), []).append(took)
            alone = []
            for again in range(times):
                who = [visitors[again]] if number == 1 else visitors[:number]
                alone += await asyncio.gather(*[each.ask() for each in who])
                await asyncio.gather(*[each.finished() for each in who])
            sent += len(alone)
            rounds["house"].setdefault(str(number), []).append(alone)
    for visitor in visitors:
        visitor.leave()
    refused = sum(visitor.refused for visitor in visitors)
    return {"rounds": rounds, "sent": sent - refused, "refused": refused}


class Visitor:
    """One open chat: sends messages, and listens on the stream that is open already."""

    def __init__(self, port: int, guest: Guest) -> None:
        self.port, self.guest, self.line = port, guest, Line(port)
        self.first_at, self.refused = 0.0, 0
        self.done = asyncio.Event()
        self._rest = b""
        self._following: asyncio.Task[None] | None = None

    async def arrive(self) -> None:
        """Begin the chat, then open its stream."""
        await self.post()
        path = f"/chat/{self.guest.thread}/events"
        self._following = asyncio.create_task(
            follow(self.port, path, self.guest.header, self._hear)
        )
        await self.finished()

    async def ask(self) -> float:
        """Send a message; milliseconds until the first token of its answer."""
        self.first_at, began = 0.0, time.perf_counter()
        self.done.clear()
        if not await self.post():
            self.done.set()
            return SECONDS * 1000
        while not self.first_at:
            await asyncio.sleep(0.002)
        return (self.first_at - began) * 1000

    async def finished(self) -> None:
        await asyncio.wait_for(self.done.wait(), SECONDS)

    async def post(self) -> bool:
        path = f"/chat/{self.guest.thread}/messages"
        answer = await self.line.post(
            path, self.guest, message="How long?", message_key=uuid4().hex
        )
        self.refused += answer.status != 200
        return answer.status == 200

    def _hear(self, piece: bytes) -> None:
        data = self._rest + piece
        if not self.first_at and b"event:token\n" in data:
            self.first_at = time.perf_counter()
        if b"event:done\n" in data or b"event:error\n" in data:
            self.done.set()
            data = b""
        self._rest = data[-16:]

    def leave(self) -> None:
        self.line.close()
        if self._following:
            self._following.cancel()


async def _bare(port: int, number: int) -> list[float]:
    """So many calls at once, as a client of the model makes them."""
    return list(await asyncio.gather(*[_call(port) for _ in range(number)]))


async def _call(port: int) -> float:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps(
        {"model": "benchmark", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    ).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    began = time.perf_counter()
    writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
    await reader.readuntil(b"token0")
    took = (time.perf_counter() - began) * 1000
    await reader.readuntil(b"[DONE]")
    writer.close()
    return took


async def _answer_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\ntoken0 [DONE]")
    writer.close()
