"""Where the bytes of files are: under random names, whole or not at all.

A key is made by `new_key`. What stands after a point in a name belongs to the key before it,
so that a picture's preview comes and goes with the picture.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol

from app.config import Settings
from app.files.errors import StorageAway
from app.files.spool import PIECE_BYTES
from app.jobs.system_threads import RealThreads

# Below this no file is taken: the database may keep its own on the same disk.
LEAST_FREE_BYTES = 512 * 1024 * 1024
_WRITING = RealThreads(2)
_NAME = re.compile(r"[0-9a-f]{32}(?:\.[a-z0-9-]{1,32})?")


def new_key() -> str:
    """A name that nobody can guess and that says nothing."""
    return secrets.token_hex(16)


def preview_of(key: str) -> str:
    """The name of the small picture that goes with a picture."""
    return f"{key}.preview"


def base_of(name: str) -> str:
    """The key that a name belongs to."""
    return name.partition(".")[0]


def place_of(name: str) -> str:
    """Where a name's bytes lie in any storage, so that they can be copied to another as they are.

    Raises:
        FileNotFoundError: no storage has names like that.
    """
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(name)
    return f"{name[:2]}/{name[2:4]}/{name}"


def name_at(place: str) -> str | None:
    """The name whose bytes lie there; None where no storage would put any."""
    name = place.rpartition("/")[2]
    return name if _NAME.fullmatch(name) and place_of(name) == place else None


class Storage(Protocol):
    """A place for bytes; how they are named and whose they are is known by `StoredFile`.

    What is kept elsewhere may be out of reach: then each of these raises StorageAway. `spool` is
    the folder on this host for what is on its way there.
    """

    spool: Path

    def put(self, name: str, content: bytes | IO[bytes]) -> None:
        """Keep `content`, or all of a file: when this returns it is there to stay."""

    def open(self, name: str) -> IO[bytes]:
        """The bytes of that name; FileNotFoundError where there are none."""

    def remove(self, name: str) -> None:
        """Let go of that name, if it is there."""

    def old_names(self, before: datetime) -> Iterator[str]:
        """All names that were written before then."""


def files_folder(settings: Settings) -> Path:
    """Where uploads are kept without a bucket; all hosts must see the same folder."""
    return settings.comanda_data.expanduser().absolute() / "files"


def spool_folder(settings: Settings) -> Path:
    """Where files are on their way, on this host."""
    return settings.comanda_data.expanduser().absolute() / "spool"


def make_storage(settings: Settings) -> Storage:
    """The storage of this installation: its bucket where one is set, else its folder."""
    if settings.s3_bucket:
        # What speaks HTTP is loaded by those alone who need it.
        from app.files.s3 import S3Storage

        return S3Storage(settings)
    return DiskStorage(files_folder(settings), spool_folder(settings))


class DiskStorage:
    """Files in a folder, spread over folders of their first letters."""

    def __init__(self, folder: Path, spool: Path | None = None) -> None:
        self.folder, self.spool = folder, spool or folder.with_name("spool")

    def put(self, name: str, content: bytes | IO[bytes]) -> None:
        # A disk takes its time until it has written a file for good.
        _WRITING.run(lambda: self._write(name, as_file(content)))

    def open(self, name: str) -> IO[bytes]:
        return self._path(name).open("rb")

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def old_names(self, before: datetime) -> Iterator[str]:
        for path in self.folder.glob("??/??/*"):
            # Others may be at work here: what has just gone is not there any more.
            with suppress(FileNotFoundError):
                written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                if written < before and _NAME.fullmatch(path.name):
                    yield path.name

    def _write(self, name: str, content: IO[bytes]) -> None:
        path = self._path(name)
        for folder in (self.folder, path.parent.parent, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The database may keep its own on the same disk.
        if shutil.disk_usage(self.folder).free < LEAST_FREE_BYTES:
            raise StorageAway("less than 512 MiB of the disk are free")
        draft = path.with_name(f"{base_of(name)}.new-{secrets.token_hex(4)}")
        try:
            _write(draft, content)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        _sync_folder(path.parent)

    def _path(self, name: str) -> Path:
        return self.folder / place_of(name)


def as_file(content: bytes | IO[bytes]) -> IO[bytes]:
    """Content to be read piece by piece, from its beginning."""
    if isinstance(content, bytes):
        return BytesIO(content)
    content.seek(0)
    return content


def _write(path: Path, content: IO[bytes]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(content, file, PIECE_BYTES)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """A name is there to stay once its folder is written, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
