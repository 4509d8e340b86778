"""A caller's hold on an embedded service: it runs at least as long as the hold lasts."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from app.embedded.folder import DataFolder
from app.embedded.home import find_home
from app.embedded.locks import FileLock, is_held
from app.errors import ConfigurationError

ROOT = Path(__file__).resolve().parent.parent.parent
# What a keeper answers when its service is ready.
READY = "ready"
# A first start makes a whole database cluster, and recovery after a crash takes its time.
START_SECONDS = 330
STOP_SECONDS = 20


class Lease:
    """Use of one service of a data folder, given back by `release` or by dying."""

    def __init__(self, folder: DataFolder, service: str, *, durable: bool = True) -> None:
        self.folder = folder
        self.service = service
        self.durable = durable
        self.users: FileLock | None = None
        self._keeper: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """True while a keeper looks after the service."""
        if self._keeper:
            self._keeper.poll()
        return is_held(self._keeper_lock)

    @property
    def _keeper_lock(self) -> Path:
        return self.folder.lock_path(f"{self.service}.keeper")

    def join(self, *, start: bool = True) -> bool:
        """Hold the service, starting it where it does not run; False when it is not to be started.

        Raises:
            ConfigurationError: it cannot be started; the text says why.
        """
        if not start and not self.running:
            return False
        self._enter()
        with self.folder.lock(f"{self.service}.start") as starting:
            if not starting.take(within=START_SECONDS):
                raise ConfigurationError(f"{self.service} is being started and does not get ready")
            with FileLock(self._keeper_lock) as keeper:
                if keeper.take():
                    self._start_keeper(keeper, starting)
        return True

    def _enter(self) -> None:
        """Become a user; this waits while a keeper that found no user is stopping."""
        if self.users is None:
            self.users = self.folder.lock(f"{self.service}.users")
        if not self.users.take(shared=True, within=STOP_SECONDS):
            raise ConfigurationError(f"{self.service} is being stopped and does not end")

    def _start_keeper(self, lock: FileLock, starting: FileLock) -> None:
        """Start a keeper and wait for its answer.

        It inherits both locks: its own, so that there is no gap, and the one of starting,
        so that others wait until the service answers even if we are killed meanwhile.
        """
        # Chosen here and not by the keeper, whose complaints and notices nobody reads.
        find_home(self.folder)
        descriptors = [lock.descriptor, starting.descriptor]
        flags = [] if self.durable else ["--scratch"]
        with self.folder.log_path("keeper").open("ab") as log:
            keeper = subprocess.Popen(
                [
                    *(sys.executable, "-m", "app.embedded.keeper"),
                    *(self.service, str(self.folder.path), *map(str, descriptors), *flags),
                ],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=descriptors,
                start_new_session=True,
            )
        lock.write_note(str(keeper.pid))
        assert keeper.stdout
        with keeper.stdout as answers:
            answer = answers.readline().decode(errors="replace").strip()
        if answer != READY:
            keeper.wait(STOP_SECONDS)
            self.release()
            raise ConfigurationError(
                answer or f"{self.service} does not start; see {self.folder.log_path('keeper')}"
            )
        # Ours to reap when it ends before us.
        self._keeper = keeper

    def release(self) -> None:
        """Give the hold back; the service stops soon after its last user has."""
        if self.users:
            self.users.release()
            self.users = None

    def wait_for_the_end(self) -> None:
        """Return once the released service has stopped, or at once when others use it."""
        deadline = time.monotonic() + STOP_SECONDS
        while self.running and time.monotonic() < deadline and not self._others_use_it():
            time.sleep(0.02)

    def _others_use_it(self) -> bool:
        """Whether other holds exist; a keeper that is stopping holds the lock alone."""
        with self.folder.lock(f"{self.service}.users") as users:
            return not users.take() and users.take(shared=True)
