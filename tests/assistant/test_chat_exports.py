"""Exporting many chats: made in the background, watched, its person's alone, gone after a day."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text, update

from app.assistant.models import ChatExport
from app.assistant.threads import export_jobs as chat_exports
from app.assistant.threads.export_jobs import (
    FEW_CHATS,
    KEPT,
    LOST_AFTER,
    export_chats,
    forget_chat_export,
)
from app.db import Database, utc_now
from app.files.storage import Storage
from app.notifications.services import list_notifications
from tests.factories import CheckedClient, Member, make_group, make_thread, make_user, sign_in

MANY = FEW_CHATS + 2


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, make_group(owner, "Casa Prueba", timezone="America/Chicago"))


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    return sign_in(app, owner, member)


@pytest.fixture
def storage(app: Flask) -> Storage:
    files: Storage = app.extensions["comanda"].files
    return files


@pytest.fixture
def chats(database: Database, member: Member) -> list[UUID]:
    return [make_thread(database, member, f"Chat {number}") for number in range(MANY)]


def jobs(database: Database, member: Member, task: str = "export_chats") -> list[dict[str, Any]]:
    """The arguments of the person's jobs that wait."""
    with database.transaction() as session:
        rows = session.execute(
            text(
                "SELECT args FROM procrastinate_jobs WHERE task_name = :task AND status = 'todo'"
                " AND args->>'user_id' = :user ORDER BY id"
            ),
            {"task": f"comanda:{task}", "user": str(member.user_id)},
        )
        return [dict(row.args) for row in rows]


def row(owner: Database, member: Member) -> ChatExport:
    with owner.transaction() as session:
        found = session.scalars(
            select(ChatExport).where(ChatExport.user_id == member.user_id)
        ).one()
        session.expunge(found)
        return found


def change(owner: Database, member: Member, **values: Any) -> None:
    with owner.transaction() as session:
        mine = update(ChatExport).where(ChatExport.user_id == member.user_id)
        session.execute(mine.values(**values))


def told(database: Database, member: Member) -> list[tuple[str, str, str]]:
    with database.transaction(member.scope) as session:
        return [(n.text_en, n.text_es, n.url) for n in list_notifications(session)[0]]


def names_in(storage: Storage, export: ChatExport) -> list[str]:
    with storage.open(export.key) as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        assert archive.testzip() is None
        return archive.namelist()


@pytest.fixture
def made(
    database: Database, owner: Database, storage: Storage, member: Member,
    browser: CheckedClient, chats: list[UUID],
) -> ChatExport:  # fmt: skip
    """An export that is ready."""
    assert browser.post("/chats/export").status_code == 303
    [job] = jobs(database, member)
    export_chats(database, storage, **job)
    return row(owner, member)


def test_a_few_chats_are_sent_at_once_and_many_are_not_written_while_somebody_waits(
    browser: CheckedClient, database: Database, member: Member
) -> None:
    make_thread(database, member, "One chat")
    page = browser.page("/chats")
    assert page.find("a", href="/chats/export.zip").text.strip() == "Export all"
    assert browser.get("/chats/export.zip").mimetype == "application/zip"
    for number in range(FEW_CHATS):
        make_thread(database, member, f"Chat {number}")
    answer = browser.get("/chats/export.zip")
    assert (answer.status_code, answer.location) == (303, "/chats")
    page = browser.page("/chats")
    assert "Choose “Export all”" in page.text
    assert page.find("section", id="chat-export").find("form").attributes["action"] == (
        "/chats/export"
    )
    assert not page.find_all("a", href="/chats/export.zip")
    # Looking at it begins nothing.
    assert jobs(database, member) == []


