"""`python -m app.skills.knowledge.readers`: the child of `read_apart`, which see."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import IO, Any

# The readers are loaded before the limits are set, because Python keeps what it compiles.
from app.skills.knowledge.readers.formats import read
from app.skills.knowledge.readers.result import Limits, Reading

OPEN_FILES = 32


def main() -> None:
    """Read the order and the file from standard input; answer on standard output."""
    # Whatever a library prints must not get between the lines of the answer.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        order = json.loads(sys.stdin.buffer.readline())
        limits = Limits(**order["limits"])
        _restrain(limits)
        try:
            reading = read(
                sys.stdin.buffer.read(),
                order["filename"],
                order["target"],
                order["language"],
                lambda step, done, total: _say(answers, {"progress": [step, done, total]}),
                limits,
            )
            _say(answers, {"reading": reading.to_json()})
        # Some extensions run out of memory without a word of their own.
        except (MemoryError, SystemError):
            _say(answers, {"reading": Reading.failed("too_big_to_read").to_json()})


def _say(answers: IO[bytes], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _restrain(limits: Limits) -> None:
    """Take from this process what it does not need, before it sees the file."""
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    # The first limit sends a signal that tells why; only the second, later one just kills.
    # Well apart: a stalled machine counts seconds at once, and the later limit is looked at first.
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 30)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    # Should the parent die, nobody else would watch the clock.
    signal.alarm(int(limits.wall_seconds) + 5)


def _limit(what: int, most: int, at_last: int | None = None) -> None:
    """Lower a limit of this process for good, if it is not as low already."""
    _soft, hard = resource.getrlimit(what)
    last = most if at_last is None else at_last
    last = last if hard == resource.RLIM_INFINITY else min(last, hard)
    resource.setrlimit(what, (min(most, last), last))


if __name__ == "__main__":
    main()
