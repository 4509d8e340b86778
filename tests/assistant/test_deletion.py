"""Deleted chats: back within half an hour, gone with their words an hour later."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text, update

from app.assistant.models import ChatExport, Message, Proposal, Thread, Turn
from app.assistant.threads.deletion import (
    KEPT,
    UNDO,
    delete_thread,
    forget_deleted_chats,
    restore_thread,
)
from app.assistant.threads.history import find_threads
from app.db import Database, utc_now
from app.errors import NotFound
from app.files.storage import new_key
from app.skills.service_requests.models import ServiceRequest
from app.web.idempotency import KeyedAnswer
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import CheckedClient, Member, answer, ask, make_thread, make_user, sign_in
from tests.factories.service_requests import make_request


def delete(
    database: Database, owner: Database, who: Member, thread_id: UUID, ago: timedelta
) -> None:
    """Delete a conversation, so long ago."""
    with database.session(who.scope) as session:
        delete_thread(session, thread_id)
    with owner.transaction() as session:
        then = {"deleted_at": utc_now() - ago}
        session.execute(update(Thread).where(Thread.id == thread_id).values(then))


def words_of(owner: Database, thread_id: UUID) -> list[str]:
    with owner.transaction() as session:
        said = select(Message.content).where(Message.thread_id == thread_id)
        return list(session.scalars(said.order_by(Message.id)))


def test_a_deletion_is_undone_where_it_is_told(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, "Who can swap with me?")
    browser.post(f"/chats/{thread_id}/delete")
    assert f"/chats/{thread_id}/restore" in browser.get("/chats").text
    browser.post(f"/chats/{thread_id}/restore")
    page = browser.get("/chats").text
    assert "“Who can swap with me?” is back." in page
    assert f"/chat/{thread_id}" in page
    assert "/restore" not in page
    # Pressed once more, nothing happens.
    assert browser.post(f"/chats/{thread_id}/restore").status_code == 303
    with database.transaction(member.scope) as session:
        assert len(find_threads(session, "swap")) == 1


def test_what_was_deleted_too_long_ago_does_not_come_back(
    database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, "An old one")
    delete(database, owner, member, thread_id, UNDO + timedelta(seconds=5))
    page = browser.page("/chats").text
    assert "An old one" not in page
    browser.post(f"/chats/{thread_id}/restore")
    assert "It is too late to undo this." in browser.page("/chats").text
    assert browser.get(f"/chat/{thread_id}").status_code == 404


@pytest.mark.parametrize("who", ["a colleague", "another group"])
def test_nobody_else_brings_it_back(
    app: Flask, owner: Database, database: Database, member: Member, who: str
) -> None:
    thread_id = make_thread(database, member, "A private question")
    delete(database, owner, member, thread_id, timedelta())
    other = make_user(owner, member.group_id if who == "a colleague" else None, role="admin")
    assert sign_in(app, owner, other).post(f"/chats/{thread_id}/restore").status_code == 404
    with database.session(other.scope) as session, pytest.raises(NotFound):
        restore_thread(session, thread_id)
    assert "private" not in sign_in(app, owner, other).page("/chats").text


def test_an_hour_later_the_words_are_gone_and_what_was_done_stays(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    asked = ask(database, member, "taxi $14 to the bank")
    wish = [call("add_expense", '{"item": "taxi", "amount": 14}')]
    answer(app, member, asked, ScriptedProvider(wish, say("Shall I?")))
    thread_id = asked.thread.id
    request = make_request(owner, member, "The ice machine is leaking", thread_id=thread_id)
    kept = make_thread(database, member, "Keep me")
    with owner.transaction() as session:
        day_ago = utc_now() - timedelta(hours=25)
        session.add(
            KeyedAnswer(
                user_id=member.user_id, group_id=member.group_id, key="k", digest="d",
                body={"message": "taxi"}, created_at=day_ago,
            )
        )  # fmt: skip
    delete(database, owner, member, thread_id, KEPT - timedelta(minutes=1))
    forget_deleted_chats(database)
    assert "taxi $14 to the bank" in words_of(owner, thread_id)
    delete_at = utc_now() - KEPT - timedelta(minutes=1)
    with owner.transaction() as session:
        session.execute(update(Thread).where(Thread.id == thread_id).values(deleted_at=delete_at))
    assert forget_deleted_chats(database) >= 1
    assert words_of(owner, thread_id) == []
    assert words_of(owner, kept)[0] == "Keep me"
    with owner.transaction() as session:
        for table in (Turn, Proposal):
            assert session.scalars(select(table).where(table.thread_id == thread_id)).all() == []
        assert session.get(Thread, thread_id) is None
        assert session.get_one(ServiceRequest, request.id).thread_id is None
        mine = {"user_id": member.user_id}
        turns = text("SELECT count(*) FROM turn_facts WHERE user_id = :user_id")
        assert session.scalar(turns, mine) == 1
        answers = text("SELECT count(*) FROM keyed_answers WHERE user_id = :user_id")
        assert session.scalar(answers, mine) == 0


def test_many_are_removed_in_several_goes(
    owner: Database, database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.assistant.threads.deletion._BATCH", 2)
    threads = [make_thread(database, member, f"Chat {n}") for n in range(5)]
    for each in threads:
        delete(database, owner, member, each, KEPT + timedelta(minutes=1))
    assert forget_deleted_chats(database) >= 5
    assert [words_of(owner, each) for each in threads] == [[]] * 5


def test_what_a_program_was_told_goes_with_the_chat(
    owner: Database, database: Database, member: Member
) -> None:
    gone, kept = (make_thread(database, member, f"Chat {n}") for n in range(2))
    with owner.transaction() as session:
        session.add_all(
            KeyedAnswer(
                user_id=member.user_id, group_id=member.group_id, key=f"key of {each}",
                digest="d", body={"sessionId": str(each), "message": "taxi"}, status=200,
            )
            for each in (gone, kept)
        )  # fmt: skip
    delete(database, owner, member, gone, KEPT + timedelta(minutes=1))
    assert forget_deleted_chats(database) >= 1
    with owner.transaction() as session:
        mine = select(KeyedAnswer.key).where(KeyedAnswer.user_id == member.user_id)
        assert session.scalars(mine).all() == [f"key of {kept}"]


def test_a_file_of_all_chats_goes_when_one_of_them_is_deleted(
    app: Flask, owner: Database, database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, "Who can swap with me?")
    files = app.extensions["comanda"].files
    key = new_key()
    files.put(key, b"PK")
    with owner.transaction() as session:
        session.add(
            ChatExport(
                user_id=member.user_id, group_id=member.group_id, key=key,
                letterhead={}, status="ready",
            )
        )  # fmt: skip
    browser.post(f"/chats/{thread_id}/delete")
    with owner.transaction() as session:
        mine = select(ChatExport).where(ChatExport.user_id == member.user_id)
        assert session.scalars(mine).all() == []
    with pytest.raises(FileNotFoundError):
        files.open(key)
