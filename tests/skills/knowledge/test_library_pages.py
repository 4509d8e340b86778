"""The manual's and the menus' pages, and the passages that answers cite."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import event, select, update

from app.db import Database
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import ManualSection, Product
from tests.factories import (
    CheckedClient,
    Member,
    make_product,
    make_section,
    make_user,
    sign_in,
)
from tests.factories.browser import HTMX
from tests.script_payloads import PAYLOADS

BODY = """Keep it cold.

1. Two hours at most.
2. One hour above **90°F**.

| Food | Hours |
|---|---|
| Chicken | 2 |

Call the [chef](tel:+12105550100)."""


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, allergens=["milk"])


@pytest.fixture
def section(owner: Database, member: Member) -> ManualSection:
    return make_section(owner, member.group_id, "raw-chicken", "Raw chicken", BODY)


def passages(owner: Database, section: ManualSection) -> list[SearchDocument]:
    with owner.session() as session:
        query = select(SearchDocument).where(SearchDocument.source_id == section.id)
        return list(session.scalars(query.order_by(SearchDocument.chunk_no)))


def test_an_empty_library_says_what_to_do(browser: CheckedClient) -> None:
    assert "nothing here yet" in browser.page("/library/").text


def test_the_index_lists_the_manual_and_the_menus(
    owner: Database, member: Member, browser: CheckedClient, section: ManualSection
) -> None:
    make_product(owner, member.group_id)
    make_product(owner, member.group_id, "wines", "malbec", name_en="Malbec", category="red")
    page = browser.page("/library/")
    links = {link.attributes["href"] for link in page.find_all("a")}
    assert {"/library/manual/raw-chicken", "/library/dishes", "/library/wines"} <= links
    assert "/library/cocktails" not in links


def test_a_section_is_drawn_with_its_place_and_neighbours(
    owner: Database, member: Member, browser: CheckedClient, section: ManualSection
) -> None:
    make_section(owner, member.group_id, "fish", "Fish", "On ice.")
    page = browser.page("/library/manual/raw-chicken")
    assert page.find("h1").text == "Raw chicken"
    assert len(page.find_all("td")) == 2
    assert page.find("a", rel="next").text == "Fish"
    assert page.find_all("a", rel="prev") == []
    assert page.find_all("mark") == []
    back = browser.page("/library/manual/fish")
    assert back.find("a", rel="prev").attributes["href"] == "/library/manual/raw-chicken"


def test_a_cited_passage_opens_marked_at_its_place(
    owner: Database, browser: CheckedClient, section: ManualSection
) -> None:
    for document in passages(owner, section):
        sheet = browser.fragment(f"/library/passages/{document.id}")
        [link] = [a for a in sheet.find_all("a") if "Open in the manual" in a.text]
        address = link.attributes["href"]
        assert address.endswith("#passage")
        page = browser.page(address.removesuffix("#passage"))
        assert page.find("mark", id="passage").text
        assert len(page.find_all("td")) == 2


@pytest.mark.parametrize("entity", ["section", "product"])
def test_a_passage_of_what_was_taken_out_is_404_and_says_why(
    owner: Database, member: Member, browser: CheckedClient, section: ManualSection, entity: str
) -> None:
    product = make_product(owner, member.group_id)
    source = section.id if entity == "section" else product.id
    with owner.transaction() as session:
        [document, *_] = session.scalars(
            select(SearchDocument).where(SearchDocument.source_id == source)
        )
        # By hand, past the import: the index does not know of it.
        if entity == "section":
            session.get_one(ManualSection, source).is_published = False
        else:
            session.get_one(Product, source).is_active = False
    told = "This passage has changed since it was cited"
    assert told in browser.page(f"/library/passages/{document.id}", 404).text
    assert told in browser.fragment(f"/library/passages/{document.id}", 404).text


def test_a_passage_of_a_section_that_an_import_took_out_is_404(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    chapter = "Intro.\n\n## Tips {#tips}\nPooled."
    make_section(owner, member.group_id, "pay", "Pay", chapter)
    with owner.session() as session:
        tips = session.scalars(
            select(SearchDocument).where(
                SearchDocument.group_id == member.group_id, SearchDocument.title == "Tips"
            )
        ).one()
    assert "Pooled." in browser.page(f"/library/passages/{tips.id}").text
    make_section(owner, member.group_id, "pay", "Pay", "Intro.")
    browser.page(f"/library/passages/{tips.id}", 404)
    browser.page("/library/manual/tips", 404)


def test_a_passage_without_htmx_is_a_page_of_its_own(
    owner: Database, browser: CheckedClient, section: ManualSection
) -> None:
    [document, *_] = passages(owner, section)
    page = browser.page(f"/library/passages/{document.id}")
    assert "Keep it cold." in page.text


@pytest.mark.parametrize("passage", ["garbage", "", str(UUID(int=1))])
def test_a_passage_that_is_gone_leaves_the_section_readable(
    browser: CheckedClient, section: ManualSection, passage: str
) -> None:
    page = browser.page(f"/library/manual/raw-chicken?passage={passage}")
    assert "Keep it cold." in page.text
    assert page.find_all("mark") == []


def test_a_passage_of_another_section_marks_nothing(
    owner: Database, member: Member, browser: CheckedClient, section: ManualSection
) -> None:
    other = make_section(owner, member.group_id, "fish", "Fish", "On ice.")
    [document] = passages(owner, other)
    page = browser.page(f"/library/manual/raw-chicken?passage={document.id}")
    assert page.find_all("mark") == []


def test_a_section_in_one_language_says_so_to_readers_of_the_other(
    app: Flask, owner: Database, member: Member, section: ManualSection
) -> None:
    reader = sign_in(app, owner, make_user(owner, member.group_id, language="es"))
    page = reader.page("/library/manual/raw-chicken")
    assert "Esta sección" in page.text
    make_section(
        owner, member.group_id, "raw-chicken", "Pollo crudo", "Mantenlo frío.", language="es"
    )
    page = reader.page("/library/manual/raw-chicken")
    assert "Mantenlo frío." in page.text
    assert "Esta sección" not in page.text


def test_a_cited_passage_is_shown_in_its_own_language(
    owner: Database, member: Member, browser: CheckedClient, section: ManualSection
) -> None:
    make_section(
        owner, member.group_id, "raw-chicken", "Pollo crudo", "Mantenlo frío.", language="es"
    )
    spanish = next(d for d in passages(owner, section) if d.language == "es")
    page = browser.page(f"/library/manual/raw-chicken?passage={spanish.id}")
    assert page.find("mark").text == "Mantenlo frío."


def test_a_section_below_an_unpublished_chapter_can_still_be_read(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    chapter = make_section(
        owner, member.group_id, "pay", "Pay", "Intro.\n\n## Tips {#tips}\nPooled."
    )
    with owner.transaction() as session:
        session.execute(
            update(ManualSection).where(ManualSection.id == chapter.id).values(is_published=False)
        )
    assert "Pooled." in browser.page("/library/manual/tips").text
    browser.page("/library/manual/pay", 404)


def test_a_section_reads_no_other_sections_text(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    deep = "A.\n\n## Two {#two}\nB.\n\n### Three {#three}\nC.\n\n#### Four {#four}\nD."
    make_section(owner, member.group_id, "one", "One", deep)
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if "FROM manual_sections" in statement:
            statements.append(statement)

    engine = app.extensions["comanda"].database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        page = browser.page("/library/manual/three")
    finally:
        event.remove(engine, "before_cursor_execute", note)
    [crumbs] = page.find_all("ol", **{"class": "crumbs"})
    assert [link.text for link in crumbs.find_all("a")] == ["Manual and menu", "One", "Two"]
    assert "Four" in [link.text for link in page.find_all("a", **{"class": "shelf-link"})]
    assert ["body_en" in statement for statement in statements].count(True) == 1


def test_a_product_shows_its_record_and_warns_of_ones_own_allergens(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_product(owner, member.group_id)
    page = browser.page("/library/dishes/ribeye")
    assert page.find("h1").text == "Ribeye"
    assert "$48.00" in page.text
    assert "On your own list: milk." in page.text.lower().replace("on your", "On your")
    assert "butter" in page.text
    assert "16 oz" in page.text


def test_a_product_without_declared_allergens_does_not_claim_to_have_none(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_product(owner, member.group_id, allergens=[], slug="declared")
    make_product(owner, member.group_id, allergens=None, slug="undeclared")
    declared = browser.page("/library/dishes/declared").text
    undeclared = browser.page("/library/dishes/undeclared").text
    assert "None of the listed allergens is on its card" in declared
    assert "None of the listed allergens is on its card" not in undeclared


def test_a_product_is_shown_in_the_readers_language_and_the_groups_currency(
    app: Flask, owner: Database, member: Member
) -> None:
    make_product(owner, member.group_id)
    reader = sign_in(app, owner, make_user(owner, member.group_id, language="es"))
    page = reader.page("/library/dishes/ribeye")
    assert "mantequilla" in page.text
    assert "48.00" in page.text or "48,00" in page.text


def test_no_payload_of_an_editor_runs_on_any_page(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    pages = ["/library/", "/library/search?q=before", "/library/dishes"]
    for number, words in enumerate(payload.replace("\0", "") for payload in PAYLOADS):
        text = f"Before\n\n{words}\n\nAfter"
        section = make_section(owner, member.group_id, f"attack-{number}", "Attack", text)
        with owner.transaction() as session:
            session.get_one(ManualSection, section.id).title_en = words
        make_product(
            owner,
            member.group_id,
            slug=f"dish-{number}",
            name_en=words,
            description_en=words,
            category=words,
            pairing_notes_en=words,
            tags=[words],
            facts={"style": words},
            ingredients=[{"en": words, "es": words}],
        )
        pages += (f"/library/manual/attack-{number}", f"/library/dishes/dish-{number}")
        pages += (f"/library/passages/{document.id}" for document in passages(owner, section))
    for path in pages:
        is_part = "/passages/" in path
        answer = browser.client.get(path, headers=HTMX) if is_part else browser.get(path)
        assert answer.status_code == 200
        # A link of an editor's own may lead elsewhere; nothing may run or be fetched.
        assert "<script>alert" not in answer.text
        assert "<img" not in answer.text
        assert "<iframe" not in answer.text
        shown = answer.text.replace("'", '"').replace('\\"', "")
        assert 'javascript:alert(1)"' not in shown


# What is not yours, or not there


def test_an_address_that_no_database_takes_is_400(browser: CheckedClient) -> None:
    browser.page("/library/manual/%00", 400)
    browser.page("/library/dishes/a%00b", 400)


def test_nothing_of_another_group_can_be_read(
    app: Flask, owner: Database, member: Member, section: ManualSection
) -> None:
    product = make_product(owner, member.group_id)
    other = sign_in(app, owner, make_user(owner, role="admin"))
    paths = [
        f"/library/manual/{section.slug}",
        f"/library/dishes/{product.slug}",
        *(f"/library/passages/{document.id}" for document in passages(owner, section)),
    ]
    for path in paths:
        other.page(path, 404)
        assert other.client.get(path, headers=HTMX).status_code == 404
    assert "Raw chicken" not in other.page("/library/").text


@pytest.mark.parametrize(
    "path",
    [
        "/library/manual/nothing",
        "/library/dishes/nothing",
        "/library/gossip/ribeye",
        "/library/passages/not-an-id",
        f"/library/passages/{UUID(int=1)}",
    ],
)
def test_what_is_not_there_is_404(browser: CheckedClient, path: str) -> None:
    browser.page(path, 404)


def test_what_was_taken_off_the_menu_is_404(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, member.group_id)
    with owner.transaction() as session:
        session.execute(update(Product).where(Product.id == product.id).values(is_active=False))
    browser.page("/library/dishes/ribeye", 404)
    assert "Ribeye" not in browser.page("/library/").text


@pytest.mark.parametrize(
    "path",
    [
        "/library/",
        "/library/search?q=x",
        "/library/manual/x",
        "/library/manual/x/below",
        "/library/manual/x/versions",
        "/library/manual/x/versions/1",
        "/library/dishes",
        "/library/dishes/x",
    ],
)
def test_a_stranger_is_asked_to_sign_in(app: Flask, path: str) -> None:
    response = app.test_client().get(path)
    assert (response.status_code, response.location.split("?")[0]) == (303, "/sign-in")
