"""Conversations as files: readable, complete, one's own, and never whole in memory."""

from __future__ import annotations

import io
import json
import re
import tracemalloc
import zipfile
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from markdown_it import MarkdownIt
from sqlalchemy import insert, update

from app.assistant.models import AGENT, Message, Thread
from app.assistant.threads.export import (
    CHUNK,
    Letterhead,
    as_markdown,
    as_zip,
    file_name,
    open_conversation,
)
from app.assistant.threads.threads import latest_messages
from app.config import Settings
from app.db import Database, new_id
from tests.factories import (
    CheckedClient,
    Member,
    make_group,
    make_thread,
    make_user,
    sign_in,
)
from tests.statements import noted_statements

NOON = datetime(2026, 3, 5, 18, 30, tzinfo=UTC)
CHICAGO = ZoneInfo("America/Chicago")
CITATION: dict[str, Any] = {
    "number": 1,
    "context": "manual",
    "document_id": str(uuid4()),
    "source_id": str(uuid4()),
    "title": "Raw *chicken*",
    "path": ["Food safety", "Poultry"],
    "url": "/library/manual/raw-chicken",
    "quote": "At most two hours.\n\nOne above 90°F.",
    "language": "en",
}
ODD_TITLES = [
    "../../etc/passwd",
    "CON",
    "¿Qué? <b>\r\nX: 1",
    '"; x="',
    "日本語",
    "",
    "a" * 300,
    ".",
]


@pytest.fixture
def member(owner: Database) -> Member:
    group_id = make_group(owner, "Casa *Prueba*", timezone="America/Chicago")
    return make_user(owner, group_id)


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    """A thread whose answer cites, has a card and a notice."""
    thread_id = make_thread(database, member, "# How long?\n- raw chicken", reply="Two hours. [1]")
    parts = [
        {"type": "product_card", "name": "Ribeye"},
        {"type": "notice", "kind": "limit", "text": "That was all."},
    ]
    with database.transaction(member.scope) as session:
        for message in latest_messages(session, thread_id):
            message.created_at = NOON
            if message.role == "assistant":
                message.citations, message.parts = [CITATION], parts
    return thread_id


def export(browser: CheckedClient, thread_id: UUID, extension: str) -> Any:
    # To its end: the context of a request whose answer is left unread is left whenever that is
    # collected, and another request, which is just going on, would go on in its stead.
    answer = browser.get(f"/chats/{thread_id}/export.{extension}", buffered=True)
    assert answer.status_code == 200, answer.text
    return answer


def test_markdown_reads_like_the_conversation(
    browser: CheckedClient, thread_id: UUID, settings: Settings
) -> None:
    text = export(browser, thread_id, "md").text
    assert r"Casa \*Prueba\* · Exported " in text
    assert "(America/Chicago)" in text
    assert "## You · Mar 5, 2026, 12:30" in text
    assert "> # How long?\n> - raw chicken\n" in text
    assert "Two hours. [1]\n" in text
    assert "_Ribeye_" in text
    assert "_That was all._" in text
    assert "**Sources**" in text
    assert r"[1] Raw \*chicken\* (Food safety › Poultry)" in text
    assert f"<{settings.base_url}/library/manual/raw-chicken>" in text
    assert "    > At most two hours.\n    >\n    > One above 90°F.\n" in text


def test_what_somebody_typed_is_no_heading_of_the_document(
    browser: CheckedClient, thread_id: UUID
) -> None:
    tokens = MarkdownIt().parse(export(browser, thread_id, "md").text)
    headings = [tokens[n + 1].content for n, t in enumerate(tokens) if t.type == "heading_open"]
    outer = [text for text in headings if "How long" not in text or "\\#" in text]
    assert [text.split(" · ")[0] for text in outer[1:]] == ["You", "Comanda"]


@pytest.mark.parametrize("fence", ["```", "  ~~~~ sh"])
def test_a_reply_that_leaves_code_open_takes_nothing_in(
    database: Database, member: Member, browser: CheckedClient, fence: str
) -> None:
    thread_id = make_thread(database, member, "Hello", reply=f"Look:\n\n{fence}\nrm -r")
    with database.transaction(member.scope) as session:
        latest_messages(session, thread_id)[-1].citations = [CITATION]
    tokens = MarkdownIt().parse(export(browser, thread_id, "md").text)
    assert [token.content for token in tokens if token.type == "fence"] == ["rm -r\n"]
    assert "**Sources**" in [token.content for token in tokens]


