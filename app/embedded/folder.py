"""The data folder: everything this installation keeps, in one place, readable by its owner only."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from app.embedded.locks import FileLock
from app.errors import ConfigurationError

MEGABYTE = 1024 * 1024
# A new database takes 60 MB before the first row, and the write-ahead log needs room to turn.
FREE_MEGABYTES_FIRST_START = 250
FREE_MEGABYTES = 64


@dataclass(frozen=True)
class Secrets:
    """Made once for a data folder and never shown; URL-safe, so they need no quoting."""

    flask: str
    superuser: str
    owner: str
    app: str

    @classmethod
    def generate(cls) -> Secrets:
        return cls(*(secrets.token_urlsafe(32) for _ in range(4)))


@dataclass(frozen=True)
class DataFolder:
    """The data folder at `path` (absolute), made and checked by `open_folder`."""

    path: Path

    def lock(self, name: str) -> FileLock:
        return FileLock(self.lock_path(name))

    def lock_path(self, name: str) -> Path:
        return self.path / "locks" / f"{name}.lock"

    def log_path(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.log"

    def secrets(self) -> Secrets:
        """Read the secrets, making them when this folder has none yet.

        Raises:
            ConfigurationError: the file is there but cannot be read.
        """
        file = self.path / "secrets.json"
        with self.lock("secrets") as lock:
            lock.take(within=10)
            if not file.exists():
                _write_private(file, json.dumps(asdict(Secrets.generate())))
            try:
                return Secrets(**json.loads(file.read_text()))
            except (ValueError, TypeError):
                raise ConfigurationError(
                    f"COMANDA_DATA: {file} is damaged; put it back from a backup"
                ) from None


def check_space(path: Path, *, first_start: bool) -> None:
    """Refuse to start a service on a disk that is about to be full."""
    needed = FREE_MEGABYTES_FIRST_START if first_start else FREE_MEGABYTES
    free = shutil.disk_usage(path).free // MEGABYTE
    if free < needed:
        raise ConfigurationError(
            f"COMANDA_DATA: the disk of {path} is full: {free} MB free, {needed} MB needed to start"
        )


def open_folder(path: Path) -> DataFolder:
    """Make the data folder where it is missing and check that it can be written to.

    Raises:
        ConfigurationError: it cannot be made or written to; the text says why.
    """
    folder = DataFolder(path.expanduser().absolute())
    try:
        if not folder.path.exists():
            # Two that start together may both find it missing.
            folder.path.mkdir(parents=True, exist_ok=True)
            # Root's services run as another user, who has to pass through, not to look around.
            folder.path.chmod(0o711 if os.geteuid() == 0 else 0o700)
        for inner in ("locks", "logs"):
            _make_private(folder.path / inner)
        folder.lock("probe").release()
        if not os.access(folder.path, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise ConfigurationError(
            f"COMANDA_DATA: cannot write to {folder.path}: {error.strerror}"
        ) from None
    return folder


def _make_private(path: Path) -> None:
    if not path.exists():
        path.mkdir(mode=0o700, exist_ok=True)
        if os.geteuid() == 0:
            owner = path.parent.stat()
            os.chown(path, owner.st_uid, owner.st_gid)


def _write_private(file: Path, text: str) -> None:
    """Write a whole file that only its owner reads, or none of it."""
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    if os.geteuid() == 0:
        owner = file.parent.stat()
        os.chown(draft, owner.st_uid, owner.st_gid)
    draft.replace(file)
