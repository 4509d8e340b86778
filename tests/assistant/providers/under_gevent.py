"""Tasks for the openai provider in a process of its own, patched as the runner is.

`python -m tests.assistant.providers.under_gevent BASE_URL TASK` prints a report as JSON.
"""

# ruff: noqa: E402
from gevent import monkey

monkey.patch_all()

import json
import sys
import time
from itertools import pairwise
from typing import Any

import gevent

from app.assistant.providers.base import ChatMessage, ModelRequest, ProviderError, TextDelta
from app.assistant.providers.json_mode import JsonModeProvider
from app.assistant.providers.openai import OpenAIProvider
from app.assistant.tools.tool import ToolResult
from app.assistant.turns.loop import run_turn
from app.config import Settings
from tests.assistant.scripted import LookUp, toolbox

WAYS_TO_STOP = ("kill", "kill with an exception", "time out")
# How long a stream is left alone before it is stopped: long enough to wait in a read.
UNTIL_IT_WAITS = 2.0


class Stopped(BaseException):
    """As the runner stops a turn."""


def read(provider: OpenAIProvider, message: str = "Are tips shared?") -> str:
    events = provider.stream(ModelRequest((ChatMessage("user", message),), (), "en"))
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def run_twenty(provider: OpenAIProvider) -> dict[str, Any]:
    started = time.monotonic()
    streams = [gevent.spawn(read, provider) for _ in range(20)]
    texts = [stream.get() for stream in streams]
    return {"texts": texts, "seconds": time.monotonic() - started}


def stop_all(provider: OpenAIProvider, waits: list[str]) -> dict[str, Any]:
    """Stop greenlets that wait in each of these ways, by each of the ways to stop one."""
    stops = [
        gevent.spawn(stop, provider, f"{wait}, {how}", how)
        for wait in waits
        for how in WAYS_TO_STOP
    ]
    report = {"stops": [stop.get() for stop in stops]}
    # Only now may the process end, which would also close the connections.
    gevent.sleep(1.2)
    return report


def stop(provider: OpenAIProvider, message: str, how: str) -> dict[str, Any]:
    """Stop a greenlet that reads; the report says when, and how soon it had ended."""

    def read_until_stopped() -> None:
        with gevent.Timeout(UNTIL_IT_WAITS if how == "time out" else None, Stopped):
            read(provider, message)

    reader = gevent.spawn(read_until_stopped)
    gevent.sleep(UNTIL_IT_WAITS)
    stopped_at = time.monotonic()
    if how != "time out":
        reader.kill(gevent.GreenletExit if how == "kill" else Stopped, block=False)
    reader.join(timeout=10)
    ended_after = time.monotonic() - stopped_at
    return {"message": message, "stopped_at": stopped_at, "seconds_to_end": ended_after}


def wait_for_the_first_word(provider: OpenAIProvider) -> dict[str, Any]:
    started = time.monotonic()
    try:
        read(provider)
    except ProviderError as error:
        return {"code": error.code, "seconds": time.monotonic() - started}
    return {"code": None}


def read_flood(provider: OpenAIProvider, mode: str) -> dict[str, Any]:
    """A turn whose model sends all at once, and what others get of the processor meanwhile."""
    ticks = [time.process_time()]

    def tick() -> None:
        while True:
            gevent.sleep(0)
            ticks.append(time.process_time())

    asked = JsonModeProvider(provider) if mode == "json" else provider
    tools = toolbox(LookUp())
    tools.blocks = {"form_navigation": lambda _value, _context: ToolResult({})}
    request = ModelRequest((ChatMessage("user", "Are tips shared?"),), (), "en")
    other = gevent.spawn(tick)
    gevent.sleep(0)
    began, code = len(ticks), ""
    try:
        for _event in run_turn(request, asked, tools):
            pass
    except ProviderError as error:
        code = error.code
    ticks.append(time.process_time())
    other.kill()
    stretches = sorted(after - before for before, after in pairwise(ticks))
    return {"code": code, "ticks": len(ticks) - began, "seconds": ticks[-1] - ticks[0],
            "longest": stretches[-1]}  # fmt: skip


def main() -> None:
    base_url, task, *rest = sys.argv[1:]
    seconds = 0.5 if task == "wait for the first word" else 15.0
    settings = Settings(openai_base_url=base_url, ai_first_token_timeout_seconds=seconds)
    provider = OpenAIProvider(settings)
    if task == "twenty streams":
        report = run_twenty(provider)
    elif task == "wait for the first word":
        report = wait_for_the_first_word(provider)
    elif task == "flood":
        report = read_flood(provider, *rest)
    else:
        report = stop_all(provider, rest)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