@pytest.mark.parametrize("before", ["", "\\", "\\\\", "\\\\\\"])
def test_a_reply_makes_no_reader_of_the_document_ask_another_server(
    database: Database, member: Member, browser: CheckedClient, before: str
) -> None:
    picture, element = "![x](https://elsewhere.example/p)", "<img src=//elsewhere.example/y>"
    reply = f"{before}{picture} {before}{element} a < b"
    thread_id = make_thread(database, member, "Hello", reply=reply)
    drawn = MarkdownIt().render(export(browser, thread_id, "md").text)
    assert "<img" not in drawn and "a &lt; b" in drawn and "&lt;img src=" in drawn


def test_nobodys_words_make_a_reader_of_the_document_ask_another_server(
    owner: Database, database: Database, member: Member, browser: CheckedClient
) -> None:
    """A colleague who replies on a request writes into the file of whoever asked."""
    loads = "![x](https://elsewhere.example/p)\n\n<img src=//elsewhere.example/y> a < b, **c**!"
    thread_id = make_thread(database, member, f"{loads} asked", reply=loads)
    with owner.transaction() as session:
        thread = session.get_one(Thread, thread_id)
        reply = session.get_one(Message, thread.head_id)
        reply.citations = [{**CITATION, "title": loads, "path": [loads], "quote": loads}]
        reply.parts = [{"type": "product_card", "name": loads}]
        written = Message(
            group_id=member.group_id,
            user_id=member.user_id,
            thread_id=thread_id,
            parent_id=thread.head_id,
            role=AGENT,
            content=f"{loads} replied",
            internal_content={"author": f"Ana {loads}", "reference": "SR-1"},
        )
        session.add(written)
        session.flush()
        thread.head_id, thread.title = written.id, loads
    alone = export(browser, thread_id, "md").text
    with zipfile.ZipFile(
        io.BytesIO(browser.get("/chats/export.zip", buffered=True).data)
    ) as archive:
        [packed] = [archive.read(each).decode() for each in archive.namelist() if ".md" in each]
    for text in (alone, packed):
        drawn = MarkdownIt().render(text)
        assert "<img" not in drawn and "<strong>c</strong>! replied" in drawn
        assert "> \\<img src=//elsewhere.example/y> a < b, **c**! asked\n" in text


def test_it_is_in_the_persons_language(app: Flask, owner: Database, database: Database) -> None:
    lucia = make_user(owner, language="es")
    thread_id = make_thread(database, lucia, "¿Cuánto?", reply="Dos horas. [1]")
    with database.transaction(lucia.scope) as session:
        session.execute(
            update(Message).where(Message.thread_id == thread_id).values(citations=[CITATION])
        )
    text = export(sign_in(app, owner, lucia), thread_id, "md").text
    assert "Exportada el" in text
    assert "## Tú · " in text
    assert "**Fuentes**" in text


def test_json_has_all_of_it(
    browser: CheckedClient, database: Database, member: Member, thread_id: UUID, settings: Settings
) -> None:
    with database.transaction(member.scope) as session:
        question, reply = latest_messages(session, thread_id)
    browser.post(
        f"/chat/{thread_id}/messages/{reply.id}/feedback",
        htmx=True,
        rating="down",
        reason="wrong",
        comment="No",
    )
    body = json.loads(export(browser, thread_id, "json").data)
    assert (body["format"], body["version"], body["id"]) == ("comanda-chat", 1, str(thread_id))
    assert body["time_zone"] == "America/Chicago"
    asked, answered = body["messages"]
    assert asked["text"] == "# How long?\n- raw chicken"
    assert asked["created_at"] == "2026-03-05T12:30:00-06:00"
    assert answered["parent_id"] == asked["id"] == str(question.id)
    [citation] = answered["citations"]
    assert citation["quote"] == CITATION["quote"]
    assert citation["url"] == f"{settings.base_url}/library/manual/raw-chicken"
    assert answered["feedback"] == {"rating": "down", "reason": "wrong", "comment": "No"}
    assert asked["feedback"] is None
    assert "internal_content" not in answered
    assert "tool_trace" not in answered


