"""A citation opens the passage as it stood, and says what has become of it since."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete, select, update

from app.assistant.models import Message, Thread
from app.db import Database
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.services.display import product_quote
from app.skills.knowledge.services.reindex import reindex_sections
from app.skills.knowledge.services.revisions import keep, snapshot
from tests.factories import (
    CheckedClient,
    Member,
    make_product,
    make_section,
    make_thread,
    make_user,
    sign_in,
)

THEN = "Raw chicken may stay out of the cooler for two hours at most."
NOW = "Raw chicken may stay out of the cooler for one hour at most."


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def editor(owner: Database, member: Member) -> Member:
    return make_user(owner, member.group_id, "manager")


@pytest.fixture
def section(owner: Database, member: Member) -> ManualSection:
    return make_section(owner, member.group_id, body=THEN)


def document_of(owner: Database, source_id: UUID) -> UUID:
    with owner.session() as session:
        query = select(SearchDocument.id).where(SearchDocument.source_id == source_id)
        return session.scalars(query).one()


def cite(
    database: Database,
    owner: Database,
    member: Member,
    source: ManualSection | Product,
    **facts: Any,
) -> str:
    """The address of a citation of `source` in an answer that this person was given."""
    thread_id = make_thread(database, member, "How long?", reply="Two hours. [1]")
    document_id = document_of(owner, source.id)
    citation = {
        "number": 1,
        "context": "manual",
        "document_id": str(document_id),
        "source_id": str(source.id),
        "title": "Raw chicken",
        "path": [],
        "url": "/library/manual/raw-chicken",
        "quote": THEN,
        "language": "en",
        **facts,
    }
    with database.transaction(member.scope) as session:
        [message_id] = session.scalars(
            update(Message)
            .where(Message.thread_id == thread_id, Message.role == "assistant")
            .values(citations=[citation])
            .returning(Message.id)
        )
    return f"/library/passages/{document_id}?cited={message_id}&lang=en"


def change(
    database: Database, editor: Member, source: ManualSection | Product, **values: Any
) -> None:
    """As an editor's page does it: kept, and found by what it says now."""
    with database.transaction(editor.scope) as session:
        found = session.get_one(type(source), source.id)
        before = snapshot(found)
        for name, value in values.items():
            setattr(found, name, value)
        keep(session, found, before)
        session.flush()
        if isinstance(found, ManualSection):
            reindex_sections(session, [found], with_below=False)


def state(client: CheckedClient, address: str) -> str:
    return client.fragment(address).find("article").attributes["data-state"]


def test_what_has_not_changed_opens_as_before(
    database: Database,
    owner: Database,
    member: Member,
    browser: CheckedClient,
    section: ManualSection,
) -> None:
    address = cite(database, owner, member, section)
    sheet = browser.fragment(address)
    assert THEN in sheet.text
    assert state(browser, address) == "same"
    [link] = [a for a in sheet.find_all("a") if "Open in the manual" in a.text]
    assert link.attributes["href"].endswith("#passage")


def test_a_changed_passage_is_shown_as_it_stood_with_what_changed(
    database: Database,
    owner: Database,
    member: Member,
    editor: Member,
    browser: CheckedClient,
    section: ManualSection,
) -> None:
    address = cite(database, owner, member, section)
    change(database, editor, section, body_en=f"Before all: wash.\n\n{NOW}")
    for sheet in (browser.fragment(address), browser.page(address)):
        assert sheet.find("article").attributes["data-state"] == "changed"
        assert THEN in sheet.text
        assert "This was changed on" in sheet.text
        assert sheet.find("del").text == "[removed:] two hours"
        assert sheet.find("ins").text == "[added:] one hour"
        assert [a for a in sheet.find_all("a") if "See it as it is now" in a.text]
    assert NOW in browser.page("/library/manual/raw-chicken").text


def test_an_edit_elsewhere_in_the_section_leaves_the_citation_as_it_is(
    database: Database,
    owner: Database,
    member: Member,
    editor: Member,
    browser: CheckedClient,
    section: ManualSection,
) -> None:
    address = cite(database, owner, member, section)
    change(database, editor, section, body_en=f"New words.\n\n{THEN}\n\nAnd more.")
    assert state(browser, address) == "same"


def test_it_says_when_the_words_themselves_went(
    database: Database,
    owner: Database,
    member: Member,
    editor: Member,
    browser: CheckedClient,
    section: ManualSection,
) -> None:
    address = cite(database, owner, member, section)
    change(database, editor, section, body_en=NOW)
    change(database, editor, section, body_en=f"{NOW} Again.")
    with owner.transaction() as session:
        from app.skills.knowledge.models import LibraryRevision

        for version, year in ((1, 2031), (2, 2032)):
            session.execute(
                update(LibraryRevision)
                .where(LibraryRevision.entity_id == section.id, LibraryRevision.version == version)
                .values(created_at=f"{year}-03-04T12:00:00+00:00")
            )
    told = browser.fragment(address).text
    assert "2031" in told
    assert "2032" not in told


