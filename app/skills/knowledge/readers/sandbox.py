"""Reading in a process of its own: what a stranger's file breaks there, breaks nothing here.

What the child is, `app.files.child_process` says. It is sent a line of JSON and the file, and
answers in lines of JSON: how far it is, and at the end the reading.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from subprocess import Popen
from typing import Any

import structlog

from app.files.child_process import start_child
from app.skills.knowledge.readers.result import LIMITS, MEGABYTE, Limits, OnProgress, Reading

READERS = "app.skills.knowledge.readers"
LOOK_EVERY = 0.2  # seconds between two looks at the clock and at whether it was cancelled
# What is read of a file is held several times over while its import is planned.
ANSWER_BYTES = 16 * MEGABYTE
PIECE_BYTES = 64 * 1024
_SIGNALS = {
    # The processor's time was used up, or the child's own alarm clock rang.
    -signal.SIGXCPU: "takes_too_long",
    -signal.SIGALRM: "takes_too_long",
    # Only the system's own lack of memory kills so.
    -signal.SIGKILL: "too_big_to_read",
}

log = structlog.get_logger()


def read_apart(
    content: bytes,
    filename: str,
    target: str,
    language: str,
    *,
    on_progress: OnProgress = lambda step, done, total: None,
    is_cancelled: Callable[[], bool] = lambda: False,
    limits: Limits = LIMITS,
) -> Reading:
    """`read_file` in a child process; its end, however it came, is a reading too.

    `is_cancelled` is asked a few times a second, and the child killed when it says so.
    """
    if len(content) > limits.file_bytes:
        return Reading.failed("too_big")
    order = {"filename": filename, "target": target, "language": language, "limits": asdict(limits)}
    with tempfile.TemporaryFile() as question:
        question.write(json.dumps(order).encode() + b"\n" + content)
        question.seek(0)
        with start_child(READERS, question) as child:
            return _listen(child, on_progress, is_cancelled, limits)


def _listen(
    child: Popen[bytes],
    on_progress: OnProgress,
    is_cancelled: Callable[[], bool],
    limits: Limits,
) -> Reading:
    """Hear the child out, unless it takes too long or nobody wants to know any more."""
    assert child.stdout and child.stderr
    deadline = time.monotonic() + limits.wall_seconds
    heard = _Heard(on_progress)
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ, heard.hear)
        selector.register(child.stderr, selectors.EVENT_READ, heard.hear_complaint)
        while True:
            if is_cancelled():
                return Reading.failed("cancelled")
            if time.monotonic() > deadline:
                return Reading.failed("takes_too_long")
            if not _take_in(selector, time.monotonic() + LOOK_EVERY):
                return heard.reading or _how_it_ended(child, heard.complaint)


def _take_in(selector: selectors.BaseSelector, until: float) -> bool:
    """Hear what the child says for a moment; False when it has said all."""
    while (left := until - time.monotonic()) > 0:
        for key, _events in selector.select(left):
            piece = os.read(key.fd, PIECE_BYTES)
            if not piece:
                selector.unregister(key.fileobj)
            elif not key.data(piece):
                return False
        if not selector.get_map():
            return False
    return True


class _Heard:
    """The lines of the child's answer, put together from the pieces in which they come."""

    def __init__(self, on_progress: OnProgress) -> None:
        self.reading: Reading | None = None
        self.complaint = b""
        self._on_progress = on_progress
        self._pieces: list[bytes] = []
        self._bytes = 0

    def hear(self, piece: bytes) -> bool:
        """Take in a piece; False when it is enough: the answer is there, or is endless."""
        self._bytes += len(piece)
        if self._bytes > ANSWER_BYTES:
            self.reading = Reading.failed("too_big_to_read")
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._take(json.loads(b"".join([*self._pieces, line])))
            self._pieces.clear()
        self._pieces.append(rest)
        return self.reading is None

    def hear_complaint(self, piece: bytes) -> bool:
        """Keep the end of what it says when it fails."""
        self.complaint = (self.complaint + piece)[-PIECE_BYTES:]
        return True

    def _take(self, answer: dict[str, Any]) -> None:
        if "reading" in answer:
            self.reading = Reading.from_json(answer["reading"])
        else:
            step, done, total = answer["progress"]
            self._on_progress(step, done, total)


def _how_it_ended(child: Popen[bytes], complaint: bytes) -> Reading:
    """The reading of a child that ended without an answer; why it did goes to the log."""
    child.wait()
    said = complaint.decode("utf-8", "replace").strip().splitlines()
    # The last line of a traceback names the error; what stands after it may quote the file.
    error = said[-1].partition(":")[0] if said else ""
    log.warning("a file could not be read", ended=child.returncode, error=error[:100])
    # Some extensions run out of memory without a word of their own, which is a SystemError.
    if error in ("MemoryError", "SystemError"):
        return Reading.failed("too_big_to_read")
    return Reading.failed(_SIGNALS.get(child.returncode, "could_not_be_read"))
