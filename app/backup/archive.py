"""A backup's file: a zip with the database's dump, the uploaded files and a manifest.

The manifest comes last and names every member with its size and SHA-256, so that half a
file, or a changed one, is never taken for a whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, ValidationError

FORMAT = 1
MANIFEST = "manifest.json"
# A line for each file: this is enough for some hundred thousand.
LARGEST_MANIFEST = 64 * 1024 * 1024
DUMP = "database.dump"
FILES = "files/"
CHUNK = 1024 * 1024


class BackupError(Exception):
    """It cannot be done; the text is one line that says why."""


class Member(BaseModel):
    """One thing in the backup, as it was when it was put there."""

    model_config = ConfigDict(frozen=True)

    bytes: int
    sha256: str


class Manifest(BaseModel):
    """What is in a backup, and what an installation needs to take it.

    `revision` is the schema's; `owner_role` and `app_role` are the names that the dump uses.
    `settings` are those that the data depends on, `secrets` the names of those that were set.
    """

    model_config = ConfigDict(frozen=True)

    format: int
    made_at: str
    revision: str
    postgres: int
    owner_role: str
    app_role: str
    settings: dict[str, Any]
    secrets: list[str]
    members: dict[str, Member]


class Writer:
    """An archive that is being made."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.members: dict[str, Member] = {}

    def add(self, name: str, source: IO[bytes], *, compress: bool = False) -> None:
        """Copy `source` to its end; what is compressed already is only stored."""
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        digest, size = hashlib.sha256(), 0
        with self._archive.open(entry, "w", force_zip64=True) as target:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                target.write(chunk)
        self.members[name] = Member(bytes=size, sha256=digest.hexdigest())

    def close_with(self, manifest: Manifest) -> None:
        self._archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))


@contextmanager
def new_archive(path: Path) -> Iterator[Writer]:
    """Make an archive that only its owner reads: whole under its name, or not at all.

    Raises:
        BackupError: it cannot be written; nothing is left behind.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
                    yield Writer(archive)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        # Not always the backup itself: it may be an uploaded file that cannot be read.
        named = error.filename or f"{path} cannot be written"
        raise BackupError(f"{named}: {error.strerror or error}") from None


class Reader:
    """A backup that was checked: whole, unchanged, and of a kind that is known here."""

    def __init__(self, archive: zipfile.ZipFile, manifest: Manifest) -> None:
        self._archive = archive
        self.manifest = manifest

    def extract(self, name: str, target: Path) -> None:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file, self._archive.open(name) as source:
            while chunk := source.read(CHUNK):
                file.write(chunk)

    def read(self, name: str) -> bytes:
        """A member that is no larger than an upload."""
        return self._archive.read(name)

    @property
    def files(self) -> list[str]:
        """The members that are uploaded files."""
        return [name for name in self.manifest.members if name.startswith(FILES)]


@contextmanager
def open_archive(path: Path) -> Iterator[Reader]:
    """Open a backup once every byte of it was checked.

    Raises:
        BackupError: it is no backup, not a whole one, or a newer one.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _read_manifest(archive, path)
            _check_members(archive, manifest, path)
            yield Reader(archive, manifest)
    except OSError as error:
        named = error.filename or f"{path} cannot be read"
        raise BackupError(f"{named}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise BackupError(f"{path} is not a whole backup: it is damaged or cut short") from None


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    try:
        if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
            raise BackupError(f"{path} has a list of contents that is too long to be one")
        facts = json.loads(archive.read(MANIFEST))
        if isinstance(facts, dict) and isinstance(facts.get("format"), int):
            if facts["format"] > FORMAT:
                raise BackupError(f"{path} was made by a newer Comanda; restore it with that one")
            return Manifest.model_validate(facts)
    except (KeyError, ValueError, ValidationError, RecursionError):
        pass
    raise BackupError(f"{path} is not a backup of Comanda, or its list of contents is damaged")


def _check_members(archive: zipfile.ZipFile, manifest: Manifest, path: Path) -> None:
    there = {entry.filename for entry in archive.infolist()} - {MANIFEST}
    if there != set(manifest.members) or DUMP not in there:
        raise BackupError(f"{path} is damaged: its contents are not those of its list")
    for name, member in manifest.members.items():
        if not _is_plain(name):
            raise BackupError(f"{path} is not a backup of Comanda: it has a file named {name!r}")
        digest, size = hashlib.sha256(), 0
        with archive.open(name) as source:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
        if (size, digest.hexdigest()) != (member.bytes, member.sha256):
            raise BackupError(f"{path} is damaged: {name} is not what it was")


def _is_plain(name: str) -> bool:
    """Whether a name leads nowhere but into the folder it is put in."""
    if name == DUMP:
        return True
    steps = PurePosixPath(name).parts
    inside = name.startswith(FILES) and len(steps) > 1 and str(PurePosixPath(name)) == name
    return inside and not {"..", "."} & set(steps) and "\\" not in name and "\0" not in name
