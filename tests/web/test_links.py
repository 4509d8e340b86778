"""Links are stored as endpoint and arguments, and become URLs where something is shown."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask

from app.assistant.models import Proposal
from app.assistant.proposals.proposals import receipt_of, receipt_part
from app.assistant.threads.export import Letterhead
from app.assistant.threads.export_jobs import begin_export
from app.assistant.threads.threads import latest_messages
from app.assistant.turns.envelope import envelope
from app.db import Database, new_id, utc_now
from app.files.storage import Storage
from app.jobs import tasks
from app.web.links import Link
from app.web.urls import url_of, with_urls
from tests.assistant.test_export import CHICAGO, CITATION
from tests.factories import Member, make_group, make_thread, make_user, sign_in

RIBEYE = Link.to("knowledge.product", kind="dishes", slug="ribeye", lang="es")
OLD, NEW = "/library/dishes/ribeye?lang=es", RIBEYE.model_dump(mode="json")
CARD: dict[str, Any] = {
    "type": "product_card", "kind": "dishes", "slug": "ribeye", "name": "Ribeye",
    "description": "", "category": "",
}  # fmt: skip


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, make_group(owner))


def with_links(database: Database, member: Member, url: Any) -> UUID:
    """A chat whose reply cites a dish and shows its card, as they are stored with that URL."""
    thread_id = make_thread(database, member, "Ribeye?", reply="Here. [1]")
    with database.transaction(member.scope) as session:
        reply = latest_messages(session, thread_id)[-1]
        reply.citations = [{**CITATION, "context": "dishes", "url": url}]
        reply.parts = [{**CARD, "url": url}]
    return thread_id


def test_a_link_is_the_url_of_its_endpoint_and_leaves_out_what_is_not_given(app: Flask) -> None:
    thread_id = uuid4()
    links = (
        (RIBEYE, OLD),
        (Link.to("chat.thread", thread_id=thread_id), f"/chat/{thread_id}"),
        (Link.to("expenses.index", q="a&b", who=None), "/expenses?q=a%26b"),
    )
    with app.test_request_context("/"):
        assert [url_of(link) for link, _ in links] == [url for _, url in links]


def test_a_page_that_there_is_no_more_has_an_empty_url(app: Flask) -> None:
    with app.test_request_context("/"):
        assert url_of(Link.to("knowledge.gone", slug="x")) == ""
        assert url_of(Link.to("knowledge.product", kind="dishes")) == ""


def test_links_stand_anywhere_in_what_is_stored_and_all_else_stays(app: Flask) -> None:
    stored = {"rows": [{"url": NEW, "n": 1}, {"endpoint": "x"}], "url": OLD, "none": None}
    with app.test_request_context("/"):
        told = with_urls(stored)
    assert told == {"rows": [{"url": OLD, "n": 1}, {"endpoint": "x"}], "url": OLD, "none": None}


@pytest.mark.parametrize("url", [OLD, NEW], ids=["an earlier version's", "a link"])
def test_stored_messages_are_shown_and_told_alike_with_urls_and_with_links(
    app: Flask, database: Database, owner: Database, member: Member, url: Any
) -> None:
    thread_id = with_links(database, member, url)
    page = sign_in(app, owner, member).page(f"/chat/{thread_id}")
    card = page.find("section", class_="ticket product-card")
    assert {link.attributes["href"] for link in card.find_all("a")} == {OLD}
    with database.transaction(member.scope) as session, app.test_request_context("/"):
        told = envelope(latest_messages(session, thread_id)[-1])
    assert [told.citations[0]["url"], told.parts[0]["url"]] == [OLD, OLD]
    # Under "passage_url" stands the way to what was quoted, which only pages show.
    assert told.citations[0].keys() == CITATION.keys()


@pytest.mark.parametrize("url", [OLD, NEW], ids=["an earlier version's", "a link"])
def test_the_process_of_jobs_writes_the_urls_into_an_export(
    app: Flask, database: Database, member: Member, monkeypatch: pytest.MonkeyPatch, url: Any
) -> None:
    with_links(database, member, url)
    storage: Storage = app.extensions["comanda"].files
    with database.session(member.scope) as session:
        export = begin_export(session, Letterhead("House", CHICAGO, "https://house.test"))
        whose = {"group_id": str(member.group_id), "user_id": str(member.user_id)}
        job, key = {"export_id": str(export.id), **whose}, export.key
    monkeypatch.setattr(tasks, "_database", lambda: database)
    monkeypatch.setattr(tasks, "_files", lambda: storage)
    # That process has no app with services: it only knows the pages.
    asyncio.run(
        tasks.export_all_chats.func(SimpleNamespace(job=SimpleNamespace(attempts=0)), **job)
    )
    with storage.open(key) as file:
        archive = zipfile.ZipFile(io.BytesIO(file.read()))
    files = {name.rpartition(".")[2]: archive.read(name).decode() for name in archive.namelist()}
    assert f"<https://house.test{OLD}>" in files["md"]
    reply = json.loads(files["json"])["messages"][-1]
    assert reply["citations"][0]["url"] == f"https://house.test{OLD}"
    assert reply["parts"][0]["url"] == OLD


@pytest.mark.parametrize("url", ["", "/requests/7", Link.to("expenses.index")], ids=str)
def test_a_receipt_is_kept_with_its_link(app: Flask, url: Link | str) -> None:
    stored = url if isinstance(url, str) else url.model_dump(mode="json")
    kept = {"result_id": "7", "summary": {}, "details": {}, "url": stored, "kept": {}}
    proposal = Proposal(id=new_id(), tool="x", receipt=kept, decided_at=utc_now())
    assert receipt_of(proposal).url == url
    assert receipt_part(proposal).model_dump(mode="json")["url"] == stored


def test_a_card_whose_page_there_is_no_more_is_shown_without_a_way_to_it(
    app: Flask, database: Database, owner: Database, member: Member
) -> None:
    gone = Link.to("knowledge.gone").model_dump(mode="json")
    page = sign_in(app, owner, member).page(f"/chat/{with_links(database, member, gone)}")
    card = page.find("section", class_="ticket product-card")
    assert "Ribeye" in card.text
    assert card.find_all("a") == []
