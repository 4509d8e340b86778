"""A house that keeps its files in a bucket: uploads, downloads, the clean-up and the doctor."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from app import create_app
from app.cli.doctor import examine
from app.config import Settings
from app.db import Database, utc_now
from app.files.clean_up import ORPHAN_DAYS, TEMPORARY_HOURS, clean_up_files
from app.files.field_rules import upload_rules
from app.files.models import StoredFile
from app.files.s3 import S3Storage
from app.files.storage import make_storage, new_key, place_of, preview_of
from app.observability.health import Finding
from tests.bucket.fixtures import Bucket
from tests.factories import CheckedClient, Member, sign_in
from tests.factories.browser import HTMX
from tests.files import samples
from tests.files.s3_server import BUSY, FINE, ScriptedS3
from tests.html_checks import parse_html


def open_house(settings: Settings) -> Flask:
    app = create_app(settings)
    app.config["TESTING"] = True
    return app


@pytest.fixture
def house(settings: Settings, bucket: Bucket) -> Flask:
    return open_house(bucket.of(settings, s3_prefix="house/"))


@pytest.fixture
def theirs(house: Flask, owner: Database, member: Member) -> CheckedClient:
    """The browser of somebody in a house with a bucket."""
    return sign_in(house, owner, member)


def send(browser: CheckedClient, app: Flask, content: bytes, **more: Any) -> TestResponse:
    with app.test_request_context():
        rules = upload_rules("proof", ("image", "pdf"), 20).signed()
    form = {"csrf_token": browser.csrf_token, "rules": rules, **more}
    form["file"] = (io.BytesIO(content), "photo.jpg")
    return browser.client.post("/files", data=form, headers=HTMX)


def sent_id(response: TestResponse) -> UUID:
    assert response.status_code == 200, response.text
    return UUID(parse_html(response.text).find("input", name="v-proof").attributes["value"])


def places(owner: Database, file_id: UUID) -> list[str]:
    with owner.transaction() as session:
        key = session.scalars(select(StoredFile.key).where(StoredFile.id == file_id)).one()
    return [f"house/{place_of(name)}" for name in (key, preview_of(key))]


def test_an_upload_lies_in_the_bucket_alone_and_comes_back(
    house: Flask, theirs: CheckedClient, owner: Database, bucket: Bucket, settings: Settings
) -> None:
    on_disk = sorted((settings.comanda_data / "files").rglob("*"))
    file_id = sent_id(send(theirs, house, samples.picture()))
    assert sorted(bucket.places()) == sorted(places(owner, file_id))
    assert sorted((settings.comanda_data / "files").rglob("*")) == on_disk
    back = theirs.get(f"/files/{file_id}")
    assert (back.status_code, back.mimetype) == (200, "image/jpeg")
    assert back.headers["Content-Disposition"].startswith("attachment;")
    [whole, small] = (
        bucket.client.get_object(Bucket=bucket.name, Key=place)["Body"].read()
        for place in places(owner, file_id)
    )
    assert back.data == whole
    assert theirs.get(f"/files/{file_id}/preview").data == small


def test_what_is_sent_twice_leaves_its_bytes_once(
    house: Flask, theirs: CheckedClient, owner: Database, bucket: Bucket
) -> None:
    first = sent_id(send(theirs, house, samples.picture(), key="once"))
    assert sent_id(send(theirs, house, samples.picture(), key="once")) == first
    assert sorted(bucket.places()) == sorted(places(owner, first))


def test_an_object_that_is_lost_is_404(
    house: Flask, theirs: CheckedClient, owner: Database, bucket: Bucket
) -> None:
    file_id = sent_id(send(theirs, house, samples.picture()))
    for place in places(owner, file_id):
        bucket.client.delete_object(Bucket=bucket.name, Key=place)
    assert theirs.get(f"/files/{file_id}").status_code == 404
    assert theirs.get(f"/files/{file_id}/preview").status_code == 404


def test_the_clean_up_empties_the_bucket_of_what_nobody_needs(
    house: Flask, theirs: CheckedClient, owner: Database, database: Database, bucket: Bucket
) -> None:
    storage = house.extensions["comanda"].files
    old, new = (sent_id(send(theirs, house, samples.picture())) for _ in range(2))
    keeps = places(owner, new)
    goes = places(owner, old)
    with owner.transaction() as session:
        long_ago = utc_now() - timedelta(hours=TEMPORARY_HOURS + 1)
        session.execute(update(StoredFile).where(StoredFile.id == old).values(created_at=long_ago))
    assert clean_up_files(database, storage).files >= 1
    assert not set(goes) & set(bucket.places())
    assert sorted(bucket.places()) == sorted(keeps)


def test_objects_without_a_row_are_removed_after_days(
    house: Flask,
    theirs: CheckedClient,
    owner: Database,
    database: Database,
    bucket: Bucket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = house.extensions["comanda"].files
    known = sent_id(send(theirs, house, samples.picture()))
    storage.put(new_key(), b"left behind")
    assert clean_up_files(database, storage).orphans == 0
    # Its server says itself when something was written: for it to be long ago, time has to pass.
    later = utc_now() + timedelta(days=ORPHAN_DAYS, minutes=1)
    monkeypatch.setattr("app.files.clean_up.utc_now", lambda: later)
    assert clean_up_files(database, storage).orphans == 1
    assert sorted(bucket.places()) == sorted(places(owner, known))


# Out of reach


def away_from(settings: Settings, server: ScriptedS3) -> Settings:
    told = {
        "s3_bucket": "house",
        "s3_endpoint_url": server.address,
        "s3_access_key_id": "id",
        "s3_secret_access_key": "secret",
    }
    return settings.model_copy(update=told)


@pytest.fixture
def busy() -> Iterator[ScriptedS3]:
    with ScriptedS3(BUSY) as server:
        yield server


def test_a_bucket_that_is_out_of_reach_is_said_in_words_and_leaves_no_row(
    settings: Settings,
    owner: Database,
    member: Member,
    busy: ScriptedS3,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.files.s3.PAUSES", (0.0, 0.0))
    app = open_house(away_from(settings, busy))
    browser = sign_in(app, owner, member)
    response = send(browser, app, samples.picture())
    assert response.status_code == 503
    assert "Comanda can't reach its files right now." in parse_html(response.text).text
    assert "SlowDown" not in response.text
    with owner.transaction() as session:
        rows = session.scalars(select(StoredFile).where(StoredFile.user_id == member.user_id))
        assert rows.all() == []


def test_a_download_from_a_bucket_that_is_out_of_reach_is_503(
    settings: Settings,
    house: Flask,
    theirs: CheckedClient,
    owner: Database,
    member: Member,
    busy: ScriptedS3,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.files.s3.PAUSES", (0.0, 0.0))
    file_id = sent_id(send(theirs, house, samples.picture()))
    browser = sign_in(open_house(away_from(settings, busy)), owner, member)
    for path in (f"/files/{file_id}", f"/files/{file_id}/preview"):
        assert browser.get(path).status_code == 503


def test_slow_uploads_and_downloads_hold_no_connection_of_the_database(
    settings: Settings, house: Flask, theirs: CheckedClient, owner: Database, member: Member
) -> None:
    """With one connection for all, whoever kept it would have the others wait and fail."""
    file_id = sent_id(send(theirs, house, samples.picture()))
    with ScriptedS3(FINE, seconds=3) as slow:
        app = open_house(away_from(settings, slow).model_copy(update={"database_pool_size": 1}))
        browsers = [sign_in(app, owner, member) for _ in range(3)]
        with ThreadPoolExecutor(2) as pool:
            upload = pool.submit(send, browsers[0], app, samples.pdf())
            download = pool.submit(browsers[1].client.get, f"/files/{file_id}")
            while len(slow.asked) < 2:
                time.sleep(0.02)
            started = time.monotonic()
            assert browsers[2].get("/profile").status_code == 200
            assert time.monotonic() - started < 1.5
            assert not upload.done() and not download.done()
            assert (upload.result().status_code, download.result().status_code) == (200, 200)


# The doctor


def look(settings: Settings) -> Finding:
    services = create_app(settings).extensions["comanda"]
    [found] = [each for each in examine(services) if each.name == "files"]
    return found


def test_the_doctor_tries_the_bucket_out_and_leaves_nothing_there(
    settings: Settings, bucket: Bucket
) -> None:
    found = look(bucket.of(settings))
    assert found.ok
    assert f"the bucket {bucket.name} at {bucket.address}" in found.detail
    assert bucket.places() == []


def test_the_doctor_says_what_is_wrong_with_the_bucket_and_no_secret(
    settings: Settings, bucket: Bucket
) -> None:
    found = look(bucket.of(settings, s3_secret_access_key="a wrong secret"))
    assert not found.ok
    assert "SignatureDoesNotMatch" in found.detail
    assert "S3_BUCKET and the keys" in found.fix
    assert "secret" not in found.detail + found.fix


def test_the_doctor_misses_what_a_bucket_does_not_do(
    settings: Settings, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove(_storage: S3Storage, _name: str) -> None:
        """As a bucket that keeps what is removed."""

    monkeypatch.setattr(S3Storage, "remove", remove)
    assert "still there" in look(bucket.of(settings)).detail


def test_the_doctor_looks_at_the_folder_of_a_house_without_a_bucket(
    settings: Settings, tmp_path: Path
) -> None:
    here = settings.model_copy(update={"comanda_data": tmp_path})
    assert look(here).detail.endswith("made with the first upload")
    make_storage(here).put(new_key(), b"bytes")
    assert (look(here).ok, look(here).detail) == (True, f"{tmp_path / 'files'} is written")
    (tmp_path / "files").rename(tmp_path / "moved")
    (tmp_path / "files").write_text("no folder")
    found = look(here)
    assert (found.ok, "cannot be written" in found.detail) == (False, True)
