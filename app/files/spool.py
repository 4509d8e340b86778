"""Files on their way: on the disk and without a name, so that nothing is left of them.

Not in the system's folder for temporary files, which is memory on many machines.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

import structlog

from app.files.errors import StorageAway
from app.files.kinds import KIB
from app.jobs.system_threads import RealThreads

# What is smaller costs less in memory than in a file; of a form that brings many, so many do.
IN_MEMORY_BYTES, MOST_IN_MEMORY = 64 * KIB, 4
PIECE_BYTES = 64 * KIB

_READING = RealThreads(2)
log = structlog.get_logger()


class SpooledFile(SpooledTemporaryFile[bytes]):
    """A file that is gone once it is closed; `size` is how much was written to it, in bytes."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(IN_MEMORY_BYTES, dir=_make(folder))
        self.size = 0

    def write(self, content: bytes) -> int:  # type: ignore[override]
        """Write a piece.

        Raises:
            StorageAway: the disk does not take it.
        """
        self.size += len(content)
        with _told():
            return super().write(content)

    def rollover(self) -> None:
        """Go on in a file.

        Raises:
            StorageAway: there is no room for one.
        """
        with _told():
            super().rollover()


class Spool:
    """The files of one form, which are written one after the other; closed, all are gone."""

    def __init__(self) -> None:
        self._files: list[SpooledFile] = []
        self._before_last = 0

    @property
    def count(self) -> int:
        """How many files there are."""
        return len(self._files)

    @property
    def size(self) -> int:
        """How much was written to all of them, in bytes."""
        return self._before_last + (self._files[-1].size if self._files else 0)

    def add(self, folder: Path | None) -> SpooledFile:
        """One more file, which is written from now on; those before it are whole."""
        self._before_last = self.size
        self._files.append(SpooledFile(folder))
        if self.count > MOST_IN_MEMORY:
            self._files[-1].rollover()
        return self._files[-1]

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_error: object) -> None:
        for each in self._files:
            each.close()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageAway(f"spooling: {error.strerror}") from error


def _make(folder: Path | None) -> str | None:
    """The folder, or None (the system's own) where there is none or it cannot be made."""
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        log.warning("uploads are spooled in the system's folder", why=error.strerror)
        return None
    return str(folder)


def size_of(file: IO[bytes]) -> int:
    """How long a file is, in bytes; it is left at its beginning."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def digest_of(file: IO[bytes]) -> str:
    """The SHA-256 of a file in hexadecimal; it is left at its beginning."""
    file.seek(0)
    digest = _READING.run(lambda: hashlib.file_digest(file, "sha256"))  # type: ignore[arg-type]
    file.seek(0)
    return digest.hexdigest()
