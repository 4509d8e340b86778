"""File locks that end with the process that holds them, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

POLL_SECONDS = 0.02


class FileLock:
    """An advisory lock on a file; closing the file, or dying, gives it back.

    A child process that is given the descriptor holds the lock too, so that the lock
    is free only when the last process of a family has ended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._give_to_folder_owner()

    def _give_to_folder_owner(self) -> None:
        """A file that root made must not lock the folder's owner out later."""
        if os.geteuid() == 0:
            folder = self.path.parent.stat()
            os.fchown(self.descriptor, folder.st_uid, folder.st_gid)

    def take(self, *, shared: bool = False, within: float = 0) -> bool:
        """Take the lock, waiting up to `within` seconds; False when somebody else has it."""
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        deadline = time.monotonic() + within
        while True:
            try:
                fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(POLL_SECONDS)

    def release(self) -> None:
        """Give this process's hold back; a second call does nothing."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def write_note(self, text: str) -> None:
        """Say who holds the lock. A full disk loses the note, not the lock."""
        try:
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, text.encode(), 0)
        except OSError:
            return

    def read_note(self) -> str:
        return os.pread(self.descriptor, 4096, 0).decode(errors="replace")

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """True while some process holds the lock at `path`."""
    if not path.exists():
        return False
    with FileLock(path) as lock:
        return not lock.take(shared=True)
