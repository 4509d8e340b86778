"""Who waits for a thread holds no connection: a process has few, and every page needs one."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from flask import Flask
from markupsafe import Markup
from sqlalchemy import select

from app.assistant.models import Prompt
from app.db import Database
from app.jobs.system_threads import RealThreads
from app.text import markdown
from app.text.markdown import SHORT_TEXT, render_model_text
from tests.assistant.scripted import ScriptedProvider, say
from tests.factories import (
    CheckedClient,
    Member,
    Page,
    answer,
    ask,
    make_section,
    make_user,
    sign_in,
)

Held = list[int]


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


@pytest.fixture
def held(app: Flask, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch) -> Held:
    """How many connections were taken out whenever a page began to wait for a thread."""
    pool = app.extensions["comanda"].database.engine.pool
    counted: Held = []
    run = RealThreads.run

    def counts(self: RealThreads, work: Callable[[], Any]) -> Any:
        def counted_work() -> Any:
            counted.append(pool.checkedout())
            return work()

        return run(self, counted_work)

    monkeypatch.setattr(RealThreads, "run", counts)
    return counted


def chat(app: Flask, database: Database, admin: Member) -> str:
    words = f"{uuid.uuid4()} " + "It is kept cold. " * SHORT_TEXT
    accepted = ask(database, admin, "Where is the milk?")
    answer(app, admin, accepted, ScriptedProvider(say(words)))
    return f"/chat/{accepted.thread.id}"


def section(owner: Database, admin: Member) -> str:
    make_section(owner, admin.group_id, "milk", "Milk", f"{uuid.uuid4()}\n\n" + "- Cold.\n" * 2000)
    return "/library/manual/milk"


def prompt(owner: Database, admin: Member, browser: CheckedClient) -> str:
    with owner.session() as session:
        row = session.scalars(select(Prompt).where(Prompt.group_id == admin.group_id)).first()
    assert row is not None
    form = {"prompt_en": "Be brief.", "prompt_es": "Sé breve.", "version": row.version}
    browser.post(f"/admin/prompts/{row.id}", **form)
    return f"/admin/prompts/{row.id}/history"


@pytest.mark.fault(59)
@pytest.mark.parametrize("which", ["chat", "section", "prompt"])
def test_a_page_that_waits_for_a_thread_holds_no_connection(
    app: Flask,
    owner: Database,
    database: Database,
    admin: Member,
    browser: CheckedClient,
    held: Held,
    which: str,
) -> None:
    paths = {
        "chat": lambda: chat(app, database, admin),
        "section": lambda: section(owner, admin),
        "prompt": lambda: prompt(owner, admin, browser),
    }
    path = paths[which]()
    held.clear()
    browser.page(path)
    assert held and set(held) == {0}


@pytest.mark.fault(59)
@pytest.mark.parametrize(("version", "action", "status"), [(1, "preview", 200), (0, "save", 409)])
def test_a_form_that_is_shown_again_holds_no_connection_while_it_is_drawn(
    owner: Database,
    admin: Member,
    browser: CheckedClient,
    held: Held,
    version: int,
    action: str,
    status: int,
) -> None:
    found = make_section(owner, admin.group_id, "milk", "Milk", "Cold.")
    held.clear()
    answered = browser.post(
        f"/library/edit/sections/{found.id}",
        version=version,
        action=action,
        title_en="Milk",
        body_en="- Cold.\n" * 2000,
        kind="sop",
        slug="milk",
    )
    assert answered.status_code == status
    assert held and set(held) == {0}


def last_message(page: Page) -> str:
    """The id of the last message that a page shows."""
    ids = [str(each.attributes.get("id", "")) for each in page.find_all("article")]
    return [each.removeprefix("m-") for each in ids if each.startswith("m-")][-1]


@pytest.mark.fault(59)
def test_another_branch_is_drawn_without_a_connection(
    app: Flask,
    database: Database,
    admin: Member,
    browser: CheckedClient,
    held: Held,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = chat(app, database, admin)
    reply_id = last_message(browser.page(path))
    held.clear()
    monkeypatch.setattr(markdown, "_rendered", markdown._RenderedTexts(0))
    browser.post_fragment(f"{path}/branch", message_id=reply_id)
    assert held and set(held) == {0}


@pytest.mark.fault(59)
def test_a_long_text_is_drawn_once_for_all_who_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, begun, may_end = [], Event(), Event()

    def draw(text: str) -> Markup:
        drawn.append(text)
        begun.set()
        assert may_end.wait(10)
        return Markup("<p>Drawn</p>")

    monkeypatch.setattr(markdown, "_draw_model_text", draw)
    text = f"{uuid.uuid4()} " * SHORT_TEXT
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(render_model_text, text) for _ in range(8)]
        assert begun.wait(10)
        may_end.set()
        assert {one.result(10) for one in waiting} == {Markup("<p>Drawn</p>")}
    assert drawn == [text]