def test_it_is_watched_told_and_downloaded(
    app: Flask, owner: Database, database: Database, storage: Storage, member: Member,
    browser: CheckedClient, chats: list[UUID],
) -> None:  # fmt: skip
    waiting = browser.post_fragment("/chats/export")
    part = waiting.find("section", id="chat-export")
    assert part.attributes["hx-trigger"] == "every 1s"
    assert f"0 of {MANY}" in waiting.text
    assert browser.page("/chats").find("progress")
    [job] = jobs(database, member)
    export_chats(database, storage, **job)
    ready = browser.fragment("/chats/export")
    assert "hx-trigger" not in ready.find("section", id="chat-export").attributes
    [line] = told(database, member)
    assert line[0].startswith("Your chats are ready")
    assert line[1].startswith("Tus conversaciones están listas")
    assert line[2] == "/chats"
    answer = browser.get(ready.find("a").attributes["href"])
    assert answer.mimetype == "application/zip"
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=chats-")
    assert answer.headers["Cache-Control"] == "no-store"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        names = archive.namelist()
        assert len(set(names)) == 2 * MANY
        bodies = [json.loads(archive.read(n)) for n in names if n.endswith(".json")]
    assert {UUID(body["id"]) for body in bodies} == set(chats)
    assert {body["house"] for body in bodies} == {"Casa Prueba"}
    assert row(owner, member).size == len(answer.data)


def test_it_speaks_the_language_and_zone_of_its_person(
    app: Flask, owner: Database, database: Database, storage: Storage, member: Member
) -> None:
    person = make_user(owner, member.group_id, language="es")
    make_thread(database, person, "¿Cuánto tiempo?")
    sign_in(app, owner, person).post("/chats/export")
    [job] = jobs(database, person)
    # Nothing of a request is there when a worker does it.
    export_chats(database, storage, **job)
    with storage.open(row(owner, person).key) as file, zipfile.ZipFile(file) as archive:
        [markdown] = [archive.read(n).decode() for n in archive.namelist() if n.endswith(".md")]
    assert "## Tú · " in markdown
    assert "Exportada el" in markdown
    assert "(America/Chicago)" in markdown


def test_two_at_once_are_one_and_another_comes_when_it_is_over(
    database: Database, owner: Database, storage: Storage, member: Member,
    browser: CheckedClient, chats: list[UUID],
) -> None:  # fmt: skip
    for _ in range(3):
        browser.post("/chats/export")
    [job] = jobs(database, member)
    first = row(owner, member)
    export_chats(database, storage, **job)
    # The worker was only slow, and another has done the same.
    export_chats(database, storage, **job)
    assert len(names_in(storage, row(owner, member))) == 2 * MANY
    assert len(told(database, member)) == 1
    browser.post("/chats/export")
    again = row(owner, member)
    assert (again.id != first.id, again.key, again.status) == (True, first.key, "waiting")
    # What belongs to the one before says nothing any more.
    forget_chat_export(database, storage, **job)
    assert row(owner, member).id == again.id
    assert browser.get(f"/chats/export/{first.id}.zip").status_code == 404


