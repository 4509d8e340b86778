"""Bytes on a disk or in a bucket: under names that nobody guesses, whole or not at all."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from app.config import Settings
from app.db import utc_now
from app.files import storage as storage_module
from app.files.errors import StorageAway
from app.files.s3 import S3Storage
from app.files.spool import SpooledFile
from app.files.storage import DiskStorage, Storage, make_storage, new_key, place_of, preview_of
from tests.bucket.fixtures import Bucket


@pytest.fixture
def disk(tmp_path: Path) -> DiskStorage:
    return DiskStorage(tmp_path / "files")


@pytest.fixture(params=["disk", "bucket"])
def storage(request: pytest.FixtureRequest, settings: Settings) -> Storage:
    """Each of the two, which do the same."""
    if request.param == "disk":
        found: DiskStorage = request.getfixturevalue("disk")
        return found
    bucket: Bucket = request.getfixturevalue("bucket")
    return make_storage(bucket.of(settings, s3_prefix="a-house/"))


def names(storage: Storage) -> list[str]:
    return list(storage.old_names(utc_now() + timedelta(minutes=1)))


def read(storage: Storage, name: str) -> bytes:
    with storage.open(name) as file:
        return file.read()


def test_a_house_keeps_its_files_in_its_bucket_where_it_has_one(
    settings: Settings, bucket: Bucket
) -> None:
    assert isinstance(make_storage(settings), DiskStorage)
    assert isinstance(make_storage(bucket.of(settings)), S3Storage)


# What both do


def test_what_is_put_is_there_until_it_is_removed(storage: Storage) -> None:
    key = new_key()
    storage.put(key, b"bytes")
    storage.put(preview_of(key), b"few")
    assert read(storage, key) == b"bytes"
    storage.remove(key)
    storage.remove(key)
    with pytest.raises(FileNotFoundError):
        storage.open(key)
    assert names(storage) == [preview_of(key)]


def test_what_is_put_again_is_what_was_put_last(storage: Storage) -> None:
    key = new_key()
    storage.put(key, b"first")
    storage.put(key, b"second and longer")
    storage.put(key, b"third")
    assert read(storage, key) == b"third"
    assert names(storage) == [key]


@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 40_000], ids=["none", "10 MB"])
def test_any_bytes_come_back_as_they_were(storage: Storage, content: bytes) -> None:
    key = new_key()
    storage.put(key, content)
    assert read(storage, key) == content


def test_a_file_is_kept_whole_wherever_it_was_read_to_and_as_often_as_asked(
    storage: Storage,
) -> None:
    with SpooledFile() as file:
        file.write(bytes(range(256)) * 40_000)
        for _ in range(2):
            key = new_key()
            storage.put(key, file)
            file.seek(0)
            assert read(storage, key) == file.read()


def test_what_was_never_there_is_not_found_and_can_be_removed(storage: Storage) -> None:
    key = new_key()
    with pytest.raises(FileNotFoundError):
        storage.open(key)
    storage.remove(key)
    assert names(storage) == []


@pytest.mark.parametrize("name", ["../secrets.json", "a" * 31, "/etc/passwd", "", "A" * 32])
def test_no_other_name_leads_anywhere(storage: Storage, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        storage.open(name)
    with pytest.raises(FileNotFoundError):
        storage.put(name, b"x")
    with pytest.raises(FileNotFoundError):
        storage.remove(name)


def test_only_what_is_old_is_listed(storage: Storage) -> None:
    storage.put(new_key(), b"bytes")
    assert list(storage.old_names(utc_now() - timedelta(minutes=1))) == []
    assert len(names(storage)) == 1


# What a disk does


def test_only_the_house_can_read_its_files(disk: DiskStorage) -> None:
    key = new_key()
    disk.put(key, b"bytes")
    path = disk.folder / place_of(key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, path.parent.parent, disk.folder):
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0


def test_a_disk_that_is_full_leaves_nothing_under_the_name(
    disk: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    key = new_key()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        disk.put(key, b"bytes")
    assert names(disk) == []


@pytest.mark.fault(42)
def test_a_disk_that_is_nearly_full_takes_no_file(
    disk: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.put(new_key(), b"bytes")
    monkeypatch.setattr(storage_module, "LEAST_FREE_BYTES", 1 << 62)
    with pytest.raises(
        StorageAway, match="Comanda can't reach its files right now\\. Try again in a moment\\."
    ):
        disk.put(new_key(), b"bytes")
    assert len(names(disk)) == 1
