"""Looking at what strangers send in a process of its own (see `app.files.child_process`).

A web server's streams go on meanwhile: waiting for a child is what they do best.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
from threading import Timer
from typing import IO, Any

import structlog

from app.files.child_process import start_child
from app.files.examination_queue import Places
from app.files.kinds import MIB, Unfit
from app.files.result import ExaminedFile
from app.files.spool import PIECE_BYTES, SpooledFile
from app.files.table_cells import Cells

# Far more than the processor time that a child may take: a busy machine is no fault of the file.
WALL_SECONDS = 30
# What is drawn anew is never larger: every pixel of the largest picture that is kept.
LARGEST_ANSWER = 32 * MIB
EXAMINER = "app.files.examiner"
# What the child is told where it is not to examine the file.
TABLE = "table"
_LONGEST_HEAD, _LONGEST_COMPLAINT = 1024, 64 * 1024
# Children of one process at work at the same time; others wait in the order in which they came.
_at_work = Places(2)

log = structlog.get_logger()


def examine(file: IO[bytes], folder: Path | None = None) -> ExaminedFile:
    """What a file is, and the file as it may be kept (see `app.files.examiner`).

    `folder` is where what is drawn anew is put meanwhile. At no time is a whole file in memory.

    Raises:
        Unfit: it is not taken.
    """
    file.seek(0)
    with _at_work.hold(), SpooledFile(folder) as answer:
        _run_child(file, answer)
        return _read(answer, file, folder)


def read_cells_of(file: IO[bytes], folder: Path | None = None) -> Cells:
    """The rows of a table in text (see `app.files.table_cells`).

    Raises:
        Unfit: it is none, or too much of one.
    """
    file.seek(0)
    with _at_work.hold(), SpooledFile(folder) as answer:
        _run_child(file, answer, TABLE)
        cells = _read_head(answer, LARGEST_ANSWER)["cells"]
    return [(line, row) for line, row in cells]


def _run_child(file: IO[bytes], answer: SpooledFile, *task: str) -> None:
    """Have a child look at `file` and write down what it answers.

    Raises:
        Unfit: it broke, or took too long.
    """
    file.flush()
    size = os.fstat(file.fileno()).st_size
    # Opened anew: read only, and with a place of its own in the file.
    with (
        open(f"/proc/self/fd/{file.fileno()}", "rb", buffering=0) as content,
        start_child(EXAMINER, content, *task) as child,
    ):
        # From its first moment: loading Python takes as much as looking at a photo.
        # Where others kept this process, the child may have done its work and be gone.
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, child.pid, _niceness(size))
        complaint = _listen(child, answer)
    if child.returncode:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:]
        log.warning("a file could not be examined", code=child.returncode, why=last)
        raise Unfit("too_much" if child.returncode < 0 else "broken")


def _listen(child: Popen[bytes], answer: SpooledFile) -> bytes:
    """Write down what the child answers until it ends; returns what it complains of.

    Raises:
        Unfit: it answers with too much.
    """
    clock = Timer(WALL_SECONDS, child.kill)
    clock.start()
    try:
        assert child.stdout and child.stderr
        while piece := child.stdout.read(PIECE_BYTES):
            answer.write(piece)
            if answer.size > LARGEST_ANSWER:
                raise Unfit("too_much")
        complaint = child.stderr.read(_LONGEST_COMPLAINT)
        child.wait()
    finally:
        clock.cancel()
    return complaint


def _niceness(size: int) -> int:
    """Whoever waits for a page comes first, and then whoever waits for a small file."""
    return min(19, os.getpriority(os.PRIO_PROCESS, 0) + 1 + 2 * size // MIB)


def _read(answer: SpooledFile, file: IO[bytes], folder: Path | None) -> ExaminedFile:
    head = _read_head(answer, _LONGEST_HEAD)
    preview = answer.read(head["preview"])
    kept = file
    if head["is_redrawn"]:
        kept = SpooledFile(folder)
        shutil.copyfileobj(answer, kept, PIECE_BYTES)
    kept.seek(0)
    return ExaminedFile(head["kind"], head["media_type"], kept, preview)


def _read_head(answer: SpooledFile, longest: int) -> dict[str, Any]:
    """The line of JSON that an answer begins with.

    Raises:
        Unfit: it says what is wrong with the file.
    """
    answer.seek(0)
    head: dict[str, Any] = json.loads(answer.readline(longest))
    if "problem" in head:
        raise Unfit(head["problem"], head["number"])
    return head
