"""The installation's files in a backup: out of a folder or a bucket, and into either of them again.

In the backup they lie where they would in a folder, so that one may change from one kind of
storage to the other with it.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from app.backup.archive import FILES, BackupError, Reader, Writer
from app.config import Settings
from app.db import utc_now
from app.files.errors import StorageAway
from app.files.storage import Storage, files_folder, make_storage, name_at, place_of


def add_files(archive: Writer, settings: Settings) -> None:
    """Copy what was uploaded, wherever it is.

    Raises:
        BackupError: its bucket is out of reach.
    """
    if not settings.s3_bucket:
        add_folder(archive, files_folder(settings))
        return
    try:
        _add_objects(archive, make_storage(settings))
    except StorageAway as error:
        raise BackupError(f"The bucket {settings.s3_bucket}: {error.reason}") from None


def add_folder(archive: Writer, folder: Path) -> None:
    """The installation's files, where it has any."""
    if not folder.is_dir():
        return
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue
        # What nobody needs may be removed meanwhile, and a file that is being written renamed.
        with suppress(FileNotFoundError), file.open("rb") as source:
            name = FILES + file.relative_to(folder).as_posix()
            archive.add(name, source, compress=True)


def _add_objects(archive: Writer, storage: Storage) -> None:
    # The clocks of two machines differ; nothing has been written tomorrow.
    for name in storage.old_names(utc_now() + timedelta(days=1)):
        with suppress(FileNotFoundError), storage.open(name) as source:
            archive.add(FILES + place_of(name), source, compress=True)


class Unpacked(Protocol):
    """Files that were taken out of a backup, for an installation that is not restored yet."""

    def take_over(self) -> None:
        """Make them the files of the installation, whose database is restored by now."""

    def forget(self) -> None:
        """Leave the installation the files that it had."""


def unpack_files(backup: Reader, settings: Settings) -> Unpacked:
    """Put the backup's files where they will be looked for; those it has stay as they are.

    Raises:
        BackupError: they cannot be put there.
    """
    if settings.s3_bucket:
        return _InBucket(backup, settings)
    return _InFolder(backup, files_folder(settings))


class _InFolder:
    """Files beside those that are there, where a rename will do later."""

    def __init__(self, backup: Reader, folder: Path) -> None:
        self._folder, self._new = folder, folder.with_name("files.new")
        self.forget()
        try:
            for name in backup.files:
                backup.extract(name, self._new / name.removeprefix(FILES))
        except OSError as error:
            self.forget()
            raise BackupError(f"{self._new} cannot be written: {error.strerror or error}") from None

    def take_over(self) -> None:
        try:
            self._rename()
        except OSError as error:
            raise BackupError(
                f"The database is restored, but its files lie in {self._new} still:"
                f" {error.strerror or error}. Move them to {self._folder}."
            ) from None

    def forget(self) -> None:
        shutil.rmtree(self._new, ignore_errors=True)

    def _rename(self) -> None:
        old = self._folder.with_name("files.old")
        shutil.rmtree(old, ignore_errors=True)
        if self._folder.exists():
            self._folder.rename(old)
        if self._new.exists():
            self._new.rename(self._folder)
        shutil.rmtree(old, ignore_errors=True)


class _InBucket:
    """Objects among those that are there: a name is given once, so that none is in the way.

    Nothing is removed, because another installation may keep its own there: one that was restored
    for a drill, with the settings of the one that is at work. The clean-up removes after days
    what the database does not know.
    """

    def __init__(self, backup: Reader, settings: Settings) -> None:
        storage = make_storage(settings)
        try:
            for member in backup.files:
                # What has no such name is nobody's: no row leads to it.
                if name := name_at(member.removeprefix(FILES)):
                    storage.put(name, backup.read(member))
        except StorageAway as error:
            raise BackupError(f"The bucket {settings.s3_bucket}: {error.reason}") from None

    def take_over(self) -> None:
        """They are there."""

    def forget(self) -> None:
        """They are removed by the clean-up."""
