"""Two thousand open streams on two web workers, each with a message a second.

Options: --streams=2000 --seconds=20. Messages are published by one process and heard by
another; both share the cores with the servers. Latency is from just before publishing to
the moment the reader has the bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import redis
from sqlalchemy import insert

from app.assistant.models import Thread
from app.assistant.turns.events import EventLog
from app.db import new_id
from app.retrieval.evaluate import percentile
from bench.support.house import House, as_plan, open_house
from bench.support.load import load
from bench.support.memory import KIB, resident, settle
from bench.support.wire import Guest, follow

P99_BAR_MS = 60
KIB_BAR = 110
PEOPLE = 20
# Connections are made some at a time, as people come in.
AT_ONCE = 50


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """Lost, doubled and reordered messages, latency, and memory a stream."""
    parser = argparse.ArgumentParser(prog="streams")
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args(list(arguments))
    with open_house(runners=0) as house:
        guests = _guests(house, options.streams)
        plan = {"port": house.port, "guests": as_plan(guests), "seconds": options.seconds}
        workers = house.web.children()
        before = [resident(pid) for pid in workers]
        with load("streams", plan) as hearing:
            hearing.wait_for("open")
            settle(3)
            idle = [resident(pid) for pid in workers]
            publishing = plan | {"redis": house.settings.redis_url}
            with load("streams:publish", publishing) as speaking:
                speaking.wait_for("half way")
                busy = [resident(pid) for pid in workers]
                said = speaking.result()
            hearing.tell("said")
            heard = hearing.result()
    kib = [(sum(now) - sum(before)) / KIB / options.streams for now in (idle, busy)]
    met = (
        heard["lost"] == heard["doubled"] == heard["reordered"] == 0
        and heard["p99_ms"] <= P99_BAR_MS
        and kib[1] <= KIB_BAR
    )
    return {
        "met": met,
        **vars(options),
        **heard,
        "p99_bar_ms": P99_BAR_MS,
        "kib_a_stream_idle": round(kib[0], 1),
        "kib_a_stream_busy": round(kib[1], 1),
        "kib_bar": KIB_BAR,
        **said,
        "shares_the_cores": "2 web workers, Redis, Postgres, the publisher, the reader",
    }


def _guests(house: House, streams: int) -> list[Guest]:
    """Some people with many open tabs each, every one on a thread of its own."""
    people, guests, rows = house.hire(PEOPLE), [], []
    for number in range(streams):
        member, guest = people[number % PEOPLE]
        thread = new_id()
        rows.append({"id": thread, "group_id": member.group_id, "user_id": member.user_id})
        guests.append(Guest(guest.cookie, guest.csrf, str(thread)))
    with house.owner.transaction() as session:
        session.execute(insert(Thread), rows)
    return guests


# The load: one process that speaks, one that listens


async def publish(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """A message a second to each thread, evenly spread; says how far behind it fell."""
    threads = [UUID(guest["thread"]) for guest in plan["guests"]]
    log = EventLog(redis.Redis.from_url(plan["redis"]))
    started, latest, began = time.perf_counter(), 0.0, time.process_time()
    for second in range(plan["seconds"]):
        for number, thread in enumerate(threads):
            due = started + second + number / len(threads)
            if (early := due - time.perf_counter()) > 0.001:
                time.sleep(early)
            latest = max(latest, -early)
            log.publish(thread, "token", {"n": second, "at": time.time_ns()})
        if second == plan["seconds"] // 2:
            say("half way")
    return {
        "publisher_latest_ms": round(latest * 1000, 1),
        "publisher_cpu_share": round((time.process_time() - began) / plan["seconds"], 2),
    }


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Open all streams, hear what is said, and count."""
    ears = [Ear() for _ in plan["guests"]]
    guests = [Guest(**each) for each in plan["guests"]]
    began = time.process_time()
    tasks = []
    for start in range(0, len(ears), AT_ONCE):
        pairs = list(zip(ears, guests, strict=True))[start : start + AT_ONCE]
        for ear, guest in pairs:
            path = f"/chat/{guest.thread}/events"
            tasks.append(asyncio.create_task(follow(plan["port"], path, guest.header, ear.hear)))
        await asyncio.gather(*[ear.open.wait() for ear, _ in pairs])
    say("open")
    said = asyncio.get_running_loop().run_in_executor(None, input)
    await said
    await asyncio.sleep(2)
    for task in tasks:
        task.cancel()
    latencies = [late for ear in ears for late in ear.latencies]
    expected = list(range(plan["seconds"]))
    return {
        "messages": len(ears) * plan["seconds"],
        "lost": sum(len(set(expected) - set(ear.numbers)) for ear in ears),
        "doubled": sum(len(ear.numbers) - len(set(ear.numbers)) for ear in ears),
        "reordered": sum(ear.numbers != sorted(ear.numbers) for ear in ears),
        "p50_ms": round(percentile(latencies, 0.5), 1),
        "p99_ms": round(percentile(latencies, 0.99), 1),
        "max_ms": round(max(latencies), 1),
        "reader_cpu_seconds": round(time.process_time() - began, 1),
    }


class Ear:
    """What one stream has heard: the numbers in order, and how late each was (ms)."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.latencies: list[float] = []
        self.open = asyncio.Event()
        self._rest = b""

    def hear(self, piece: bytes) -> None:
        now = time.time_ns()
        self.open.set()
        *frames, self._rest = (self._rest + piece).split(b"\n\n")
        for frame in frames:
            for line in frame.split(b"\n"):
                if line.startswith(b"data:"):
                    payload = json.loads(line[5:])
                    self.numbers.append(payload["n"])
                    self.latencies.append((now - payload["at"]) / 1e6)
