"""Child processes that look at what strangers send: what breaks there, breaks nothing here.

A child has no settings, no database, and little memory and time; it can write no file (see
`app.files.child_process_limits`). It is given the file as its standard input, and answers on its
output.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
# Nothing of our own environment: it has the addresses and passwords of the services.
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


@contextmanager
def start_child(
    module: str, content: IO[bytes], *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A child that runs this module; it is killed and gone at the end, however it went."""
    child = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=content,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=_ENVIRONMENT,
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdout, child.stderr):
            if pipe:
                pipe.close()
