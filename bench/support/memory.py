"""How much memory processes use, by the kernel's own account."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

KIB = 1024


def resident(pid: int) -> int:
    """Bytes of a process that are in memory, those it shares with others included."""
    return _from(Path(f"/proc/{pid}/status"), "VmRSS:")


def proportional(pids: Sequence[int]) -> int:
    """Bytes of several processes together; what they share is counted once."""
    return sum(_from(Path(f"/proc/{pid}/smaps_rollup"), "Pss:") for pid in pids)


def _from(file: Path, name: str) -> int:
    with suppress(OSError):
        for line in file.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * KIB
    return 0


class Peak:
    """The most that was seen so far, in MiB."""

    def __init__(self) -> None:
        self.proportional_mib = 0.0
        self.resident_mib = 0.0

    def look(self, pids: Sequence[int]) -> None:
        shared = proportional(pids) / KIB**2
        self.proportional_mib = max(self.proportional_mib, round(shared, 1))
        apart = sum(resident(pid) for pid in pids) / KIB**2
        self.resident_mib = max(self.resident_mib, round(apart, 1))


@contextmanager
def watching(pids: Callable[[], Sequence[int]], every: float = 0.5) -> Iterator[Peak]:
    """Look at these processes' memory from time to time; the highest is kept."""
    peak, ended = Peak(), threading.Event()

    def look() -> None:
        while not ended.wait(every):
            peak.look(pids())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def settle(seconds: float = 1.0) -> None:
    """Let what is still going on come to its end."""
    time.sleep(seconds)
