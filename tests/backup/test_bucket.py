"""A house with a bucket in one file: with its objects, which come back to wherever files are."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from app.files.storage import make_storage, new_key, place_of, preview_of
from app.schema import upgrade
from tests.backup.conftest import Found, House
from tests.bucket.fixtures import Bucket

KEY = new_key()
PUT = {KEY: b"%PDF of a menu", preview_of(KEY): b"a small picture", new_key(): b""}
PLACES = {f"files/{place_of(name)}" for name in PUT}


def put_all(house: House) -> None:
    storage = make_storage(house.settings)
    for name, content in PUT.items():
        storage.put(name, content)


def kept(house: House) -> dict[str, bytes]:
    """What the house finds of what was put."""
    storage = make_storage(house.settings)
    there = {}
    for name in PUT:
        with storage.open(name) as file:
            there[name] = file.read()
    return there


@pytest.fixture
def with_bucket(found: Found, bucket: Bucket) -> House:
    house = House(bucket.of(found().settings, s3_prefix="house/"))
    upgrade(house.settings)
    put_all(house)
    return house


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "house.backup"


def members(file: Path) -> set[str]:
    with zipfile.ZipFile(file) as archive:
        return {name for name in archive.namelist() if name.startswith("files/")}


def test_a_backup_has_the_objects_of_the_bucket_and_no_key(
    with_bucket: House, bucket: Bucket, file: Path
) -> None:
    code, said = with_bucket.flask("backup", str(file))
    assert code == 0, said
    assert members(file) == PLACES
    assert "S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY" in said
    with zipfile.ZipFile(file) as archive:
        manifest = archive.read("manifest.json").decode()
    assert bucket.key not in manifest and bucket.key_id not in manifest


def test_it_is_restored_into_a_bucket_and_removes_nothing_there(
    found: Found, with_bucket: House, bucket: Bucket, file: Path
) -> None:
    with_bucket.flask("backup", str(file))
    house = House(bucket.of(found().settings, s3_prefix="another/"))
    other = new_key()
    make_storage(house.settings).put(other, b"of another house")
    code, said = house.flask("restore", str(file))
    assert code == 0, said
    assert kept(house) == PUT
    with make_storage(house.settings).open(other) as stream:
        assert stream.read() == b"of another house"


def test_a_house_moves_from_a_bucket_to_a_folder_and_back(
    found: Found, with_bucket: House, bucket: Bucket, file: Path, tmp_path: Path
) -> None:
    with_bucket.flask("backup", str(file))
    in_folder = found()
    code, said = in_folder.flask("restore", str(file))
    assert code == 0, said
    assert kept(in_folder) == PUT
    (in_folder.settings.comanda_data / "files" / "notes.txt").write_text("nobody's")
    again = tmp_path / "again.backup"
    assert in_folder.flask("backup", str(again))[0] == 0
    in_bucket = House(bucket.of(found().settings, s3_prefix="back/"))
    code, said = in_bucket.flask("restore", str(again))
    assert code == 0, said
    assert kept(in_bucket) == PUT
    assert sum(key.startswith("back/") for key in bucket.places()) == len(PUT)


def test_a_bucket_out_of_reach_stops_a_backup_and_a_restore_in_one_line(
    found: Found, with_bucket: House, bucket: Bucket, file: Path, tmp_path: Path
) -> None:
    with_bucket.flask("backup", str(file))
    wrong = {"s3_secret_access_key": "not the key"}
    closed = House(with_bucket.settings.model_copy(update=wrong))
    half = tmp_path / "half.backup"
    code, said = closed.flask("backup", str(half))
    assert (code, half.exists(), bucket.key in said) == (1, False, False)
    assert f"The bucket {bucket.name}: 403 SignatureDoesNotMatch" in said
    empty = House(bucket.of(found().settings, **wrong))
    code, said = empty.flask("restore", str(file))
    assert code == 1
    assert "SignatureDoesNotMatch" in said
    # Nothing of the house is there: its database is as empty as it was.
    assert "the database is empty" in empty.flask("backup", str(half))[1]
