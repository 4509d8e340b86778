"""Bytes on a disk: under names that nobody guesses, whole or not at all."""

from __future__ import annotations

import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from app.db import utc_now
from app.files.storage import DiskStorage, new_key, preview_of


@pytest.fixture
def storage(tmp_path: Path) -> DiskStorage:
    return DiskStorage(tmp_path / "files")


def names(storage: DiskStorage) -> list[str]:
    return list(storage.old_names(utc_now() + timedelta(minutes=1)))


def test_what_is_put_is_there_until_it_is_removed(storage: DiskStorage) -> None:
    key = new_key()
    storage.put(key, b"bytes")
    storage.put(preview_of(key), b"few")
    with storage.open(key) as file:
        assert file.read() == b"bytes"
    storage.remove(key)
    storage.remove(key)
    with pytest.raises(FileNotFoundError):
        storage.open(key)
    assert names(storage) == [preview_of(key)]


def test_only_the_house_can_read_its_files(storage: DiskStorage) -> None:
    key = new_key()
    storage.put(key, b"bytes")
    path = next(storage.folder.glob("??/??/*"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, path.parent.parent, storage.folder):
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("name", ["../secrets.json", "a" * 31, "/etc/passwd", "", "A" * 32])
def test_no_other_name_leads_anywhere(storage: DiskStorage, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        storage.open(name)
    with pytest.raises(FileNotFoundError):
        storage.put(name, b"x")
    with pytest.raises(FileNotFoundError):
        storage.remove(name)


def test_a_disk_that_is_full_leaves_nothing_under_the_name(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    key = new_key()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        storage.put(key, b"bytes")
    assert names(storage) == []


def test_only_what_is_old_is_listed(storage: DiskStorage) -> None:
    storage.put(new_key(), b"bytes")
    assert list(storage.old_names(utc_now() - timedelta(minutes=1))) == []
    assert len(names(storage)) == 1
