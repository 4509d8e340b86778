"""Load comes from a process of its own: `python -m bench.support.load BENCHMARK < plan.json`.

A benchmark's module has `async drive(plan, say) -> dict` for it; `say` tells the
benchmark's own process how far it is, a line each.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Load:
    """The other process, as the benchmark's own sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def wait_for(self, word: str) -> None:
        """Wait until it says this."""
        assert self.process.stdout
        line = self.process.stdout.readline().strip()
        assert line == word, f"the load said {line!r} instead of {word!r}"

    def tell(self, word: str) -> None:
        """Say something to it, which it may wait for."""
        assert self.process.stdin
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def result(self) -> dict[str, Any]:
        """What it measured, once it has ended."""
        assert self.process.stdout
        result: dict[str, Any] = json.loads(self.process.stdout.readline())
        return result


@contextmanager
def load(name: str, plan: dict[str, Any]) -> Iterator[Load]:
    """Run the load of a benchmark (`name`, or `name:function`) with this plan."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.support.load", name],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    loading = Load(process)
    loading.tell(json.dumps(plan))
    try:
        yield loading
        process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()


def run_load(name: str, plan: dict[str, Any]) -> dict[str, Any]:
    """The result of a load that needs no company."""
    with load(name, plan) as loading:
        return loading.result()


def _say(word: str) -> None:
    print(word, flush=True)


def main() -> None:
    module, _, function = sys.argv[1].partition(":")
    drive = getattr(importlib.import_module(f"bench.{module}"), function or "drive")
    plan = json.loads(sys.stdin.readline())
    print(json.dumps(asyncio.run(drive(plan, _say))), flush=True)


if __name__ == "__main__":
    main()
