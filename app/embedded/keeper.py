"""The process that keeps one embedded service running for as long as somebody uses it.

Whoever needs a service holds the lock `<service>.users` in shared mode. The keeper asks
for the same lock alone: when it gets it, the last user has left or died, and it stops the
service and ends. So nothing is stopped under another's feet and nothing is left running,
without a list of users that could go stale.

`python -m app.embedded.keeper SERVICE DATA_FOLDER KEEPER_LOCK START_LOCK [--scratch]` is
started by app.embedded.lease, which passes it the descriptors of two locks, and answers
with one line on its standard output: `ready`, or why not.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Protocol

from app.embedded.backoff import Backoff
from app.embedded.folder import DataFolder, check_space
from app.embedded.home import Home, find_home
from app.embedded.lease import READY
from app.embedded.locks import FileLock
from app.embedded.postgres import Postgres
from app.embedded.process import spawn
from app.embedded.redis import Redis
from app.errors import ConfigurationError

WATCH_SECONDS = 0.1
# Recovery after a crash reads what was written since the last checkpoint.
READY_SECONDS = 300
# Longer than a service is given to stop, so that a successor outwaits its predecessor.
PREDECESSOR_SECONDS = 12
STOP_SECONDS = 8
FIRST_REST_SECONDS = 0.2
LOG_BYTES = 10 * 1024 * 1024
FAILURES = (ConfigurationError, OSError, subprocess.SubprocessError)


class Service(Protocol):
    """A program of its own that listens on a socket in a private folder."""

    name: str
    # What asks it to end well, and what it is sent when that takes too long.
    stop_signal: signal.Signals
    quit_signal: signal.Signals

    def prepare(self) -> None:
        """Make its files where they are missing, and clear what a crash left behind."""

    def command(self) -> list[str]:
        """The command line that starts it in the foreground."""

    def ready(self, process_id: int) -> bool:
        """True once the process answers; asked every few milliseconds."""

    def settle(self) -> None:
        """What is done each time it has started, before anybody is let in."""


def build_service(name: str, folder: DataFolder, home: Home, *, durable: bool = True) -> Service:
    """The service called `name`; `durable=False` is for tests, whose data may be lost."""
    if name == "postgres":
        return Postgres(home, folder.secrets(), durable=durable)
    if name == "redis":
        return Redis(home, durable=durable)
    raise ConfigurationError(f"There is no embedded service {name}")


class Keeper:
    """Starts a service, starts it again when it dies, and stops it when it is unused."""

    def __init__(self, service: Service, folder: DataFolder, home: Home) -> None:
        self.service = service
        self.folder = folder
        self.home = home
        self.process: subprocess.Popen[bytes] | None = None
        self.stopping = False

    def start(self) -> None:
        """Start the service and return once it answers.

        Raises:
            ConfigurationError: it cannot; the text says why.
        """
        # The service inherits this lock: it is free when its last process is gone.
        with FileLock(self.home.path / f"{self.service.name}.lock") as lock:
            self._outwait_predecessor(lock)
            self.service.prepare()
            self.process = self._spawn(lock)
            lock.write_note(str(self.process.pid))
        self._wait_until_ready(self.process)
        self.service.settle()

    def _outwait_predecessor(self, lock: FileLock) -> None:
        if lock.take(within=PREDECESSOR_SECONDS):
            return
        # Its keeper was killed and it did not end by itself. It holds the lock, so it lives.
        with suppress(ValueError, OSError):
            os.kill(int(lock.read_note()), self.service.quit_signal)
        if not lock.take(within=PREDECESSOR_SECONDS):
            raise ConfigurationError(
                f"Another {self.service.name} still uses {self.home.path}:"
                f" process {lock.read_note()}"
            )

    def _spawn(self, lock: FileLock) -> subprocess.Popen[bytes]:
        log = self.folder.log_path(self.service.name)
        too_long = log.exists() and log.stat().st_size > LOG_BYTES
        with log.open("wb" if too_long else "ab") as output:
            return spawn(
                self.service.command(),
                account=self.home.account,
                death_signal=self.service.stop_signal,
                output=output,
                keep_open=[lock.descriptor],
            )

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + READY_SECONDS
        name = self.service.name
        while not self.service.ready(process.pid):
            if process.poll() is not None:
                raise ConfigurationError(f"{name} does not start: {self._last_words()}")
            if time.monotonic() > deadline:
                raise ConfigurationError(
                    f"{name} does not answer; see {self.folder.log_path(name)}"
                )
            time.sleep(0.02)

    def _last_words(self) -> str:
        with suppress(OSError):
            text = self.folder.log_path(self.service.name).read_text(errors="replace")
            lines = [line.strip() for line in text.splitlines()[-20:] if line.strip()]
            fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
            if lines:
                return (fatal or lines)[-1]
        return f"see {self.folder.log_path(self.service.name)}"

    def keep(self, users: FileLock) -> None:
        """Watch over the service until nobody uses it, or until we are told to stop."""
        backoff = Backoff(FIRST_REST_SECONDS)
        started = time.monotonic()
        start_again_at: float | None = None
        while not self.stopping and not users.take():
            now = time.monotonic()
            if self.process and self.process.poll() is None:
                start_again_at = None
            elif start_again_at is None:
                start_again_at = now + backoff.after_death(now - started)
            elif now >= start_again_at:
                self._restart()
                started, start_again_at = time.monotonic(), None
            time.sleep(WATCH_SECONDS)

    def _restart(self) -> None:
        try:
            # Who joins meanwhile waits at this lock until the service answers again.
            with self.folder.lock(f"{self.service.name}.start") as starting:
                starting.take(within=1)
                self.start()
        except FAILURES as error:
            self.stop()
            print(error, file=sys.stderr, flush=True)

    def stop(self) -> None:
        """End the service well, or at once when it takes too long."""
        if self.process is None or self.process.poll() is not None:
            return
        for request in (self.service.stop_signal, self.service.quit_signal, signal.SIGKILL):
            self.process.send_signal(request)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_SECONDS)
                return

    def ask_to_stop(self, _: int, __: FrameType | None) -> None:
        self.stopping = True


def main(arguments: list[str]) -> int:
    name, path, own_lock, start_lock, *flags = arguments
    # Nobody but this process may hold the keeper's lock: it says that the keeper lives.
    for descriptor in (own_lock, start_lock):
        os.set_inheritable(int(descriptor), False)
    folder = DataFolder(Path(path))
    try:
        keeper = _start(name, folder, durable="--scratch" not in flags)
    except FAILURES as error:
        _answer(" ".join(str(error).split()))
        return 1
    _answer(READY)
    os.close(int(start_lock))
    with folder.lock(f"{name}.users") as users:
        keeper.keep(users)
        keeper.stop()
        # Gone before the last lock is, so that a successor never meets half a keeper.
        os.close(int(own_lock))
    return 0


def _start(name: str, folder: DataFolder, *, durable: bool) -> Keeper:
    home = find_home(folder)
    _be_the_only_keeper(home.path / f"{name}.keeper.lock")
    check_space(home.path, first_start=not (home.path / name).exists())
    keeper = Keeper(build_service(name, folder, home, durable=durable), folder, home)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, keeper.ask_to_stop)
    try:
        keeper.start()
    except BaseException:
        keeper.stop()
        raise
    return keeper


def _be_the_only_keeper(path: Path) -> None:
    """Refuse a home that another data folder's keeper uses, as a copied folder's would be."""
    lock = FileLock(path)
    if not lock.take(within=PREDECESSOR_SECONDS):
        raise ConfigurationError(
            f"COMANDA_DATA: the services in {path.parent} are run by another Comanda;"
            " in a copy of a data folder, remove the file services-home first"
        )
    # Held until this process ends: nothing closes the descriptor.


def _answer(line: str) -> None:
    """Tell whoever started us, if it still lives, and let go of its pipe."""
    with suppress(OSError):
        os.write(sys.stdout.fileno(), f"{line}\n".encode())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
