"""What a browser or a program begins under an id of its own: nobody learns which ids there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import RFC_4122, UUID

import pytest
from flask import Flask
from sqlalchemy import event, func, select
from werkzeug.test import TestResponse

from app.assistant.models import Message, Thread
from app.assistant.threads.threads import latest_messages
from app.db import Database, new_id
from app.skills.expenses.models import Expense
from app.skills.forms.models import FormDraft
from app.skills.knowledge.models import ManualSection, Product
from app.web.issued_ids import make_issued_id, sign_id
from tests.assistant.answering import Answering
from tests.factories import (
    CheckedClient,
    Member,
    api_token,
    make_group,
    make_thread,
    make_user,
    sign_in,
)
from tests.factories.browser import issued_id
from tests.skills.forms.filling import WHAT, form_on, make_template

JSON = {"Accept": "application/json"}


@pytest.fixture
def me(owner: Database) -> Member:
    return make_user(owner, make_group(owner), "admin")


@pytest.fixture
def other(owner: Database, me: Member) -> Member:
    return make_user(owner, me.group_id, "admin")


@pytest.fixture
def browser(app: Flask, owner: Database, me: Member) -> CheckedClient:
    return sign_in(app, owner, me)


@pytest.fixture
def theirs(database: Database, other: Member) -> UUID:
    return make_thread(database, other, "Private")


def said(response: TestResponse, id_: UUID) -> tuple[int, str]:
    """What an answer says but for what every answer has of its own."""
    text = response.text.replace(str(id_), "ID")
    nonce, token, key = r'nonce="[^"]*"', r"[\w-]+\.[\w-]{6}\.[\w-]{20,}", r"[0-9a-f]{32}"
    own = re.sub(f"{nonce}|{token}|{key}|[0-9a-f]{{8}}-[0-9a-f-]{{27}}", "", text)
    return response.status_code, own


@contextmanager
def counting(database: Database) -> Iterator[list[str]]:
    """The statements that are run meanwhile."""
    found: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        found.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


MESSAGE = {"message": "Hello", "message_key": "a key of mine"}
POSTS = [
    ("/chat/{thread}/messages", MESSAGE),
    ("/chat/{thread}/messages", {**MESSAGE, "edits": "{message}"}),
    ("/chat/{thread}/messages", {"message": ""}),
    ("/chat/{thread}/messages", {"internal_content": '{"type": "x"}'}),
    ("/chat/{thread}/messages/{message}/again", {}),
    ("/chat/{thread}/messages/{message}/feedback", {"rating": "up"}),
    ("/chat/{thread}/branch", {"message_id": "{message}"}),
    ("/chat/{thread}/stop", {}),
    ("/chats/{thread}/rename", {"title": "Mine"}),
    ("/chats/{thread}/delete", {}),
]
GETS = [
    "/chat/{thread}",
    "/chat/{thread}/earlier",
    "/chat/{thread}/events",
    "/chat/{thread}/messages/{message}",
    "/chat/{thread}/messages/{message}/parts/0",
    "/chat/{thread}/messages/{message}/feedback",
    "/chats/{thread}/export.md",
    "/chats/{thread}/export.json",
]


@pytest.fixture
def their_message(database: Database, other: Member, theirs: UUID) -> UUID:
    with database.transaction(other.scope) as session:
        return latest_messages(session, theirs)[-1].id


@pytest.mark.parametrize("htmx", [True, False], ids=["htmx", "plain"])
@pytest.mark.parametrize(("path", "form"), POSTS)
def test_a_chat_of_somebody_else_and_one_of_nobody_are_answered_alike(
    app: Flask, owner: Database, browser: CheckedClient, theirs: UUID, their_message: UUID,
    path: str, form: dict[str, str], htmx: bool,
) -> None:  # fmt: skip
    database = app.extensions["comanda"].database
    assert browser.csrf_token
    answers, work = [], []
    for thread_id, message_id in ((theirs, their_message), (new_id(), new_id())):
        names = {"thread": str(thread_id), "message": str(message_id)}
        sent = {name: value.format_map(names) if value[0:1] == "{" and value[1:2] != '"' else value
                for name, value in form.items()}  # fmt: skip
        with counting(database) as statements:
            answer = browser.post(path.format_map(names), htmx=htmx, **sent)
        answers.append(said(answer, thread_id))
        work.append([statement.split("\n")[0] for statement in statements])
        with owner.transaction() as session:
            count = select(func.count()).where(Message.thread_id == thread_id)
            assert session.scalar(count) == (2 if thread_id == theirs else 0)
    assert answers[0] == answers[1]
    assert answers[0][0] in (303, 404, 422)
    # Nor does the time tell, because the same is done.
    assert work[0] == work[1]


@pytest.mark.parametrize("path", GETS)
def test_nothing_of_a_chat_of_somebody_else_can_be_asked_for(
    browser: CheckedClient, theirs: UUID, their_message: UUID, path: str
) -> None:
    answers = []
    for thread_id, message_id in ((theirs, their_message), (new_id(), new_id())):
        answer = browser.get(path.format(thread=thread_id, message=message_id))
        answers.append(said(answer, thread_id))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


def test_the_apis_answer_both_alike_and_begin_a_conversation_without_an_id(
    app: Flask, owner: Database, me: Member, theirs: UUID, answering: Answering
) -> None:
    client, headers = app.test_client(), {"Authorization": f"Bearer {api_token(owner, me)}"}
    for path in ("/api/ask", "/api/expenses/chat"):
        answers = []
        for thread_id in (theirs, new_id()):
            sent = {"message": "Hello", "sessionId": str(thread_id)}
            answers.append(said(client.post(path, json=sent, headers=headers), thread_id))
        assert answers[0] == answers[1], path
        assert answers[0][0] == 404, path
    begun = client.post("/api/ask", json={"message": "Hello"}, headers=headers).get_json()
    again = {"message": "And now?", "sessionId": begun["sessionId"]}
    assert client.post("/api/ask", json=again, headers=headers).status_code == 200


def test_the_command_line_goes_on_with_ones_own_chats_alone(
    app: Flask, me: Member, theirs: UUID
) -> None:
    told = []
    for thread_id in (theirs, new_id()):
        done = app.test_cli_runner().invoke(
            args=["ask", "--user", me.email, "--thread", str(thread_id), "Hello"]
        )
        told.append((done.exit_code, done.output))
    assert told[0] == told[1]
    assert told[0][0] == 1
    assert "does not exist, or it is not yours" in told[0][1]


def test_a_chat_begins_under_the_id_that_its_page_was_given_and_only_for_its_person(
    app: Flask, owner: Database, me: Member, other: Member, browser: CheckedClient
) -> None:
    page = browser.page("/chat")
    [action] = {
        form.attributes["action"]
        for form in page.find_all("form")
        if form.attributes.get("action", "").endswith("/messages")
    }
    stolen = sign_in(app, owner, other).post(action, htmx=True, **MESSAGE)
    assert stolen.status_code == 404
    assert browser.post(action, htmx=True, **MESSAGE).status_code == 200
    # A double click has nothing to add.
    assert browser.post(action, htmx=True, **MESSAGE).status_code == 204
    with owner.transaction() as session:
        query = select(Thread.user_id, func.count(Message.id)).join(
            Message, Message.thread_id == Thread.id
        )
        query = query.where(Thread.group_id == me.group_id).group_by(Thread.user_id)
        assert session.execute(query).all() == [(me.user_id, 2)]


def test_an_issued_id_is_its_persons_and_the_keys_alone() -> None:
    id_, person = new_id(), new_id()
    issued = sign_id(id_, person, b"secret")
    assert sign_id(issued, person, b"secret") == issued
    assert issued.version == 7
    assert issued.bytes[:10] == id_.bytes[:10]
    assert sign_id(issued, new_id(), b"secret") != issued
    assert sign_id(issued, person, b"another") != issued


def test_ids_that_are_issued_at_one_moment_differ() -> None:
    person = new_id()
    issued = [make_issued_id(person, b"secret") for _ in range(2_000)]
    assert len(set(issued)) == len(issued)
    assert {(each.version, each.variant) for each in issued} == {(7, RFC_4122)}


def test_a_form_is_begun_under_an_issued_id_alone(
    app: Flask, owner: Database, me: Member, other: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, me.group_id, [WHAT])
    page = browser.page(f"/forms/{template.slug}")
    sent = {**form_on(page), "v-what": "Mine"}
    held = issued_id(app, other)
    their = sign_in(app, owner, other)
    their_page = their.page(f"/forms/{template.slug}")
    assert their.post(f"/forms/drafts/{held}", **{**form_on(their_page), "v-what": "x"}).location
    answers = []
    for draft_id in (held, new_id()):
        paths = (f"/forms/drafts/{draft_id}", f"/forms/drafts/{draft_id}/ask")
        told = [browser.post(path, htmx=True, message="Hi", **sent) for path in paths]
        answers += [said(answer, draft_id) for answer in told]
    assert answers[0::2] == [answers[0]] * 2
    assert answers[1::2] == [answers[1]] * 2
    assert {status for status, _ in answers} == {404}
    with owner.transaction() as session:
        query = select(FormDraft.user_id).where(FormDraft.group_id == me.group_id)
        assert list(session.scalars(query)) == [other.user_id]
    assert browser.post(f"/forms/drafts/{browser.new_id()}", **sent).status_code == 303


@pytest.mark.parametrize(
    ("path", "key", "form", "model"),
    [
        ("/expenses/new", "key", {"item": "Taxi", "amount": "12", "currency": "USD",
                                  "date": "2026-01-02"}, Expense),
        ("/library/edit/sections/new", "section_id",
         {"title_en": "Opening", "kind": "sop", "is_published": "on"}, ManualSection),
        ("/library/edit/products/new/wines", "product_id",
         {"kind": "wines", "name_en": "Rioja", "name_es": "Rioja", "version": "0",
          "declaration": "none"}, Product),
    ],
    ids=["expense", "section", "product"],
)  # fmt: skip
def test_a_key_that_somebody_else_has_used_is_as_good_as_a_new_one(
    app: Flask, owner: Database, browser: CheckedClient, me: Member,
    path: str, key: str, form: dict[str, str], model: type[Expense | ManualSection | Product],
) -> None:  # fmt: skip
    elsewhere = make_user(owner, make_group(owner), "admin")
    taken = str(new_id())
    first = sign_in(app, owner, elsewhere).post(path, **{key: taken}, **form)
    assert first.status_code == 303, first.text
    # Also an id that a row has, which a person may have seen in an address.
    with owner.transaction() as session:
        [row_id] = session.scalars(select(model.id).where(model.group_id == elsewhere.group_id))
    for used in (taken, str(row_id)):
        for _ in range(2):
            assert browser.post(path, **{key: used}, **form).status_code in (303, 422)
    with owner.transaction() as session:
        count = select(func.count()).where(model.group_id == me.group_id)
        assert (session.scalar(count) or 0) >= 1
        of_theirs = select(func.count()).where(model.group_id == elsewhere.group_id)
        assert session.scalar(of_theirs) == 1
