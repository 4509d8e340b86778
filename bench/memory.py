"""Whether the web workers and the runner grow with the turns they have served.

Options: --turns=10000. People send one message after the other on open streams, and open
their chat again every tenth time; memory is looked at after a fifth of the turns, when all
is warm, and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from bench.first_token import Visitor
from bench.support.house import House, as_plan, open_house
from bench.support.load import load
from bench.support.memory import KIB, resident, settle
from bench.support.wire import Guest

# Of a web worker; nothing may grow.
BAR_MIB = 180
# What a process may gain in the last four fifths: its allocator's unevenness, no more.
GROWTH_BAR_MIB = 10
PEOPLE = 40
RUNNER = "runner"
# A model that answers at once, in a few words.
QUICK = ("-m", "tests.model_server", "--delay=0")
REOPEN_EVERY = 10


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """Resident memory of each process in MiB, warm and at the end."""
    parser = argparse.ArgumentParser(prog="memory")
    parser.add_argument("--turns", type=int, default=10_000)
    turns = parser.parse_args(list(arguments)).turns
    with open_house(stub=QUICK) as house:
        guests = [guest for _, guest in house.hire(PEOPLE)]
        plan = {"port": house.port, "guests": as_plan(guests), "turns": turns}
        with load("memory", plan) as loading:
            loading.wait_for("warm")
            warm = _look(house)
            loading.wait_for("done")
            settle(3)
            end = _look(house)
            served = loading.result()
    growth = {name: round(end[name] - warm[name], 1) for name in end}
    largest_web = max(mib for name, mib in end.items() if name != RUNNER)
    return {
        "met": largest_web <= BAR_MIB and max(growth.values()) <= GROWTH_BAR_MIB,
        "bar_mib": BAR_MIB,
        "warm_mib": warm,
        "end_mib": end,
        "growth_mib": growth,
        **served,
    }


def _look(house: House) -> dict[str, float]:
    pids = {f"web worker {number}": pid for number, pid in enumerate(house.web.children(), 1)}
    pids[RUNNER] = house.runners[0].pid
    return {name: round(resident(pid) / KIB**2, 1) for name, pid in pids.items()}


# The load


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """So many turns by all people together, each waiting for an answer before the next."""
    visitors = [Visitor(plan["port"], Guest(**each)) for each in plan["guests"]]
    for visitor in visitors:
        await visitor.arrive()
    each = plan["turns"] // len(visitors)
    await asyncio.gather(*[_converse(visitor, each // 5) for visitor in visitors])
    say("warm")
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*[_converse(visitor, each - each // 5) for visitor in visitors])
    took = asyncio.get_running_loop().time() - began
    say("done")
    rest = (each - each // 5) * len(visitors)
    return {
        "turns": each * len(visitors),
        "refused": sum(visitor.refused for visitor in visitors),
        "turns_a_second": round(rest / took, 1),
    }


async def _converse(visitor: Visitor, turns: int) -> None:
    for number in range(turns):
        # No more than the sixty messages that one person may send in a minute.
        pause = asyncio.create_task(asyncio.sleep(1.1))
        visitor.done.clear()
        if await visitor.post():
            await visitor.finished()
        if number % REOPEN_EVERY == 0:
            path = f"/chat/{visitor.guest.thread}"
            await visitor.line.get(path, visitor.guest.header)
        await pause
