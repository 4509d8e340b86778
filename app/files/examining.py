"""Looking at what strangers send in a process of its own: what it breaks there, breaks nothing.

The child has no settings, no database, and little memory and time; it can write no file. A web
server's streams go on meanwhile: waiting for a child is what they do best.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import BoundedSemaphore

import structlog

from app.files.kinds import Unfit
from app.files.result import Examined

ROOT = Path(__file__).resolve().parents[2]
WALL_SECONDS = 30
# Children of one process at work at the same time; others wait for their turn.
_at_work = BoundedSemaphore(2)

log = structlog.get_logger()


def examine(content: bytes) -> Examined:
    """What a file is, and the file as it may be kept (see `app.files.sniffing`).

    Raises:
        Unfit: it is not taken.
    """
    with _at_work:
        child = subprocess.Popen(
            [sys.executable, "-m", "app.files.examiner"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            # Nothing of our own environment: it has the addresses and passwords of the services.
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2"},
        )
        try:
            answer, complaint = child.communicate(content, timeout=WALL_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unfit("too_much") from None
        finally:
            child.kill()
            child.wait()
    if child.returncode:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:]
        log.warning("a file could not be examined", code=child.returncode, why=last)
        raise Unfit("too_much" if child.returncode < 0 else "broken")
    return _read(answer)


def _read(answer: bytes) -> Examined:
    line, _, rest = answer.partition(b"\n")
    head = json.loads(line)
    if "problem" in head:
        raise Unfit(head["problem"])
    size = head["preview"]
    return Examined(head["kind"], head["media_type"], rest[size:], rest[:size])