def test_branches_that_are_not_shown_are_in_the_json_only(
    browser: CheckedClient, database: Database, member: Member, thread_id: UUID
) -> None:
    with database.transaction(member.scope) as session:
        question, _reply = latest_messages(session, thread_id)
        session.execute(
            insert(Message).values(
                id=new_id(),
                group_id=member.group_id,
                user_id=member.user_id,
                thread_id=thread_id,
                parent_id=question.id,
                role="assistant",
                content="Another answer.",
            )
        )
    assert "Another answer." not in export(browser, thread_id, "md").text
    messages = json.loads(export(browser, thread_id, "json").data)["messages"]
    assert [(m["text"], m["shown"]) for m in messages[1:]] == [
        ("Two hours. [1]", True),
        ("Another answer.", False),
    ]


@pytest.mark.parametrize("extension", ["md", "json"])
def test_a_file_is_saved_and_never_shown(
    browser: CheckedClient, thread_id: UUID, extension: str
) -> None:
    headers = export(browser, thread_id, extension).headers
    assert re.fullmatch(
        r"attachment; filename=\d{4}-\d\d-\d\d-how-long-raw-chicken-[0-9a-f]{6}\." + extension,
        headers["Content-Disposition"],
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Content-Type"].split(";")[0] in ("text/markdown", "application/json")


@pytest.mark.parametrize("title", ODD_TITLES)
def test_names_are_safe_on_every_system(title: str) -> None:
    name = file_name(Thread(id=new_id(), title=title, created_at=NOON), CHICAGO, "md")
    assert re.fullmatch(r"2026-03-05-([a-z0-9]+-)*[0-9a-f]{6}\.md", name)
    assert len(name) < 100


def test_all_chats_come_in_one_zip(
    browser: CheckedClient, database: Database, member: Member
) -> None:
    titles = [*ODD_TITLES[:5], "Same", "Same"]
    for title in titles:
        make_thread(database, member, title, reply=f"About {title}")
    answer = browser.get("/chats/export.zip", buffered=True)
    assert answer.mimetype == "application/zip"
    assert re.fullmatch(
        r"attachment; filename=chats-\d{4}-\d\d-\d\d\.zip", answer.headers["Content-Disposition"]
    )
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len(set(names)) == len(names) == 2 * len(titles)
        assert all(re.fullmatch(r"[a-z0-9.-]+\.(md|json)", name) for name in names)
        bodies = [json.loads(archive.read(n)) for n in names if n.endswith(".json")]
        assert [body["messages"][1]["text"] for body in bodies] == [f"About {t}" for t in titles]
        [text] = [archive.read(n).decode() for n in names if "etc-passwd" in n and "md" in n]
        assert "About ../../etc/passwd" in text


def test_each_file_of_the_zip_is_dated_when_its_chat_was_last_used(
    browser: CheckedClient, database: Database, member: Member
) -> None:
    thread_id = make_thread(database, member, "An old one")
    with database.transaction(member.scope) as session:
        old = update(Thread).where(Thread.id == thread_id)
        session.execute(old.values(last_message_at=NOON))
    with zipfile.ZipFile(
        io.BytesIO(browser.get("/chats/export.zip", buffered=True).data)
    ) as archive:
        dates = {entry.date_time for entry in archive.infolist()}
        kinds = {entry.compress_type for entry in archive.infolist()}
    assert dates == {(2026, 3, 5, 18, 30, 0)}
    assert kinds == {zipfile.ZIP_DEFLATED}


def test_a_person_without_chats_gets_an_empty_zip(browser: CheckedClient) -> None:
    with zipfile.ZipFile(
        io.BytesIO(browser.get("/chats/export.zip", buffered=True).data)
    ) as archive:
        assert archive.namelist() == []
    assert "Export all" not in browser.page("/chats").text


@pytest.mark.parametrize("who", ["a colleague", "another group"])
def test_what_is_not_yours_is_not_exported(
    app: Flask, owner: Database, member: Member, thread_id: UUID, who: str
) -> None:
    group = member.group_id if who == "a colleague" else None
    other = sign_in(app, owner, make_user(owner, group, role="admin"))
    for extension in ("md", "json"):
        assert other.get(f"/chats/{thread_id}/export.{extension}").status_code == 404
    assert (
        zipfile.ZipFile(io.BytesIO(other.get("/chats/export.zip", buffered=True).data)).namelist()
        == []
    )


def test_a_deleted_chat_is_not_exported(browser: CheckedClient, thread_id: UUID) -> None:
    browser.post(f"/chats/{thread_id}/delete")
    assert browser.get(f"/chats/{thread_id}/export.md").status_code == 404
    assert (
        zipfile.ZipFile(io.BytesIO(browser.get("/chats/export.zip", buffered=True).data)).namelist()
        == []
    )


def test_other_formats_methods_and_strangers_are_refused(
    app: Flask, browser: CheckedClient, thread_id: UUID
) -> None:
    assert browser.get(f"/chats/{thread_id}/export.exe").status_code == 404
    assert browser.post(f"/chats/{thread_id}/export.md").status_code == 405
    assert browser.post("/chats/export.zip").status_code == 405
    assert app.test_client().get("/chats/export.zip", buffered=True).location.startswith("/sign-in")


def test_the_page_offers_both_formats_and_all(browser: CheckedClient, thread_id: UUID) -> None:
    page = browser.page("/chats")
    addresses = [link.attributes["href"] for link in page.find_all("a", download="")]
    assert addresses == [
        "/chats/export.zip",
        f"/chats/{thread_id}/export.md",
        f"/chats/{thread_id}/export.json",
    ]


def test_a_long_thread_is_never_whole_in_memory(
    app: Flask, database: Database, member: Member
) -> None:
    """20 MB of words go through a few of them at a time."""
    thread_id, before = make_thread(database, member, "Long"), None
    words = "abcdefghij" * 2_000
    count = 20 * CHUNK
    with database.transaction(member.scope) as session:
        before = latest_messages(session, thread_id)[-1].id
        for _ in range(count // CHUNK):
            rows = []
            for _ in range(CHUNK):
                rows.append(
                    {
                        "id": new_id(),
                        "group_id": member.group_id,
                        "user_id": member.user_id,
                        "thread_id": thread_id,
                        "parent_id": before,
                        "role": "assistant",
                        "content": words,
                    }
                )
                before = rows[-1]["id"]
            session.execute(insert(Message), rows)
        session.execute(update(Thread).where(Thread.id == thread_id).values(head_id=before))
    reading = lambda: database.transaction(member.scope)  # noqa: E731
    letterhead = Letterhead("House", CHICAGO, "http://localhost")
    with app.test_request_context("/"):
        tracemalloc.start()
        sizes = [len(piece) for piece in as_zip(reading, letterhead)]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(open_conversation(reading, thread_id).shown) == count + 2
    assert count * len(words) == 20_000_000
    assert len(sizes) > 1
    assert peak < 12_000_000, f"{peak:,} bytes at the most"


@pytest.mark.fault(36)
def test_of_what_is_not_shown_nothing_is_read_for_a_document(
    app: Flask, database: Database, member: Member
) -> None:
    """Ten thousand hidden messages were read without a rest, and emptied the pool."""
    thread_id = make_thread(database, member, "Long")
    hidden = [
        {
            "id": new_id(),
            "group_id": member.group_id,
            "user_id": member.user_id,
            "thread_id": thread_id,
            "parent_id": None,
            "role": "assistant",
            "content": "hidden",
        }
        for _ in range(5 * CHUNK)
    ]
    with database.transaction(member.scope) as session:
        session.execute(insert(Message), hidden)
    reading = lambda: database.transaction(member.scope)  # noqa: E731
    with app.test_request_context("/"):
        conversation = open_conversation(reading, thread_id)
        with noted_statements(database.engine) as statements:
            text = "".join(as_markdown(conversation, Letterhead("House", CHICAGO, "http://x")))
    assert "hidden" not in text
    assert len([each for each in statements if "FROM messages" in each]) == 1


def test_the_requests_connection_is_given_back_before_the_file_is_sent(
    app: Flask, owner: Database, member: Member, thread_id: UUID
) -> None:
    browser = sign_in(app, owner, member)
    pool = app.extensions["comanda"].database.engine.pool
    answer = browser.client.get(f"/chats/{thread_id}/export.json", buffered=False)
    assert pool.checkedout() == 0
    assert json.loads(answer.data)["id"] == str(thread_id)
    assert pool.checkedout() == 0
