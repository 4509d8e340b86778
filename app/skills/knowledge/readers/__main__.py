"""`python -m app.skills.knowledge.readers`: the child of `read_apart`, which see."""

from __future__ import annotations

import json
import sys
from typing import IO, Any

from app.files.child_process_limits import restrain, take_output

# The readers are loaded before the limits are set, because Python keeps what it compiles.
from app.skills.knowledge.readers.formats import read
from app.skills.knowledge.readers.result import Limits, Reading

# Well apart: a stalled machine counts seconds at once, and the later limit is looked at first.
LATER = 30


def main() -> None:
    """Read the order and the file from standard input; answer on standard output."""
    with take_output() as answers:
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
    cpu, alarm = limits.cpu_seconds, int(limits.wall_seconds) + 5
    restrain(limits.memory_bytes, cpu, alarm, cpu + LATER)


if __name__ == "__main__":
    main()
