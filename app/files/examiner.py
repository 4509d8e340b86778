"""`python -m app.files.examiner`: the child of `app.files.examining`, which see."""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys

from app.files.images import is_image
from app.files.kinds import MIB, Unfit
from app.files.sniffing import examine_content

MEMORY_BYTES = 1024 * MIB
CPU_SECONDS = 20
ALARM_SECONDS = 40
OPEN_FILES = 32


def main() -> None:
    """Read a file from standard input; answer with a line of JSON and the file as it is kept."""
    # Whatever a library prints must not get into the answer.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        content = sys.stdin.buffer.read()
        _load_what_reads(content)
        _restrain()
        try:
            found = examine_content(content)
        except Unfit as unfit:
            answers.write(json.dumps({"problem": unfit.code}).encode() + b"\n")
            return
        except (MemoryError, RecursionError):
            answers.write(json.dumps({"problem": "too_much"}).encode() + b"\n")
            return
        head = {
            "kind": found.kind,
            "media_type": found.media_type,
            "preview": len(found.preview),
        }
        answers.write(json.dumps(head).encode() + b"\n" + found.preview + found.content)


def _load_what_reads(content: bytes) -> None:
    """Load what this file needs while the limits allow Python to keep what it compiles."""
    if content.startswith(b"%PDF-"):
        importlib.import_module("pypdfium2")
    elif is_image(content):
        for plugin in ("Gif", "Jpeg", "Mpo", "Png", "WebP"):
            importlib.import_module(f"PIL.{plugin}ImagePlugin")


def _restrain() -> None:
    """Take from this process what it does not need, before it looks at the file."""
    # Whoever waits for a page comes first.
    os.nice(5)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    # Should the parent die, nobody else would watch the clock.
    signal.alarm(ALARM_SECONDS)


def _limit(what: int, most: int) -> None:
    """Lower a limit of this process for good, if it is not as low already."""
    _soft, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    main()
