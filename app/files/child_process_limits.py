"""What a child process gives up before it looks at a file that a stranger sent."""

from __future__ import annotations

import os
import resource
import signal
from typing import IO

OPEN_FILES = 32


def take_output() -> IO[bytes]:
    """Where the answer is written; whatever a library prints goes where errors are told."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def restrain(
    memory_bytes: int, cpu_seconds: int, alarm_seconds: int, cpu_seconds_at_last: int | None = None
) -> None:
    """Limit this process for good: its memory, its time and its open files; it writes none.

    At `cpu_seconds` it is sent a signal that tells why, and at `cpu_seconds_at_last` (where it is
    none, at the same time) it is killed.
    """
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds_at_last)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    # Should the parent die, nobody else would watch the clock.
    signal.alarm(alarm_seconds)


def _limit(what: int, most: int, at_last: int | None = None) -> None:
    """Lower a limit of this process for good, if it is not as low already."""
    _soft, hard = resource.getrlimit(what)
    last = most if at_last is None else at_last
    last = last if hard == resource.RLIM_INFINITY else min(last, hard)
    resource.setrlimit(what, (min(most, last), last))
