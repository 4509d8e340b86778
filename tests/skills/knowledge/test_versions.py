"""Older versions of a section: listed, compared, brought back by those who may."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.db import Database
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import LibraryRevision, ManualSection
from app.skills.knowledge.services.revisions import keep, snapshot
from app.text.diff import Change, compare, compare_within
from tests.factories import CheckedClient, Member, make_section, make_user, sign_in
from tests.statements import noted_statements

PATH = "/library/manual/raw-chicken/versions"


@pytest.fixture
def editor(owner: Database) -> Member:
    return make_user(owner, role="manager")


@pytest.fixture
def browser(app: Flask, owner: Database, editor: Member) -> CheckedClient:
    return sign_in(app, owner, editor)


@pytest.fixture
def section(owner: Database, editor: Member) -> ManualSection:
    return make_section(owner, editor.group_id, "raw-chicken", "Raw chicken", "Two hours at most.")


def edit(database: Database, editor: Member, section: ManualSection, **values: object) -> None:
    """As an editor's page does: what it was is kept."""
    with database.transaction(editor.scope) as session:
        found = session.get_one(ManualSection, section.id)
        before = snapshot(found)
        for name, value in values.items():
            setattr(found, name, value)
        keep(session, found, before)


def stored(database: Database, editor: Member, section: ManualSection) -> ManualSection:
    with database.session(editor.scope) as session:
        return session.get_one(ManualSection, section.id)


def test_a_new_section_has_no_older_version(browser: CheckedClient, section: ManualSection) -> None:
    assert "has not been changed" in browser.page(PATH).text


