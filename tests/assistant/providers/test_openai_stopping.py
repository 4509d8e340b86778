"""Stopping the openai provider, in one thread and among greenlets as in the runner."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.assistant.providers.base import (
    ProviderError,
)
from app.assistant.providers.openai import OpenAIProvider
from tests.assistant.processes import wait_until
from tests.assistant.providers.asking import (
    asking,
    text_of,
)
from tests.model_server import (
    CutAfter,
    Delta,
    HttpError,
    ModelServer,
    Say,
    Stall,
    Step,
    benchmark,
    scenario,
)

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[3]


def test_closing_a_stream_closes_the_connection_at_once(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(scenario(Say("and on " * 500, delay=0.02)))
    stream = provider.stream(asking())
    next(stream)
    stream.close()
    assert model_server.last_call.client_left.wait(5)
    assert model_server.last_call.deltas < 50


def test_a_stream_that_is_dropped_closes_the_connection(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(scenario(Say("and on " * 500, delay=0.02)))
    next(provider.stream(asking()))
    assert model_server.last_call.client_left.wait(5)


def test_a_stream_closed_before_it_began_asks_nothing(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    provider.stream(asking()).close()
    assert model_server.calls == []


def test_the_provider_goes_on_working_after_failures_and_stops(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    cut = scenario([CutAfter(1), Say("One two three.")], when="cut")
    model_server.script(cut, scenario(HttpError(500), when="fail"))
    for message in ("cut", "fail", "cut", "fail"):
        with pytest.raises(ProviderError):
            list(provider.stream(asking(message)))
        next(provider.stream(asking("hello")))
    assert text_of(list(provider.stream(asking("hello"))))


def under_gevent(model_server: ModelServer, *task: str) -> dict[str, Any]:
    """What a process with gevent's patches in place reports of a task (see that module)."""
    command = [sys.executable, "-m", "tests.assistant.providers.under_gevent"]
    done = subprocess.run(
        [*command, model_server.base_url, *task],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_twenty_streams_run_beside_each_other_under_gevent(model_server: ModelServer) -> None:
    model_server.script(benchmark())
    report = under_gevent(model_server, "twenty streams")
    assert report["texts"] == ["".join(f"token{number} " for number in range(100))] * 20
    # One after the other they would take forty.
    assert report["seconds"] < 35
    assert len(model_server.calls) == 20


def test_stopping_a_greenlet_closes_the_connection_at_once(model_server: ModelServer) -> None:
    waits: dict[str, list[Step]] = {
        "before any answer": [Stall(20)],
        "before the first word": [Delta({"role": "assistant", "content": ""}), Stall(20)],
        "between pings": [Stall(20, ping=0.05)],
        "between two words": [Say("One two "), Stall(20)],
    }
    model_server.script(*(scenario(steps, when=wait) for wait, steps in waits.items()))
    stops = under_gevent(model_server, "stop", *waits)["stops"]
    # The server's side of a connection that was just closed may have to wait for its turn.
    wait_until(lambda: all(call.client_left_at is not None for call in model_server.calls))
    left = {call.message: call.client_left_at for call in model_server.calls}
    assert len(stops) == len(left) == 12
    for stop in stops:
        closed_at = left[stop["message"]]
        assert closed_at is not None, stop
        assert closed_at - stop["stopped_at"] < 5, stop
        assert stop["seconds_to_end"] < 5, stop


def test_a_silent_model_times_out_under_gevent(model_server: ModelServer) -> None:
    model_server.script(scenario(Stall(20, ping=0.05)))
    report = under_gevent(model_server, "wait for the first word")
    assert report["code"] == "timeout"
    assert report["seconds"] < 10, "long before the twenty seconds that it is silent"
