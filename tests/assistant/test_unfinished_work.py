"""What is not finished, of whatever skill: listed in the chat, gone on with, or discarded."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.assistant.models import Proposal, Thread
from app.assistant.providers.builtin import BuiltinProvider
from app.db import Database, utc_now
from app.skills.service_requests.services.starters import add_starters
from tests.factories import CheckedClient, Member, answer, ask, make_user, sign_in
from tests.factories.browser import Page


@pytest.fixture
def cook(owner: Database) -> Member:
    member = make_user(owner)
    with owner.transaction() as session:
        add_starters(session, member.group_id, ["refrigeration"])
    return member


@pytest.fixture
def browser(app: Flask, owner: Database, cook: Member) -> CheckedClient:
    return sign_in(app, owner, cook)


def say(app: Flask, database: Database, who: Member, text: str, thread: UUID | None = None) -> UUID:
    accepted = ask(database, who, text, thread)
    answer(app, who, accepted, BuiltinProvider(app.extensions["comanda"].embedder))
    return accepted.thread.id


def listed(page: Page) -> list[str]:
    return [each.attributes["title"] for each in page.find_all("a", class_="resume-way")]


def test_one_thing_is_a_line_with_both_ways(
    app: Flask, database: Database, cook: Member, browser: CheckedClient
) -> None:
    thread = say(app, database, cook, "add taxi $14 today")
    page = browser.page("/chat")
    [row] = listed(page)
    assert row.startswith("Waiting for your yes: Add taxi $14 for")
    [way] = page.find_all("a", href=f"/chat/{thread}", class_="resume-way")
    assert way.text.startswith("Continue")
    # In its own conversation the card itself stands there.
    assert listed(browser.page(f"/chat/{thread}")) == []
    [drop] = [
        form for form in page.find_all("form") if form.attributes["action"].endswith("/decline")
    ]
    assert browser.post(drop.attributes["action"]).status_code == 303
    assert listed(browser.page("/chat")) == []
    assert browser.post(drop.attributes["action"]).status_code == 303


def test_several_things_are_folded_and_each_conversation_counts_once(
    app: Flask, database: Database, cook: Member, browser: CheckedClient
) -> None:
    say(app, database, cook, "add taxi $14 today")
    request = say(app, database, cook, "the walk-in is acting up")
    if not browser.page("/chat").find_all("details", class_="resume"):
        say(app, database, cook, "Refrigeration and ice", request)
    page = browser.page("/chat")
    [fold] = page.find_all("details", class_="resume")
    assert "things are not finished" in fold.text
    rows = listed(page)
    assert rows[0] == "Request not sent yet: Refrigeration and ice"
    assert rows[1].startswith("Waiting for your yes: Add taxi") and len(rows) == 2
    [form] = [
        each for each in page.find_all("form")
        if each.attributes.get("action") == f"/chat/{request}/messages"
        and each.find_all("input", name="internal_content")
    ]  # fmt: skip
    [step] = form.find_all("input", name="internal_content")
    posted = {"internal_content": step.attributes["value"]}
    assert browser.post(f"/chat/{request}/messages", **posted).status_code == 303
    assert f"/chat/{request}/messages" not in browser.page("/chat").text


def test_what_is_over_deleted_or_anothers_is_not_listed(
    app: Flask, owner: Database, database: Database, cook: Member, browser: CheckedClient
) -> None:
    thread = say(app, database, cook, "add taxi $14 today")
    colleague = sign_in(app, owner, make_user(owner, cook.group_id))
    assert listed(colleague.page("/chat")) == []
    with owner.transaction() as session:
        gone = update(Thread).where(Thread.id == thread).values(deleted_at=utc_now())
        session.execute(gone)
    assert listed(browser.page("/chat")) == []
    with owner.transaction() as session:
        session.execute(update(Thread).where(Thread.id == thread).values(deleted_at=None))
        late = utc_now() - timedelta(minutes=1)
        session.execute(
            update(Proposal).where(Proposal.thread_id == thread).values(expires_at=late)
        )
        assert session.scalars(select(Proposal.state).where(Proposal.thread_id == thread)).all()
    assert listed(browser.page("/chat")) == []
