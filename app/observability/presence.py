"""Which runners are alive, and how each finds the model: traces in Redis that fade by themselves.

A runner tells every two seconds. Nobody removes the trace of one that was killed: it counts
for some seconds and is swept away later by another runner's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import redis

KEY = "runners"
BEAT_SECONDS = 2.0
# Three beats may be missed: a busy machine is not a dead one.
ALIVE_SECONDS = 8.0
SWEEP_SECONDS = 60.0


@dataclass(frozen=True)
class Trace:
    """One living runner; `model_ok` is False while it leaves a failing model alone."""

    runner_id: str
    model_ok: bool


class Presence:
    """The traces of all runners. Times are those of Redis: the hosts' clocks may differ."""

    def __init__(self, connection: redis.Redis) -> None:
        self.redis = connection

    def tell(self, runner_id: str, *, model_ok: bool) -> None:
        """Leave this runner's trace, and sweep away those of runners long gone."""
        now, traces = self._read()
        old = [name for name, trace in traces.items() if now - trace["at"] > SWEEP_SECONDS]
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.hset(KEY, runner_id, json.dumps({"at": now, "model_ok": model_ok}))
            if old:
                pipe.hdel(KEY, *old)
            pipe.execute()

    def leave(self, runner_id: str) -> None:
        """Take this runner's trace away, because it ends."""
        self.redis.hdel(KEY, runner_id)

    def runners(self) -> list[Trace]:
        """The runners that are alive."""
        now, traces = self._read()
        return [
            Trace(name, bool(trace["model_ok"]))
            for name, trace in traces.items()
            if now - trace["at"] <= ALIVE_SECONDS
        ]

    def _read(self) -> tuple[float, dict[str, dict[str, Any]]]:
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.hgetall(KEY)
            (seconds, micros), traces = pipe.execute()
        return seconds + micros / 1e6, {
            name.decode(): json.loads(trace) for name, trace in traces.items()
        }
