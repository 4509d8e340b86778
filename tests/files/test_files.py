"""Bringing files and getting them back: who may, what is said, and what comes out."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from app.accounts.models import Membership
from app.db import Database, utc_now
from app.files.field_rules import upload_rules
from app.files.kinds import LARGEST_BYTES, MIB
from app.files.models import StoredFile
from app.files.storage import preview_of
from tests.factories import CheckedClient, Member, make_group, make_user, sign_in
from tests.factories.browser import HTMX
from tests.files import samples
from tests.html_checks import parse_html

ALL_KINDS = ("image", "pdf", "text", "office")


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


def rules(app: Flask, *kinds: str, largest_mib: int = 20) -> str:
    with app.test_request_context():
        return upload_rules("proof", kinds or ALL_KINDS, largest_mib).signed()


def send(
    browser: CheckedClient,
    app: Flask,
    content: bytes,
    name: str = "photo.jpg",
    *,
    htmx: bool = True,
    **more: Any,
) -> TestResponse:
    form = {"csrf_token": browser.csrf_token, "rules": rules(app), **more}
    form["file"] = (io.BytesIO(content), name)
    return browser.client.post("/files", data=form, headers=HTMX if htmx else {})


def sent_id(response: TestResponse) -> UUID:
    assert response.status_code == 200, response.text
    box = parse_html(response.text).find("input", name="v-proof")
    return UUID(box.attributes["value"])


def rows(owner: Database, member: Member) -> int:
    with owner.transaction() as session:
        mine = StoredFile.user_id == member.user_id
        return session.scalar(select(func.count()).where(mine)) or 0


def keep(owner: Database, file_id: UUID) -> None:
    with owner.transaction() as session:
        session.execute(
            update(StoredFile)
            .where(StoredFile.id == file_id)
            .values(state="kept", owner_id=uuid4())
        )


def test_a_photo_is_shown_in_its_field_and_comes_back_without_its_place(
    browser: CheckedClient, app: Flask
) -> None:
    response = send(browser, app, samples.photo_with_place(), "IMG 1.JPEG")
    item = parse_html(response.text)
    assert "IMG 1.jpeg" in item.text
    assert item.find("img").attributes["src"].endswith("/preview")
    file_id = sent_id(response)
    back = browser.get(f"/files/{file_id}")
    assert back.mimetype == "image/jpeg"
    assert b"Secretphone" not in back.data
    assert len(browser.get(f"/files/{file_id}/preview").data) < len(back.data)


def test_a_download_is_saved_and_never_shown(browser: CheckedClient, app: Flask) -> None:
    file_id = sent_id(send(browser, app, samples.pdf(), "Menú “hoy”.pdf"))
    response = browser.get(f"/files/{file_id}")
    said = response.headers
    assert said["Content-Disposition"].startswith("attachment;")
    assert "filename*=UTF-8''Men%C3%BA" in said["Content-Disposition"]
    assert said["X-Content-Type-Options"] == "nosniff"
    assert said["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert said["Cache-Control"] == "no-store"
    assert response.mimetype == "application/pdf"
    assert response.data.startswith(b"%PDF-")
    assert browser.get(f"/files/{file_id}/preview").status_code == 404


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"<svg><script>alert(1)</script></svg>", "logo.png", "Web pages and drawings"),
        (samples.picture() + samples.archive({"a": b"x"}), "photo.jpg", "two kinds of file"),
        (b"MZ\n" + samples.pdf(), "menu.pdf", "two kinds of file"),
        (
            samples.picture()[:2000],
            "photo.jpg",
            "The picture can't be opened: it is damaged or didn't arrive complete.",
        ),
        (samples.png_of_claimed_size(40_000, 40_000), "photo.png", "too many pixels"),
        (samples.pdf("secret"), "menu.pdf", "protected with a password"),
        (b"", "photo.jpg", "empty"),
    ],
    ids=["svg", "photo and zip", "bytes before a PDF", "half", "bomb", "locked", "empty"],
)
def test_what_is_not_taken_is_said_with_what_to_do(
    browser: CheckedClient,
    app: Flask,
    owner: Database,
    member: Member,
    content: bytes,
    name: str,
    words: str,
) -> None:
    response = send(browser, app, content, name)
    assert response.status_code == 422
    assert words in parse_html(response.text).text
    assert rows(owner, member) == 0


def test_a_field_takes_the_kinds_that_it_is_for(browser: CheckedClient, app: Flask) -> None:
    response = send(browser, app, samples.pdf(), "photo.jpg", rules=rules(app, "image"))
    assert (response.status_code, "Only pictures" in response.text) == (422, True)
    response = send(browser, app, samples.TEXT, "log.pdf", rules=rules(app, "pdf", "image"))
    told = "This type of file can't be added here. See below the field which types can."
    assert (response.status_code, told in parse_html(response.text).text) == (422, True)


@pytest.mark.parametrize("size", [MIB + 1, LARGEST_BYTES + 1, LARGEST_BYTES + MIB])
def test_what_is_too_large_for_its_field_or_for_the_house_is_413_in_ones_language(
    app: Flask, owner: Database, size: int
) -> None:
    ana = make_user(owner, language="es")
    spanish = sign_in(app, owner, ana)
    response = send(spanish, app, b"\xff" * size, rules=rules(app, largest_mib=1))
    assert response.status_code == 413
    limit = 1 if size < LARGEST_BYTES + MIB else 20
    assert f"El archivo pesa más de {limit} MB" in response.text
    assert rows(owner, ana) == 0


@pytest.mark.parametrize("signed", ["", "x", "WyJwcm9vZiIsWyJpbWFnZSJdLDIwXQ.forged"])
def test_rules_that_are_not_ours_are_refused(
    browser: CheckedClient, app: Flask, signed: str
) -> None:
    response = send(browser, app, samples.picture(), rules=signed)
    assert response.status_code == 422
    assert "Reload it" in response.text


def test_without_a_file_or_a_token_nothing_is_taken(browser: CheckedClient, app: Flask) -> None:
    form = {"csrf_token": browser.csrf_token, "rules": rules(app)}
    assert browser.client.post("/files", data=form).status_code == 422
    assert send(browser, app, samples.picture(), csrf_token="").status_code == 400
    assert browser.client.get("/files").status_code == 405


def test_who_is_not_signed_in_brings_and_gets_nothing(app: Flask, browser: CheckedClient) -> None:
    file_id = sent_id(send(browser, app, samples.picture()))
    nobody = app.test_client()
    for path in (f"/files/{file_id}", f"/files/{file_id}/preview"):
        response = nobody.get(path)
        assert response.status_code == 303
        assert "/sign-in" in response.headers["Location"]
    sent = {"file": (io.BytesIO(samples.picture()), "a.jpg")}
    assert nobody.post("/files", data=sent).status_code == 303


@pytest.mark.parametrize(
    ("role", "same_group", "is_kept", "status"),
    [
        ("staff", True, False, 404),
        ("staff", True, True, 404),
        ("manager", True, False, 404),
        ("manager", True, True, 200),
        ("admin", True, True, 200),
        ("admin", False, True, 404),
    ],
)
def test_a_file_is_its_owners_and_the_editors_once_it_is_kept(
    browser: CheckedClient,
    app: Flask,
    owner: Database,
    member: Member,
    role: str,
    same_group: bool,
    is_kept: bool,
    status: int,
) -> None:
    file_id = sent_id(send(browser, app, samples.picture()))
    if is_kept:
        keep(owner, file_id)
    other = make_user(owner, member.group_id if same_group else None, role)
    theirs = sign_in(app, owner, other)
    for path in (f"/files/{file_id}", f"/files/{file_id}/preview"):
        assert theirs.get(path).status_code == status
        assert browser.get(path).status_code == 200
    assert browser.get(f"/files/{uuid4()}").status_code == 404


def test_an_upload_that_is_repeated_makes_one_file(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    first = sent_id(send(browser, app, samples.picture(), key="k-1"))
    assert sent_id(send(browser, app, samples.picture(), key="k-1")) == first
    assert sent_id(send(browser, app, samples.picture(), key="k-2")) != first
    other = sign_in(app, owner, make_user(owner, member.group_id))
    assert sent_id(send(other, app, samples.picture(), key="k-1")) != first
    assert rows(owner, member) == 2


def test_an_upload_whose_key_no_database_keeps_stores_nothing(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    storage, later = app.extensions["comanda"].files, utc_now() + timedelta(days=1)
    before = set(storage.old_names(later))
    response = send(browser, app, samples.picture(), key="k\0")
    assert response.status_code == 422
    assert "could not be read" in response.text
    assert rows(owner, member) == 0
    assert set(storage.old_names(later)) == before


def test_an_upload_that_comes_in_twice_at_once_makes_one_file(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    token = browser.csrf_token
    cookie = browser.client.get_cookie("comanda")
    assert cookie

    def post(_number: int) -> UUID:
        client = app.test_client()
        client.set_cookie("comanda", cookie.value)
        form = {"csrf_token": token, "rules": rules(app), "key": "twice"}
        file = (io.BytesIO(samples.picture()), "a.jpg")
        return sent_id(client.post("/files", data={**form, "file": file}, headers=HTMX))

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(post, range(4)))) == 1
    assert rows(owner, member) == 1


def test_a_key_of_another_restaurant_of_ones_own_is_refused_in_words(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    other = make_group(owner)
    with owner.transaction() as session:
        session.add(Membership(user_id=member.user_id, group_id=other, role="staff"))
    elsewhere = sign_in(app, owner, replace(member, group_id=other))
    assert send(elsewhere, app, samples.picture(), key="the same").status_code == 200
    refused = send(browser, app, samples.picture(), key="the same")
    assert refused.status_code == 422
    assert "could not be read" in refused.text
    assert rows(owner, member) == 1


def test_bytes_that_are_lost_are_404_and_no_error(
    browser: CheckedClient, app: Flask, owner: Database
) -> None:
    file_id = sent_id(send(browser, app, samples.picture()))
    with owner.transaction() as session:
        key = session.scalars(select(StoredFile.key).where(StoredFile.id == file_id)).one()
    storage = app.extensions["comanda"].files
    for name, path in ((key, ""), (preview_of(key), "/preview")):
        storage.remove(name)
        assert browser.get(f"/files/{file_id}{path}").status_code == 404


@pytest.mark.fault(42)
def test_nobody_fills_the_disk_with_what_is_sent(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    file_id = sent_id(send(browser, app, samples.picture()))
    keep(owner, file_id)
    kept = update(StoredFile).where(StoredFile.id == file_id)
    with owner.transaction() as session:
        session.execute(kept.values(size=1024 * MIB))
    response = send(browser, app, samples.picture())
    assert response.status_code == 429
    assert "1 GB of files within a day" in response.text
    with owner.transaction() as session:
        session.execute(kept.values(created_at=utc_now() - timedelta(days=1, minutes=1)))
    assert send(browser, app, samples.picture()).status_code == 200


def test_nobody_fills_the_disk_with_what_is_never_sent(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    file_id = sent_id(send(browser, app, samples.picture()))
    with owner.transaction() as session:
        size = update(StoredFile).where(StoredFile.id == file_id).values(size=500 * MIB)
        session.execute(size)
    response = send(browser, app, samples.picture())
    assert response.status_code == 429
    assert "not sent yet" in response.text
    keep(owner, file_id)
    assert send(browser, app, samples.picture()).status_code == 200
