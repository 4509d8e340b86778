"""Processes of a data folder: starting them, finding them, ending them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg

from app.config import Settings
from app.embedded.locks import is_held
from app.embedded.process import spawn

ROOT = Path(__file__).resolve().parent.parent.parent


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def clean_environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment without the settings of whoever runs the tests."""
    settings = {name.upper() for name in Settings.model_fields}
    kept = {name: value for name, value in os.environ.items() if name not in settings}
    return {**kept, "COMANDA_DATA": str(folder), "DEMO": "false", **more}


class Holder:
    """A process that uses the services of a folder until `leave`."""

    def __init__(
        self, folder: Path, *flags: str, python: str = sys.executable, **more: str
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.embedded.holder", *flags],
            cwd=ROOT,
            env=clean_environment(folder, **more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def answer(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def settings(self) -> Settings:
        answer = self.answer()
        assert answer.startswith("{"), answer or self.complaint()
        return Settings.model_validate(json.loads(answer))

    def complaint(self) -> str:
        assert self.process.stderr
        return self.process.stderr.read()

    def leave(self) -> None:
        self.process.communicate(timeout=30)


class House:
    """A supervisor in a process of its own, with its lines collected."""

    def __init__(
        self, folder: Path, *flags: str, module: str = "tests.embedded.tiny_house", **more: str
    ) -> None:
        self.folder = folder
        self.port = int(more.get("PORT") or free_port())
        self.lines: list[str] = []
        self.process = spawn(
            [sys.executable, "-m", module, *flags],
            death_signal=signal.SIGTERM,
            output=subprocess.PIPE,
            environment=clean_environment(folder, **{"PORT": str(self.port), **more}),
            folder=ROOT,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        self.lines.extend(line.decode().rstrip() for line in self.process.stdout)

    def _read_all(self) -> None:
        self._reader.join(10)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, words: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while words not in self.text:
            assert self.process.poll() is None, self.text
            assert time.monotonic() < deadline, self.text
            time.sleep(0.05)

    def wait_until_ready(self) -> None:
        self.wait_for("Comanda is ready")

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        code = self.process.wait(30)
        self._read_all()
        return code

    def ends_with(self) -> tuple[int, str]:
        """The exit code and the text of a house that does not come to run."""
        code = self.process.wait(60)
        self._read_all()
        return code, self.text

    def process_of(self, name: str) -> int:
        """The number of the newest process of a small program."""
        starts = [line for line in self.lines if f"{name} starts" in line]
        return int(starts[-1].rpartition(" ")[2])


def processes_of(folder: Path) -> list[int]:
    """The living processes that were started for a data folder (Linux)."""
    mark = f"COMANDA_DATA={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def kill_everything(folder: Path) -> None:
    """kill -9 of every process of a folder, as a power cut would."""
    for process in processes_of(folder):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def services_are_gone(folder: Path, home: Path | None = None) -> bool:
    """Whether no process of Postgres or Redis is left; they hold these locks together."""
    home = home or folder / "services"
    return not any(is_held(home / f"{name}.lock") for name in ("postgres", "redis"))


def everything_is_gone(folder: Path) -> bool:
    return services_are_gone(folder) and not processes_of(folder)


def service_process(folder: Path, name: str) -> int:
    return int((folder / "services" / f"{name}.lock").read_text())


def keeper_process(folder: Path, name: str) -> int:
    return int((folder / "locks" / f"{name}.keeper.lock").read_text())


def connect(url: str | None) -> psycopg.Connection:
    return psycopg.connect((url or "").replace("+psycopg", ""), autocommit=True)


def remember(settings: Settings, word: str) -> None:
    """Commit a row as the owner."""
    with connect(settings.migration_database_url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS memory (word text)")
        connection.execute("INSERT INTO memory VALUES (%s)", (word,))


def remembered(settings: Settings) -> list[str]:
    with connect(settings.migration_database_url) as connection:
        return [row[0] for row in connection.execute("SELECT word FROM memory ORDER BY word")]
