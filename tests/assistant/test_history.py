"""One's own conversations: found by what was said, named, deleted; and nobody else's."""

from __future__ import annotations

from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import update

from app.assistant.history import PAGE_THREADS, find_threads
from app.assistant.models import Thread
from app.db import Database, utc_now
from tests.factories import CheckedClient, Member, ask, make_thread, make_user, sign_in


def found(database: Database, member: Member, words: str) -> list[str]:
    with database.transaction(member.scope) as session:
        return [entry.thread.title for entry in find_threads(session, words)]


@pytest.mark.parametrize(
    "words", ["política", "POLITICA", "de  propinas", "jalapeño", "JALAPENO", "ribeye", "%", "_"]
)
def test_accents_and_case_make_no_difference(
    database: Database, member: Member, words: str
) -> None:
    make_thread(database, member, "¿Política de propinas?", reply="Con jalapeño, 100%_ ribeye.")
    make_thread(database, member, "Something else", reply="Nothing of it.")
    assert found(database, member, words) == ["¿Política de propinas?"]


def test_what_was_said_is_shown_around_the_words(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    long_reply = "word " * 60 + "then **the** oak tree [1] " + "word " * 60
    make_thread(database, member, "Where do we meet?", reply=long_reply)
    page = browser.page("/chats?q=oak+tree")
    assert "then the oak tree word" in page.text
    assert page.text.count("word") < 60
    assert "1 chat has these words." in page.text
    assert "No chat has these words." in browser.page("/chats?q=heliport").text


def test_all_chats_are_listed_a_page_at_a_time(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    for number in range(PAGE_THREADS + 3):
        make_thread(database, member, f"Question {number:02}")
    first = browser.page("/chats")
    rows = [item for item in first.find_all("li") if item.has_class("chat-row")]
    assert len(rows) == PAGE_THREADS
    [more] = [a for a in first.find_all("a") if a.text == "Older chats"]
    rest = browser.page(more.attributes["href"])
    rows = [item for item in rest.find_all("li") if item.has_class("chat-row")]
    assert len(rows) == 3
    assert not [a for a in rest.find_all("a") if a.text == "Older chats"]


def test_a_chat_is_renamed(database: Database, member: Member, browser: CheckedClient) -> None:
    thread_id = make_thread(database, member, "Old name")
    answer = browser.post(f"/chats/{thread_id}/rename", title="  The   new\tname ")
    assert (answer.status_code, answer.location) == (303, "/chats")
    assert "It is called “The new name” now." in browser.page("/chats").text
    assert "The new name" in browser.page(f"/chat/{thread_id}").find("title").text


@pytest.mark.parametrize(
    ("title", "said"),
    [("", "Give the conversation a name."), ("x" * 81, "A name can have 80 characters.")],
)
def test_a_name_must_be_one(
    database: Database, member: Member, browser: CheckedClient, title: str, said: str
) -> None:
    thread_id = make_thread(database, member, "Old name")
    browser.post(f"/chats/{thread_id}/rename", title=title)
    page = browser.page("/chats").text
    assert said in page
    assert "Old name" in page


def test_a_deleted_chat_is_gone_and_its_answer_stopped(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    asked = ask(database, member, "Delete me")
    thread_id = asked.thread.id
    browser.post(f"/chats/{thread_id}/delete")
    page = browser.page("/chats").text
    assert "The conversation is deleted." in page
    assert "Delete me" not in page
    assert browser.get(f"/chat/{thread_id}").status_code == 404
    assert browser.post(f"/chats/{thread_id}/delete").status_code == 404
    with database.transaction(member.scope) as session:
        assert find_threads(session, "Delete me") == []


@pytest.mark.parametrize("who", ["a colleague", "another group"])
def test_what_is_not_yours_does_not_exist(
    app: Flask, owner: Database, database: Database, member: Member, who: str
) -> None:
    thread_id = make_thread(database, member, "A private question")
    group = member.group_id if who == "a colleague" else None
    other = sign_in(app, owner, make_user(owner, group, role="admin"))
    assert "private" not in other.page("/chats").text
    assert "private" not in other.page("/chats?q=private").text.replace('value="private"', "")
    for action in ("rename", "delete"):
        assert other.post(f"/chats/{thread_id}/{action}", title="Mine").status_code == 404
    with database.transaction(member.scope) as session:
        assert session.get_one(Thread, thread_id).title == "A private question"


@pytest.mark.parametrize("before", ["yesterday", "2026-01-01", "", "9999-99-99T00:00:00Z"])
def test_a_moment_that_is_none_is_ignored(
    database: Database, member: Member, browser: CheckedClient, before: str
) -> None:
    make_thread(database, member, "Still here")
    assert "Still here" in browser.page(f"/chats?before={before}").text


def test_a_stranger_is_asked_to_sign_in(app: Flask) -> None:
    assert app.test_client().get("/chats").location == "/sign-in?next=/chats"
    assert app.test_client().post(f"/chats/{UUID(int=1)}/delete").status_code in (303, 400)


def test_a_chat_that_was_used_again_comes_first(database: Database, member: Member) -> None:
    first = make_thread(database, member, "First")
    make_thread(database, member, "Second")
    with database.transaction(member.scope) as session:
        session.execute(update(Thread).where(Thread.id == first).values(last_message_at=utc_now()))
    assert found(database, member, "")[0] == "First"
