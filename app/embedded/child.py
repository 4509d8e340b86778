"""One program under the supervisor: started, listened to, started again, stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.embedded.backoff import Backoff
from app.embedded.process import spawn

ROOT = Path(__file__).resolve().parent.parent.parent
FIRST_REST_SECONDS = 0.5
LINE_BYTES = 16 * 1024


@dataclass(frozen=True)
class Program:
    """What to run, and how it ends.

    Programs with a lower `stop_order` are stopped first, those with the same together; each
    has `grace_seconds` to finish. `death_signal` is what it gets when the supervisor is
    killed: SIGKILL unless it has children of its own to end.
    """

    name: str
    command: tuple[str, ...]
    stop_order: int = 0
    grace_seconds: float = 5
    death_signal: signal.Signals = signal.SIGKILL


def python_module(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", *arguments)


# Runs once before the others; told the descriptor of the pipe that its answer goes to.
SETUP = Program("setup", python_module("app.embedded.prepare"))
PROGRAMS = (
    Program(
        "web",
        python_module("gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"),
        stop_order=0,
        grace_seconds=6.5,
        death_signal=signal.SIGTERM,
    ),
    Program(
        "runner",
        # gevent has to patch the standard library before the app is imported.
        python_module("gevent.monkey", "--module", "app.assistant.turns.runner"),
        stop_order=1,
        grace_seconds=10.5,
    ),
    Program("jobs", python_module("app.jobs"), stop_order=1),
)


class Child:
    """A running (or resting) program and the lines it writes."""

    def __init__(self, program: Program, environment: Mapping[str, str]) -> None:
        self.program = program
        self.environment = environment
        self.process: subprocess.Popen[bytes] | None = None
        self.deaths = 0
        self._started_at = 0.0
        self._backoff = Backoff(FIRST_REST_SECONDS)
        self._rest_until = 0.0
        self._unfinished_line = b""

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def output(self) -> BinaryIO:
        """The reading end of what the program writes; non-blocking."""
        assert self.process
        assert self.process.stdout
        return self.process.stdout  # type: ignore[return-value]

    def start(self, keep_open: Sequence[int] = ()) -> None:
        self.process = spawn(
            self.program.command,
            death_signal=self.program.death_signal,
            output=subprocess.PIPE,
            environment=self.environment,
            folder=ROOT,
            keep_open=keep_open,
        )
        os.set_blocking(self.output.fileno(), False)
        self._started_at = time.monotonic()

    def due(self, now: float) -> bool:
        """True when the program is not running and has rested long enough to be started."""
        return not self.running and now >= self._rest_until

    def bury(self, now: float) -> str:
        """Note the death of the program and say in words how it ended and what comes."""
        assert self.process
        self.deaths += 1
        rest = self._backoff.after_death(now - self._started_at)
        self._rest_until = now + rest
        ending = _ending(self.process.returncode)
        self.process = None
        return f"{self.program.name} ended ({ending}); it starts again in {rest:g} s"

    def read_lines(self) -> tuple[list[bytes], bool]:
        """The whole lines written since the last call, and whether more can come."""
        try:
            data = os.read(self.output.fileno(), 65536)
        except BlockingIOError:
            return [], True
        *lines, rest = (self._unfinished_line + data).split(b"\n")
        if not data or len(rest) > LINE_BYTES:
            lines, rest = [*lines, rest], b""
        self._unfinished_line = rest
        return [line for line in lines if line.strip()], bool(data)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program; a kill goes to everything it started, too."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"