@pytest.mark.fault(36)
def test_a_job_that_was_killed_begins_again_and_ends_with_all_of_it(
    database: Database, owner: Database, storage: Storage, member: Member,
    browser: CheckedClient, chats: list[UUID], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    class Killed(BaseException):
        pass

    def as_zip_until(*arguments: Any) -> Iterator[bytes]:
        for number, piece in enumerate(whole(*arguments)):
            if number > 3:
                raise Killed
            yield piece

    whole = chat_exports.as_zip
    browser.post("/chats/export")
    [job] = jobs(database, member)
    monkeypatch.setattr(chat_exports, "as_zip", as_zip_until)
    with pytest.raises(Killed):
        export_chats(database, storage, **job)
    monkeypatch.undo()
    half = row(owner, member)
    assert half.status == "working"
    with pytest.raises(FileNotFoundError):
        storage.open(half.key)
    assert browser.get(f"/chats/export/{half.id}.zip").status_code == 404
    export_chats(database, storage, **job)
    assert len(names_in(storage, row(owner, member))) == 2 * MANY


def test_how_far_it_is_stands_in_its_row(
    database: Database, owner: Database, storage: Storage, member: Member,
    browser: CheckedClient, chats: list[UUID], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(chat_exports, "TELL_EVERY", 0.0)
    seen: list[str] = []
    tell = chat_exports.Job.tell

    def look(job: chat_exports.Job) -> None:
        tell(job)
        seen.append(browser.fragment("/chats/export").find("span", id="export-step").text)

    monkeypatch.setattr(chat_exports.Job, "tell", look)
    browser.post("/chats/export")
    [job] = jobs(database, member)
    export_chats(database, storage, **job)
    assert [line.split(". ")[-1].strip() for line in seen[:2]] == [f"1 of {MANY}", f"2 of {MANY}"]
    assert len(seen) == MANY


def test_a_cancelled_one_ends_and_leaves_nothing(
    database: Database, owner: Database, storage: Storage, member: Member,
    browser: CheckedClient, chats: list[UUID], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(chat_exports, "TELL_EVERY", 0.0)
    browser.post("/chats/export")
    [job], key = jobs(database, member), row(owner, member).key
    put = storage.put

    def cancel_then_put(name: str, content: bytes) -> None:
        browser.post("/chats/export/cancel")
        put(name, content)

    monkeypatch.setattr(storage, "put", cancel_then_put)
    export_chats(database, storage, **job)
    with pytest.raises(FileNotFoundError):
        storage.open(key)
    assert told(database, member) == []
    assert browser.page("/chats").find("section", id="chat-export").attributes["data-status"] == ""


def test_a_ready_file_can_be_deleted(
    browser: CheckedClient, storage: Storage, made: ChatExport
) -> None:
    part = browser.post_fragment("/chats/export/cancel")
    assert "Export all" in part.text
    assert browser.get(f"/chats/export/{made.id}.zip").status_code == 404
    with pytest.raises(FileNotFoundError):
        storage.open(made.key)


def test_nobody_else_sees_it(app: Flask, owner: Database, member: Member, made: ChatExport) -> None:
    path = f"/chats/export/{made.id}.zip"
    for other in (make_user(owner, member.group_id, "admin"), make_user(owner)):
        stranger = sign_in(app, owner, other)
        assert stranger.get(path).status_code == 404
        assert "ready" not in stranger.get("/chats/export", headers={"HX-Request": "true"}).text
        stranger.post("/chats/export/cancel")
    assert row(owner, member).status == "ready"
    assert "/sign-in" in app.test_client().get(path).location


def test_after_a_day_it_is_gone(
    database: Database, owner: Database, storage: Storage, member: Member,
    browser: CheckedClient, made: ChatExport,
) -> None:  # fmt: skip
    [job] = jobs(database, member, "forget_chat_export")
    # Not found any more, even where the job that removes it is late.
    change(owner, member, updated_at=utc_now() - KEPT)
    assert browser.get(f"/chats/export/{made.id}.zip").status_code == 404
    assert "Export all" in browser.page("/chats").text
    forget_chat_export(database, storage, **job)
    with pytest.raises(FileNotFoundError):
        storage.open(made.key)
    with owner.transaction() as session:
        assert session.get(ChatExport, made.id) is None
    forget_chat_export(database, storage, **job)


@pytest.mark.fault(36)
def test_one_that_fails_or_is_lost_says_so_and_can_be_asked_for_again(
    database: Database, owner: Database, storage: Storage, member: Member,
    browser: CheckedClient, chats: list[UUID], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def no_room(_name: str, _content: bytes) -> None:
        raise OSError("no room")

    browser.post("/chats/export")
    [job] = jobs(database, member)
    monkeypatch.setattr(storage, "put", no_room)
    with pytest.raises(OSError, match="no room"):
        export_chats(database, storage, **job)
    assert row(owner, member).status == "working", "it is tried again"
    export_chats(database, storage, is_last_try=True, **job)
    monkeypatch.undo()
    assert "could not be exported" in browser.page("/chats").text
    assert [line[0] for line in told(database, member)] == [
        "Your chats could not be exported. Try again."
    ]
    browser.post("/chats/export")
    assert row(owner, member).status == "waiting"
    change(owner, member, updated_at=utc_now() - LOST_AFTER)
    assert "could not be exported" in browser.page("/chats").text
    browser.post("/chats/export")
    assert len(jobs(database, member)) == 3


def test_its_addresses_ask_for_a_token_and_their_method(
    browser: CheckedClient, database: Database, member: Member
) -> None:
    for path in ("/chats/export", "/chats/export/cancel"):
        assert browser.post(path, token=False).status_code == 400
    assert browser.get("/chats/export/cancel").status_code == 405
    assert jobs(database, member) == []