def test_versions_are_listed_with_who_changed_them(
    database: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    edit(database, editor, section, body_en="One hour at most.")
    edit(database, editor, section, body_en="Half an hour.")
    page = browser.page(PATH)
    rows = page.find_all("tr")[1:]
    assert [row.find_all("td")[0].text for row in rows] == ["2", "1"]
    assert all(editor.name in row.text for row in rows)
    read = browser.page("/library/manual/raw-chicken")
    assert f"by {editor.name}" in read.text
    assert PATH in {link.attributes["href"] for link in read.find_all("a")}


@pytest.mark.fault(67)
def test_versions_come_in_pages_of_twenty_and_each_is_found_by_its_number(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    with owner.session(editor.scope) as session:
        found = session.get_one(ManualSection, section.id)
        for number in range(45):
            before = snapshot(found)
            found.body_en = f"{number} minutes at most."
            keep(session, found, before)
        session.commit()
    with noted_statements() as noted:
        pages = [browser.page(f"{PATH}?page={number}") for number in (1, 2, 3, 4)]
    rows = [[row.find_all("td")[0].text for row in page.find_all("tr")[1:]] for page in pages]
    numbers = [str(number) for number in range(45, 0, -1)]
    assert rows == [numbers[:20], numbers[20:40], numbers[40:], []]
    turns = [[a.text.strip() for a in page.find("nav", class_="turns").find_all("a")]
             for page in pages]  # fmt: skip
    newer, older = "Newer versions", "Older versions"
    assert turns == [[older], [newer, older], [newer], [newer]]
    assert "has not been changed" not in pages[3].text
    assert not [each for each in noted if "library_revisions.snapshot," in each]
    with noted_statements() as noted:
        assert "Version 3" in browser.page(f"{PATH}/3").find("h1").text
    read = [each for each in noted if "FROM library_revisions" in each]
    assert len(read) == 2
    assert all("library_revisions.version = " in each for each in read)


def test_a_version_shows_word_by_word_what_has_changed(
    database: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    edit(database, editor, section, body_en="One hour at most.", kind="policy")
    page = browser.page(f"{PATH}/1")
    diff = page.find("div", **{"class": "diff"})
    assert diff.find("del").text == "[removed:] Two hours"
    assert diff.find("ins").text == "[added:] One hour"
    assert "policy" in page.text


def test_restoring_brings_the_words_back_and_keeps_those_of_now(
    database: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    edit(database, editor, section, body_en="One hour.", title_en="Chicken", position=9)
    response = browser.post(f"{PATH}/1/restore", version="2")
    assert (response.status_code, response.location) == (303, "/library/manual/raw-chicken")
    now = stored(database, editor, section)
    assert (now.body_en, now.title_en, now.version) == ("Two hours at most.", "Raw chicken", 3)
    assert now.position == 9  # its place is not what was asked for
    with database.session(editor.scope) as session:
        kept = session.scalars(
            select(LibraryRevision).where(
                LibraryRevision.entity_id == section.id, LibraryRevision.version == 2
            )
        ).one()
        assert kept.snapshot
        assert kept.snapshot["body_en"] == "One hour."
        assert kept.author_id == editor.user_id
        [document] = session.scalars(
            select(SearchDocument).where(SearchDocument.source_id == section.id)
        )
        assert (document.title, document.text) == ("Raw chicken", "Two hours at most.")
        audited = select(AuditEntry.subject).where(
            AuditEntry.action == "section_restored", AuditEntry.user_id == editor.user_id
        )
        assert session.scalars(audited).all() == ["raw-chicken v1"]


def test_a_section_that_was_taken_out_comes_back(
    database: Database,
    owner: Database,
    editor: Member,
    browser: CheckedClient,
    section: ManualSection,
) -> None:
    edit(database, editor, section, body_en="", title_en="", is_published=False)
    assert "only editors see it" in browser.page(PATH).text
    assert "published then and is not now" in browser.page(f"{PATH}/1").text
    browser.post(f"{PATH}/1/restore", version="2")
    assert "Two hours at most." in browser.page("/library/manual/raw-chicken").text


def test_a_language_that_a_version_did_not_have_stays(
    database: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    edit(database, editor, section, title_es="Pollo crudo", body_es="Dos horas.")
    page = browser.page(f"{PATH}/1")
    assert "had no Spanish text yet" in page.text
    assert "Nothing else is different today." in page.text
    edit(database, editor, section, body_en="One hour.")
    page = browser.page(f"{PATH}/1")
    assert "had no Spanish text yet" in page.text
    assert "Dos horas." not in page.text
    assert browser.post(f"{PATH}/1/restore", version="3").status_code == 303
    now = stored(database, editor, section)
    assert (now.body_en, now.title_es, now.body_es) == (
        "Two hours at most.", "Pollo crudo", "Dos horas.",
    )  # fmt: skip
    # What it had of a language comes back as it was.
    assert "had no Spanish text yet" not in browser.page(f"{PATH}/2").text


def test_a_version_that_was_shown_is_not_restored_below_a_hidden_section(
    database: Database, owner: Database, editor: Member, browser: CheckedClient,
    section: ManualSection,
) -> None:  # fmt: skip
    chapter = make_section(owner, editor.group_id, "chapter", "Chapter")
    edit(database, editor, chapter, is_published=False)
    edit(database, editor, section, parent_id=chapter.id, is_published=False)
    response = browser.post(f"{PATH}/1/restore", version="2")
    assert response.status_code == 409
    assert "Show that one first" in response.text
    assert not stored(database, editor, section).is_published
    edit(database, editor, chapter, is_published=True)
    assert browser.post(f"{PATH}/1/restore", version="2").status_code == 303
    assert stored(database, editor, section).is_published


def test_a_version_that_was_hidden_is_not_restored_above_what_is_shown(
    database: Database, owner: Database, editor: Member, browser: CheckedClient,
    section: ManualSection,
) -> None:  # fmt: skip
    edit(database, editor, section, is_published=False)
    edit(database, editor, section, is_published=True)
    below = make_section(owner, editor.group_id, "below", "Below")
    edit(database, editor, below, parent_id=section.id)
    response = browser.post(f"{PATH}/2/restore", version="3")
    assert response.status_code == 422
    assert "There are other sections under it." in response.text
    assert stored(database, editor, section).is_published


def test_sections_below_a_restored_title_are_found_under_it(
    database: Database, owner: Database, editor: Member, browser: CheckedClient
) -> None:
    tree = "Intro.\n\n## Tips {#tips}\nPooled."
    chapter = make_section(owner, editor.group_id, "raw-chicken", "Pay", tree)
    edit(database, editor, chapter, title_en="Wages")
    browser.post(f"{PATH}/1/restore", version="2")
    with database.session(editor.scope) as session:
        below = session.scalars(
            select(SearchDocument).where(
                SearchDocument.group_id == editor.group_id, SearchDocument.title == "Tips"
            )
        ).one()
        assert below.details["path"] == ["Pay", "Tips"]


@pytest.mark.parametrize("seen", ["1", "", "x", "-1", "9" * 20])
def test_what_somebody_else_has_changed_meanwhile_is_not_overwritten(
    database: Database, editor: Member, browser: CheckedClient, section: ManualSection, seen: str
) -> None:
    edit(database, editor, section, body_en="One hour.")
    response = browser.post(f"{PATH}/1/restore", version=seen)
    assert response.status_code == 409
    assert "Somebody has changed this section since" in response.text
    assert stored(database, editor, section).body_en == "One hour."


def test_restoring_what_it_says_already_changes_nothing(
    database: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    edit(database, editor, section, body_en="One hour.")
    edit(database, editor, section, body_en="Two hours at most.")
    assert "says the same today" in browser.page(f"{PATH}/1").text
    browser.post(f"{PATH}/1/restore", version="3")
    assert stored(database, editor, section).version == 3


def test_versions_are_for_editors(
    app: Flask, database: Database, owner: Database, editor: Member, section: ManualSection
) -> None:
    edit(database, editor, section, body_en="One hour.")
    staff = sign_in(app, owner, make_user(owner, editor.group_id))
    for path in (PATH, f"{PATH}/1"):
        staff.page(path, 403)
    assert staff.post(f"{PATH}/1/restore", version="2").status_code == 403
    read = staff.page("/library/manual/raw-chicken")
    assert "versions" not in read.text.lower()
    assert editor.name not in read.text
    other = sign_in(app, owner, make_user(owner, role="admin"))
    for path in (PATH, f"{PATH}/1"):
        other.page(path, 404)
    assert other.post(f"{PATH}/1/restore", version="2").status_code == 404
    assert stored(database, editor, section).body_en == "One hour."


def test_bad_addresses_and_methods_are_refused(
    database: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    edit(database, editor, section, body_en="One hour.")
    browser.page(f"{PATH}/7", 404)
    browser.page(f"{PATH}/x", 404)
    browser.page(f"{PATH}/99999999999999", 404)
    assert browser.get(f"{PATH}/1/restore").status_code == 405
    assert browser.post(f"{PATH}/1/restore", token=False, version="2").status_code == 400
    assert browser.post(f"{PATH}/7/restore", version="2").status_code == 404


# The words


def test_a_difference_is_told_by_words() -> None:
    assert compare(
        "Keep it cold.\nTwo hours.\n", "Keep it very cold.\nTwo hours.\nThrow it out."
    ) == [
        Change("same", "Keep it "),
        Change("added", "very "),
        Change("same", "cold.\nTwo hours.\n"),
        Change("added", "Throw it out."),
    ]
    assert compare("same", "same") == [Change("same", "same")]
    assert compare("", "new") == [Change("added", "new")]
    assert compare("old", "") == [Change("removed", "old")]


def test_both_texts_can_be_read_from_a_difference() -> None:
    before, after = "A b  c\n\nd e. f", "A  c\nd x e? f g\n"
    changes = compare(before, after)
    assert "".join(c.text for c in changes if c.kind != "added") == before
    assert "".join(c.text for c in changes if c.kind != "removed") == after


def test_a_passage_is_compared_with_its_own_place_alone() -> None:
    now = "A long introduction.\n\nOne hour at most, then it goes out. More words after that."
    assert compare_within("Two hours at most, then it goes out.", now) == [
        Change("removed", "Two hours"),
        Change("same", " at most, then it goes out."),
    ] or "added" in {c.kind for c in compare_within("Two hours at most, then it goes out.", now)}
    assert compare_within("Two hours at most.", "Nothing of the kind stands here now") == []
