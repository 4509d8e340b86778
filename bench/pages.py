"""How quickly pages and their parts are served, and how many of them a second.

Options: --seconds=20 --rate=150. Times are taken at a client that asks for one thing after
the other; what the client itself costs is measured on /healthz.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import insert

from app.assistant.models import Message, Thread
from app.db import new_id
from app.retrieval.evaluate import percentile
from bench.support.house import House, as_plan, open_house
from bench.support.load import run_load
from bench.support.wire import HTMX, Guest, Line
from tests.factories import Member

PAGE_BAR_MS = 30
PART_BAR_MS = 15
LENGTHS = (200, 2000)
TIMES = 150
LINES = 16
QUESTION = "How long may raw chicken stay out?"
ANSWER = (
    "Raw chicken may stay out of the cooler for **two hours** at most. [1]\n\n"
    "- Below 5 degrees it keeps for two days.\n- Above that it is thrown away.\n\n"
    "Ask the manager when in doubt; the log is on the cooler's door."
)
NOTICE = {"type": "notice", "kind": "info", "text": "The kitchen closes at ten."}


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """The 95th percentile of each page and part, and of a mixture at a steady rate."""
    parser = argparse.ArgumentParser(prog="pages")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=150)
    options = parser.parse_args(list(arguments))
    with open_house(runners=0) as house:
        guests, paths = [], {}
        for (member, guest), length in zip(house.hire(len(LENGTHS)), LENGTHS, strict=True):
            guests.append(guest)
            paths |= {
                name: (len(guests) - 1, path) for name, path in _thread(house, member, length)
            }
        plan = {"port": house.port, "guests": as_plan(guests), "paths": paths, **vars(options)}
        measured = run_load("pages", plan)
    for name, each in measured["one_by_one"].items():
        each["bar_ms"] = PAGE_BAR_MS if name.startswith("page") else PART_BAR_MS
        each["met"] = name == "nothing" or each["p95_ms"] <= each["bar_ms"]
    met = all(each["met"] for each in measured["one_by_one"].values())
    mixed = measured["mixed"]
    kept = mixed["errors"] == 0 and mixed["per_second"] >= options.rate * 0.98
    return {"met": met and kept, **measured, "shares_the_cores": "2 web workers, Postgres, load"}


def _thread(house: House, member: Member, length: int) -> list[tuple[str, str]]:
    """A long conversation, and the addresses of its page and parts by what they are called."""
    thread = new_id()
    owner = {"group_id": member.group_id, "user_id": member.user_id}
    ids = [new_id() for _ in range(length)]
    rows: list[dict[str, Any]] = [
        {
            "id": ids[number],
            "parent_id": ids[number - 1] if number else None,
            "thread_id": thread,
            "role": "assistant" if number % 2 else "user",
            "content": f"Answer {number}. {ANSWER}"
            if number % 2
            else "How long may raw chicken stay out?",
            "parts": [NOTICE] if number % 2 else [],
            **owner,
        }
        for number in range(length)
    ]
    head = {"id": thread, "title": "Chicken", "head_id": ids[-1], **owner}
    with house.owner.transaction() as session:
        session.execute(insert(Thread), [head])
        session.execute(insert(Message), rows)
    page = f"/chat/{thread}"
    return [
        (f"page of {length}", page),
        (f"message of {length}", f"{page}/messages/{ids[-1]}"),
        (f"part of {length}", f"{page}/messages/{ids[-1]}/parts/0"),
        (f"earlier of {length}", f"{page}/earlier?before={ids[-20]}"),
        (f"history of {length}", f"/chat/history?current={thread}"),
    ]


# The load


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Each address again and again, then all of them mixed at a steady rate."""
    guests = [Guest(**each) for each in plan["guests"]]
    asked = {"nothing": (0, "/healthz"), **plan["paths"]}
    line, one_by_one = Line(plan["port"]), {}
    for name, (who, path) in asked.items():
        times = []
        for number in range(TIMES + 20):
            took = await _get(line, path, guests[who], name)
            if number >= 20:  # both workers have done it before
                times.append(took)
        one_by_one[name] = {
            "p50_ms": round(percentile(times, 0.5), 1),
            "p95_ms": round(percentile(times, 0.95), 1),
        }
    mixture = [asked[name] for name in asked if name != "nothing"]
    return {
        "one_by_one": one_by_one,
        "mixed": await _mixed(plan, guests, mixture),
    }


async def _get(line: Line, path: str, guest: Guest, name: str = "") -> float:
    headers = guest.header + ("" if name.startswith("page") else HTMX)
    began = time.perf_counter()
    answer = await line.get(path, headers)
    assert answer.status == 200, (path, answer.status)
    return (time.perf_counter() - began) * 1000


async def _mixed(plan: dict[str, Any], guests: list[Guest], mixture: list[Any]) -> dict[str, Any]:
    """Requests at a steady rate, sent when they are due and not when there is time for them."""
    free: asyncio.Queue[Line] = asyncio.Queue()
    for _ in range(LINES):
        free.put_nowait(Line(plan["port"]))
    times: list[float] = []
    errors = 0
    started = time.perf_counter()

    async def ask(number: int) -> None:
        nonlocal errors
        due = started + number / plan["rate"]
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        line = await free.get()
        who, path = mixture[number % len(mixture)]
        try:
            await _get(line, path, guests[who])
            # Waiting for a free connection counts: the person waits too.
            times.append((time.perf_counter() - due) * 1000)
        except (AssertionError, OSError, EOFError):
            errors += 1
        free.put_nowait(line)

    await asyncio.gather(*[ask(number) for number in range(plan["rate"] * plan["seconds"])])
    return {
        "per_second": round(len(times) / (time.perf_counter() - started), 1),
        "errors": errors,
        "p50_ms": round(percentile(times, 0.5), 1),
        "p95_ms": round(percentile(times, 0.95), 1),
    }
