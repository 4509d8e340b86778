"""How much of the processor processes use, by the kernel's own account."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pids: Iterable[int]) -> float:
    """Seconds of CPU that processes have used, with those of their children that have ended."""
    return sum(_ticks(pid) for pid in pids) / _TICKS


def machine_seconds() -> float:
    """Seconds of CPU that everything on this machine has used, other people's work included."""
    user, nice, system, _idle, _waiting, *interrupts = _first_line()
    return (user + nice + system + sum(interrupts[:2])) / _TICKS


def descendants(pids: Iterable[int]) -> list[int]:
    """The children of processes, whichever of their threads has started them."""
    found: list[int] = []
    for pid in pids:
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, file.read_text().split())
    return found


def _ticks(pid: int) -> int:
    with suppress(OSError):
        # The name before it, in brackets, may have blanks.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))
    return 0


def _first_line() -> list[int]:
    with Path("/proc/stat").open() as file:
        return [int(each) for each in file.readline().split()[1:]]