@pytest.mark.parametrize(
    ("values", "wanted", "told"),
    [
        (
            {"is_published": False},
            "unpublished",
            "This is no longer published. You see it as it was when it was cited",
        ),
        ({"is_published": False, "body_en": "", "title_en": ""}, "withdrawn", "was withdrawn"),
        ({"body_en": "", "body_es": "Dos horas."}, "withdrawn", "no longer in the manual"),
    ],
)
def test_what_was_taken_out_may_be_read_as_it_stood_and_is_called_so(
    database: Database,
    owner: Database,
    member: Member,
    editor: Member,
    browser: CheckedClient,
    section: ManualSection,
    values: dict[str, Any],
    wanted: str,
    told: str,
) -> None:
    address = cite(database, owner, member, section)
    change(database, editor, section, **values)
    sheet = browser.fragment(address)
    assert sheet.find("article").attributes["data-state"] == wanted
    assert told in sheet.text
    assert THEN in sheet.text
    assert sheet.find_all("a") == []
    browser.page(address)


def test_a_section_that_does_not_exist_any_more_is_withdrawn(
    database: Database,
    owner: Database,
    member: Member,
    browser: CheckedClient,
    section: ManualSection,
) -> None:
    address = cite(database, owner, member, section)
    with owner.transaction() as session:
        session.execute(delete(SearchDocument).where(SearchDocument.source_id == section.id))
        session.execute(delete(ManualSection).where(ManualSection.id == section.id))
    assert state(browser, address) == "withdrawn"


def test_a_dish_is_cited_with_its_allergens_and_tells_when_they_change(
    app: Flask,
    database: Database,
    owner: Database,
    member: Member,
    editor: Member,
    browser: CheckedClient,
) -> None:
    product = make_product(owner, member.group_id)
    with app.test_request_context("/"):
        quote = product_quote(product, "en", "USD")
    facts = {"context": "dishes", "title": "Ribeye", "url": "/library/dishes/ribeye"}
    address = cite(database, owner, member, product, quote=quote, **facts)
    assert state(browser, address) == "same"
    assert "Allergens: milk" in browser.fragment(address).text
    change(database, editor, product, allergens=["milk", "peanut"])
    sheet = browser.fragment(address)
    assert sheet.find("article").attributes["data-state"] == "changed"
    assert "peanuts" in sheet.find("ins").text
    change(database, editor, product, is_active=False)
    assert "This is no longer on the menu." in browser.fragment(address).text


def test_the_description_that_older_answers_kept_is_enough(
    database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, member.group_id)
    facts = {"context": "dishes", "url": "/library/dishes/ribeye"}
    address = cite(
        database, owner, member, product, quote="Sixteen ounces, grilled over oak.", **facts
    )
    assert state(browser, address) == "same"


def test_only_ones_own_answers_open_what_is_gone(
    app: Flask,
    database: Database,
    owner: Database,
    member: Member,
    editor: Member,
    section: ManualSection,
) -> None:
    address = cite(database, owner, member, section)
    colleague = sign_in(app, owner, editor)
    change(database, editor, section, body_en=NOW)
    # Not theirs: they see the passage as everybody does, as it is now.
    sheet = colleague.fragment(address)
    assert NOW in sheet.text
    assert THEN not in sheet.text
    change(database, editor, section, is_published=False)
    colleague.page(address, 404)
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    stranger.page(address, 404)


def test_a_deleted_conversation_opens_nothing(
    database: Database,
    owner: Database,
    member: Member,
    editor: Member,
    browser: CheckedClient,
    section: ManualSection,
) -> None:
    address = cite(database, owner, member, section)
    change(database, editor, section, is_published=False)
    with database.transaction(member.scope) as session:
        session.execute(
            update(Thread)
            .where(Thread.user_id == member.user_id)
            .values(deleted_at=section.created_at)
        )
    browser.page(address, 404)


@pytest.mark.parametrize("cited", ["", "x", str(UUID(int=1))])
def test_without_a_message_of_ones_own_the_passage_is_that_of_now(
    owner: Database, browser: CheckedClient, section: ManualSection, cited: str
) -> None:
    address = f"/library/passages/{document_of(owner, section.id)}?cited={cited}"
    assert THEN in browser.fragment(address).text
