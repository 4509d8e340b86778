"""`python -m app.files.examiner`: the child of `app.files.sandbox`, which see."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from typing import IO, Any

from app.files.content_type import examine_content
from app.files.images import is_image
from app.files.kinds import MIB, Unfit
from app.files.restraint import restrain, take_output
from app.files.table_cells import read_cells

MEMORY_BYTES = 1024 * MIB
# The largest picture that is taken needs two on an old machine.
CPU_SECONDS = 8
ALARM_SECONDS = 40


def main() -> None:
    """Read a file from standard input; answer with a line of JSON.

    Of a table it has the cells. Else it is followed by the preview and, where the file is not kept
    as it came, by what is kept instead.
    """
    answer = _read_table if "table" in sys.argv[1:] else _examine
    with take_output() as answers:
        # What a library prints waits for nobody who reads it.
        os.set_blocking(2, False)
        content = sys.stdin.buffer.read()
        _load_what_reads(content)
        restrain(MEMORY_BYTES, CPU_SECONDS, ALARM_SECONDS)
        try:
            answer(content, answers)
        except Unfit as unfit:
            _write_head(answers, {"problem": unfit.code, "number": unfit.number})
        except (MemoryError, RecursionError):
            _write_head(answers, {"problem": "too_much", "number": 0})


def _read_table(content: bytes, answers: IO[bytes]) -> None:
    _write_head(answers, {"cells": read_cells(content)})


def _examine(content: bytes, answers: IO[bytes]) -> None:
    found = examine_content(content)
    head = {
        "kind": found.kind,
        "media_type": found.media_type,
        "preview": len(found.preview),
        "is_redrawn": found.content is not content,
    }
    _write_head(answers, head)
    answers.write(found.preview)
    if found.content is not content:
        answers.write(found.content)


def _write_head(answers: IO[bytes], head: Mapping[str, Any]) -> None:
    answers.write(json.dumps(head).encode() + b"\n")


def _load_what_reads(content: bytes) -> None:
    """Load what this file needs while the limits allow Python to keep what it compiles."""
    if content.startswith(b"%PDF-"):
        importlib.import_module("pypdfium2")
    elif is_image(content):
        for plugin in ("Gif", "Jpeg", "Mpo", "Png", "WebP"):
            importlib.import_module(f"PIL.{plugin}ImagePlugin")


if __name__ == "__main__":
    main()
