"""Withdrawing and restoring sections of the manual: what the page listed, and nothing else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import update

from app.db import Database, new_id
from app.skills.knowledge.models import LibraryRevision, ManualSection
from app.skills.knowledge.services.revisions import WITHDRAWAL
from app.skills.knowledge.services.withdrawal import MOST_NAMED
from tests.factories import CheckedClient, Member, Page, make_section, make_user, sign_in
from tests.factories.library import restore, shown_fields, withdraw

HIDDEN = "/library/edit/hidden"


@pytest.fixture
def editor(owner: Database) -> Member:
    return make_user(owner, role="manager", name="Ana")


@pytest.fixture
def browser(app: Flask, owner: Database, editor: Member) -> CheckedClient:
    return sign_in(app, owner, editor)


@pytest.fixture
def colleague(app: Flask, owner: Database, editor: Member) -> CheckedClient:
    return sign_in(app, owner, make_user(owner, editor.group_id, role="admin"))


@pytest.fixture
def chapter(owner: Database, editor: Member) -> ManualSection:
    return make_section(owner, editor.group_id, "cooler", "Cooler")


@pytest.fixture
def below(owner: Database, browser: CheckedClient, chapter: ManualSection) -> ManualSection:
    """A section that stands under the chapter."""
    return put_under(owner, browser, chapter, "fish")


@pytest.fixture
def other(owner: Database, editor: Member) -> ManualSection:
    """A chapter of its own."""
    return make_section(owner, editor.group_id, "bar", "Bar")


def put_under(
    owner: Database, browser: CheckedClient, parent: ManualSection, slug: str
) -> ManualSection:
    form = {"section_id": new_id(), "title_en": slug.title(), "kind": "sop", "slug": slug}
    answer = browser.post(
        "/library/edit/sections/new", **form, is_published="on", parent_id=parent.id
    )
    assert answer.status_code == 303, answer.text
    with owner.session() as session:
        return session.get_one(ManualSection, UUID(answer.location.split("/")[-1].split("?")[0]))


def at(section: ManualSection, more: str = "") -> str:
    return f"/library/edit/sections/{section.id}{more}"


def now(owner: Database, section: ManualSection) -> ManualSection:
    with owner.session() as session:
        return session.get_one(ManualSection, section.id)


def move(owner: Database, browser: CheckedClient, section: ManualSection, parent: Any) -> None:
    form = {"version": now(owner, section).version, "parent_id": getattr(parent, "id", "")}
    assert browser.post(at(section, "/move"), **form).status_code == 303


def hide_in_form(owner: Database, browser: CheckedClient, section: ManualSection) -> None:
    """Hide a section by its form, as one that is not published."""
    current = now(owner, section)
    names = ("title_en", "title_es", "body_en", "body_es", "kind", "version")
    form = {name: getattr(current, name) for name in names}
    assert browser.post(at(section), **form).status_code == 303


def seen(owner: Database, *sections: ManualSection) -> list[bool]:
    """Whether readers see each of these."""
    return [now(owner, each).is_published for each in sections]


def listed(page: Page) -> list[str]:
    """The sections below one, as a page of hidden ones tells of them."""
    [items] = page.find_all("ul", **{"class": "upkeep-below"})
    return [" ".join(each.text.split()) for each in items.find_all("li")]


# Withdrawing


def test_a_section_that_came_below_meanwhile_is_not_withdrawn_unseen(
    owner: Database,
    browser: CheckedClient,
    colleague: CheckedClient,
    chapter: ManualSection,
    below: ManualSection,
    other: ManualSection,
) -> None:
    shown = shown_fields(browser, at(chapter, "/withdraw"))
    move(owner, colleague, other, chapter)
    page = browser._page(browser.post(at(chapter, "/withdraw"), **shown), 409)
    assert "The sections below this one have changed" in page.text
    assert {"Fish", "Bar"} <= {each.text for each in page.find_all("li")}
    assert seen(owner, chapter, below, other) == [True, True, True]
    # What is shown now can be withdrawn.
    assert withdraw(browser, chapter).status_code == 303
    assert seen(owner, chapter, below, other) == [False, False, False]


def test_of_a_section_that_is_new_below_changed_below_or_gone_from_there_a_page_is_too_old(
    owner: Database,
    browser: CheckedClient,
    colleague: CheckedClient,
    chapter: ManualSection,
    below: ManualSection,
) -> None:
    def refused() -> bool:
        answer = browser.post(at(chapter, "/withdraw"), **shown)
        return answer.status_code == 409 and seen(owner, chapter) == [True]

    shown = shown_fields(browser, at(chapter, "/withdraw"))
    put_under(owner, colleague, chapter, "meat")
    assert refused()
    shown = shown_fields(browser, at(chapter, "/withdraw"))
    form = {"title_en": "Fish and shells", "kind": "sop", "is_published": "on", "version": 1}
    assert colleague.post(at(below), **form).status_code == 303
    assert refused()
    shown = shown_fields(browser, at(chapter, "/withdraw"))
    move(owner, colleague, below, None)
    assert refused()
    # Nor does a form that carries no list do anything.
    shown = {"version": "1"}
    assert refused()


def test_a_page_that_is_too_old_is_told_so_in_its_readers_language(
    app: Flask, owner: Database, editor: Member, chapter: ManualSection
) -> None:
    lucia = sign_in(app, owner, make_user(owner, editor.group_id, role="manager", language="es"))
    page = lucia._page(lucia.post(at(chapter, "/withdraw"), version=1), 409)
    assert "Las secciones que están debajo de esta cambiaron" in page.text
    assert withdraw(lucia, chapter).status_code == 303
    page = lucia._page(lucia.post(at(chapter, "/restore")), 409)
    assert "Las secciones que se iban a restaurar cambiaron" in page.text


# Restoring


@pytest.mark.parametrize("hides", ["its own page", "its form"])
@pytest.mark.parametrize("is_first", [True, False], ids=["before", "after"])
def test_what_was_withdrawn_by_itself_does_not_come_back_with_what_it_stands_under_now(
    owner: Database,
    browser: CheckedClient,
    chapter: ManualSection,
    below: ManualSection,
    other: ManualSection,
    hides: str,
    is_first: bool,
) -> None:
    def hide_other() -> None:
        if hides == "its form":
            hide_in_form(owner, browser, other)
        else:
            assert withdraw(browser, other).status_code == 303

    if is_first:
        hide_other()
    assert withdraw(browser, chapter).status_code == 303
    if not is_first:
        hide_other()
    move(owner, browser, other, chapter)
    for page in (browser.page(at(chapter, "/restore")), browser.page(HIDDEN)):
        assert listed(page) == ["Fish", "Bar stays hidden"]
        assert "brings back 2 sections" in page.text
    assert restore(browser, chapter).status_code == 303
    assert seen(owner, chapter, below, other) == [True, True, False]
    # It comes back by itself.
    assert restore(browser, other).status_code == 303
    assert seen(owner, other) == [True]


def test_what_an_import_showed_below_a_hidden_section_and_was_withdrawn_later_stays_hidden(
    owner: Database, browser: CheckedClient, chapter: ManualSection, below: ManualSection
) -> None:
    assert withdraw(browser, chapter).status_code == 303
    with owner.transaction() as session:
        session.get_one(ManualSection, below.id).is_published = True
    assert withdraw(browser, below).status_code == 303
    assert restore(browser, chapter).status_code == 303
    assert seen(owner, chapter, below) == [True, False]


def test_nothing_comes_back_below_what_stays_hidden(
    owner: Database,
    browser: CheckedClient,
    chapter: ManualSection,
    below: ManualSection,
    other: ManualSection,
) -> None:
    assert withdraw(browser, chapter).status_code == 303
    assert withdraw(browser, other).status_code == 303
    move(owner, browser, other, chapter)
    move(owner, browser, below, other)
    assert restore(browser, chapter).status_code == 303
    assert seen(owner, chapter, other, below) == [True, False, False]


def test_what_would_come_back_is_what_the_page_said(
    owner: Database,
    browser: CheckedClient,
    colleague: CheckedClient,
    chapter: ManualSection,
    below: ManualSection,
) -> None:
    assert withdraw(browser, chapter).status_code == 303
    for address in (at(chapter, "/restore"), HIDDEN):
        shown = shown_fields(browser, address)
        # Somebody writes into what the page said would come back.
        form = {"title_en": f"Fish {address}", "kind": "sop", "version": now(owner, below).version}
        assert colleague.post(at(below), **form).status_code == 303
        page = browser._page(browser.post(at(chapter, "/restore"), **shown), 409)
        assert "The sections to restore have changed" in page.text
        assert listed(page) == [f"Fish {address}"]
        assert seen(owner, chapter, below) == [False, False]
    shown = shown_fields(browser, HIDDEN)
    assert browser.post(at(chapter, "/restore"), **shown).status_code == 303
    assert seen(owner, chapter, below) == [True, True]
    # Sent twice, as phones do: nothing more happens.
    assert browser.post(at(chapter, "/restore"), **shown).status_code == 303


def test_what_was_withdrawn_before_marks_were_kept_comes_back_together(
    owner: Database, browser: CheckedClient, chapter: ManualSection, below: ManualSection
) -> None:
    assert withdraw(browser, chapter).status_code == 303
    with owner.transaction() as session:
        kept = LibraryRevision.snapshot
        own = update(LibraryRevision).where(LibraryRevision.group_id == chapter.group_id)
        session.execute(own.values(snapshot=kept.op("-")(WITHDRAWAL)))
    assert listed(browser.page(HIDDEN)) == ["Fish"]
    assert restore(browser, chapter).status_code == 303
    assert seen(owner, chapter, below) == [True, True]


def test_a_page_says_how_many_come_back_of_more_than_it_names(
    owner: Database, editor: Member, browser: CheckedClient, chapter: ManualSection
) -> None:
    with owner.transaction() as session:
        for number in range(MOST_NAMED + 5):
            session.add(
                ManualSection(
                    group_id=editor.group_id,
                    parent_id=chapter.id,
                    slug=f"below-{number}",
                    title_en=f"Below {number}",
                )
            )
    assert withdraw(browser, chapter).status_code == 303
    page = browser.page(at(chapter, "/restore"))
    assert listed(page)[-1] == "and 5 more"
    assert f"brings back {MOST_NAMED + 6} sections" in page.text


def test_the_page_of_a_hidden_section_leads_to_what_comes_back(
    browser: CheckedClient, chapter: ManualSection, below: ManualSection
) -> None:
    assert withdraw(browser, chapter).status_code == 303
    [link] = [a for a in browser.page(at(chapter)).find_all("a") if "Show it again" in a.text]
    assert link.attributes["href"] == at(chapter, "/restore")
    assert "Restore “Cooler”?" in browser.page(link.attributes["href"]).text
    assert browser.get(at(below, "/restore")).status_code == 200
    # Below what is hidden nothing is shown, and its page says why.
    page = browser._page(browser.post(at(below, "/restore")), 409)
    assert "Show that one first" in page.text
    # What is shown already has nothing to be asked.
    assert restore(browser, chapter).status_code == 303
    assert browser.get(at(chapter, "/restore")).location == at(chapter)
