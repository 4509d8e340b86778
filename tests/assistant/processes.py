"""The real web server and the real runner, started, stopped, frozen and killed by tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.config import Settings
from app.embedded.process import spawn

ROOT = Path(__file__).parents[2]
START_SECONDS = 60.0


def wait_until(condition: Callable[[], Any], seconds: float = 15.0, every: float = 0.05) -> Any:
    """The first true value of the condition; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(every)
    return value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Program:
    """A process of ours, whose output is kept in a file; it ends when the tests do, however."""

    def __init__(self, log: Path, environment: dict[str, str], *arguments: str) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = spawn(
                [sys.executable, *arguments],
                death_signal=signal.SIGTERM,
                output=output,
                environment=environment,
                folder=ROOT,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def output(self) -> str:
        return self.log.read_text("utf-8", errors="replace")

    def wait_for(self, condition: Callable[[], Any]) -> None:
        def ready_or_dead() -> Any:
            assert self.process.poll() is None, f"it ended early:\n{self.output[-3000:]}"
            return condition()

        wait_until(ready_or_dead, START_SECONDS)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it as a crash would: at once, with whatever it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=10)

    def children(self) -> list[int]:
        """The processes it started."""
        file = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [int(pid) for pid in file.read_text().split()]


@contextmanager
def frozen(*programs: Program) -> Iterator[None]:
    """They do nothing within this block, and go on after it, however it ends."""
    for program in programs:
        program.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for program in programs:
            program.signal(signal.SIGCONT)


class Processes:
    """Starts web servers and runners on one database, and ends them all.

    A lease is long where nobody is killed: a short one is lost on a busy machine, and the
    turn is taken, and its model asked, once more.
    """

    def __init__(
        self, settings: Settings, folder: Path, model_url: str, lease_seconds: float = 30
    ) -> None:
        self.settings = settings
        self.folder = folder
        self.model_url = model_url
        self.lease_seconds = lease_seconds
        self.programs: list[Program] = []

    def environment(self, **more: str) -> dict[str, str]:
        """The settings as variables, and nothing of this process's own settings."""
        names = {name.upper() for name in Settings.model_fields}
        base = {name: value for name, value in os.environ.items() if name not in names}
        given = {
            "COMANDA_DATA": str(self.settings.comanda_data),
            "DATABASE_URL": self.settings.database_url or "",
            "MIGRATION_DATABASE_URL": self.settings.migration_database_url or "",
            "REDIS_URL": self.settings.redis_url or "",
            "SECRET_KEY": self.settings.secret_key or "",
            "OPENAI_BASE_URL": self.model_url,
            "OPENAI_API_KEY": "a key for the scripted model",
            "LOG_LEVEL": "info",
            "TURN_LEASE_SECONDS": str(self.lease_seconds),
            # Tests of many streams are about streams, and make one person.
            "STREAMS_PER_PERSON": "2000",
            "CONNECTIONS_PER_ADDRESS": "4000",
            "PYTHONUNBUFFERED": "1",
        }
        return {**base, **given, **more}

    def start(self, name: str, environment: dict[str, str], *arguments: str) -> Program:
        log = self.folder / f"{name}-{len(self.programs)}.log"
        program = Program(log, environment, *arguments)
        self.programs.append(program)
        return program

    @property
    def runners(self) -> list[Program]:
        """The runners that are alive."""
        alive = [each for each in self.programs if each.process.poll() is None]
        return [each for each in alive if each.log.name.startswith("runner")]

    def launch_runners(self, count: int, **more: str) -> None:
        """Start what lacks of so many runners, without waiting for them."""
        for _ in range(count - len(self.runners)):
            self.start_runner(**more)

    def start_runner(self, **more: str) -> Program:
        """One more runner, which is not ready yet."""
        program = ("-m", "gevent.monkey", "--module", "app.assistant.turns.runner")
        return self.start("runner", self.environment(**more), *program)

    def ensure_runners(self, count: int, **more: str) -> None:
        """That many runners, ready to claim turns."""
        self.launch_runners(count, **more)
        for program in self.runners:
            program.wait_for(partial(_says, program, "runner ready"))

    def runner(self, pid: int) -> Program:
        [found] = [program for program in self.runners if program.pid == pid]
        return found

    def kill_runner(self, pid: int) -> None:
        """Kill a runner at once."""
        self.runner(pid).kill()

    @contextmanager
    def frozen_runners(self) -> Iterator[None]:
        """Nobody claims a turn within this block."""
        with frozen(*self.runners):
            yield

    def start_web(
        self, workers: int = 2, port: int = 0, app: str = "wsgi:app", **more: str
    ) -> tuple[Program, int]:
        """The web server and its port (any free one, if none is given), once it answers."""
        port = port or free_port()
        environment = self.environment(PORT=str(port), WEB_WORKERS=str(workers), **more)
        program = self.start("web", environment, *("-m", "gunicorn", "-c", "gunicorn.conf.py", app))
        program.wait_for(lambda: _answers(port) and len(program.children()) == workers)
        return program, port

    def end_all(self) -> None:
        """Stop them as the supervisor would, and kill those that do not."""
        alive = [program for program in self.programs if program.process.poll() is None]
        for program in alive:
            program.signal(signal.SIGCONT)
            program.signal(signal.SIGTERM)
        for program in alive:
            try:
                program.process.wait(timeout=12)
            except subprocess.TimeoutExpired:
                program.kill()


def _says(program: Program, words: str) -> bool:
    return words in program.output


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: test\r\n\r\n")
            return b" 200 " in connection.recv(1024)
    except OSError:
        return False


@contextmanager
def running(
    settings: Settings, folder: Path, model_url: str, lease_seconds: float = 30
) -> Iterator[Processes]:
    processes = Processes(settings, folder, model_url, lease_seconds)
    try:
        yield processes
    finally:
        processes.end_all()


def serving_process(candidates: list[int], port: int, client_port: int) -> int:
    """Which of the processes holds the server's end of a connection."""
    inode = _inode(port, client_port)
    for pid in candidates:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                if link.readlink() == Path(f"socket:[{inode}]"):
                    return pid
            except OSError:
                continue
    pytest.fail("no process serves this connection")


def _inode(port: int, peer_port: int) -> str:
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote = (int(address.split(":")[1], 16) for address in fields[1:3])
        if (local, remote) == (port, peer_port):
            return fields[9]
    pytest.fail("there is no such connection")
