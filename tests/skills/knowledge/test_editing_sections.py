"""Writing the manual in web pages: making, changing, moving, withdrawing, and who may."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import event, func, select, text

from app.accounts.models import AuditEntry
from app.db import Database, new_id
from app.retrieval.models import Embedding, SearchDocument
from app.retrieval.search import SearchRequest, search
from app.skills.knowledge.models import LibraryRevision, ManualSection
from app.skills.knowledge.services import editor_tree, sections, withdrawal
from app.skills.knowledge.services.reindex import index_entities
from app.skills.knowledge.services.withdrawal import (
    MOST_NAMED,
    PAGE,
    list_shown_below,
    sign_rows,
    withdraw_section,
)
from tests.factories import (
    CheckedClient,
    Member,
    embed_library,
    make_section,
    make_user,
    sign_in,
)
from tests.factories.library import restore, shown_fields, withdraw
from tests.script_payloads import PAYLOADS
from tests.statements import noted_statements


@pytest.fixture
def editor(owner: Database) -> Member:
    return make_user(owner, role="manager", name="Ana")


@pytest.fixture
def browser(app: Flask, owner: Database, editor: Member) -> CheckedClient:
    return sign_in(app, owner, editor)


@pytest.fixture
def section(owner: Database, editor: Member) -> ManualSection:
    return make_section(owner, editor.group_id)


def at(section: ManualSection, more: str = "") -> str:
    return f"/library/edit/sections/{section.id}{more}"


def typed(section: ManualSection, **more: Any) -> dict[str, Any]:
    """The form of a section as it is, with changes."""
    names = ("title_en", "title_es", "body_en", "body_es", "kind", "version")
    form = {name: getattr(section, name) for name in names}
    return {**form, "is_published": "on", **more}


def now(owner: Database, section: ManualSection) -> ManualSection:
    with owner.session() as session:
        return session.get_one(ManualSection, section.id)


def by_slug(owner: Database, editor: Member, slug: str) -> ManualSection:
    with owner.session() as session:
        return session.scalars(
            select(ManualSection).where(
                ManualSection.group_id == editor.group_id, ManualSection.slug == slug
            )
        ).one()


def found(app: Flask, member: Member, words: str) -> list[str]:
    """The titles of what searching by words alone finds at once."""
    with app.extensions["comanda"].database.session(member.scope) as session:
        outcome = search(session, SearchRequest(words, language="en"), None)
    return [hit.title for hit in outcome.hits]


def audited(owner: Database, editor: Member) -> list[str]:
    with owner.session() as session:
        query = select(AuditEntry.action).where(AuditEntry.group_id == editor.group_id)
        return list(session.scalars(query.order_by(AuditEntry.id)))


# Making


def test_a_new_section_is_there_at_once(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    page = browser.page("/library/edit/sections/new")
    section_id = page.find("input", name="section_id").attributes["value"]
    form = {"section_id": section_id, "title_en": "Closing the bar", "body_en": "Lock the fridge.",
            "kind": "sop", "is_published": "on", "parent_id": ""}  # fmt: skip
    answer = browser.post("/library/edit/sections/new", **form)
    assert answer.status_code == 303
    assert re.match(r"/library/edit/sections/[0-9a-f-]{36}", answer.location)
    page = browser.page(answer.location)
    assert "Saved." in page.text
    assert "by meaning in a moment" in page.find("div", id="search-status").text
    assert browser.page("/library/manual/closing-the-bar").find("h1").text == "Closing the bar"
    # Sent twice, as phones do: still one.
    assert browser.post("/library/edit/sections/new", **form).status_code == 303
    with owner.session() as session:
        query = select(func.count()).where(ManualSection.group_id == editor.group_id)
        assert session.scalar(query) == 1
    assert audited(owner, editor) == ["section_created"]


def test_a_manual_has_so_many_sections(
    owner: Database, editor: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page of an editor shows them all, and others wait for thousands of them."""
    monkeypatch.setattr(sections, "MOST_SECTIONS", 1)
    new, form = "/library/edit/sections/new", {"kind": "sop", "is_published": "on"}
    opening, closing = ({"section_id": new_id(), "title_en": t} for t in ("Opening", "Closing"))
    assert browser.post(new, **form, **opening).status_code == 303
    page = browser._page(browser.post(new, **form, **closing), 422)
    assert "at most 1 sections" in page.text
    assert page.find("input", name="title_en").attributes["value"] == "Closing"
    assert order(owner, editor) == ["opening"]


@pytest.mark.fault(67)
def test_a_manual_has_so_many_characters(
    owner: Database, editor: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (make_section(owner, editor.group_id, name, name, "x" * 40) for name in ("a", "b"))
    other = make_section(owner, make_user(owner).group_id, "elsewhere", "Elsewhere", "x" * 500)
    assert len(other.body_en) == 500
    monkeypatch.setattr(sections, "MOST_LETTERS_IN_ALL", 100)
    new = "/library/edit/sections/new"
    form = {"section_id": new_id(), "kind": "sop", "title_en": "c", "body_es": "ñ" * 18}
    page = browser._page(browser.post(new, **form), 422)
    assert "the manual would have 101 characters" in page.text
    assert "the limit is 100. Shorten this text" in page.text
    assert page.find("textarea", name="body_es").text == "ñ" * 18
    assert browser.post(new, **{**form, "body_es": "ñ" * 17}).status_code == 303
    page = browser._page(browser.post(at(one), **typed(one, body_en="y" * 41)), 422)
    assert "Shorten this text" in page.text
    assert page.find("textarea", name="body_en").text == "y" * 41
    assert now(owner, one).body_en == "x" * 40
    # Whatever makes it no longer is let through, also where it is too long already.
    monkeypatch.setattr(sections, "MOST_LETTERS_IN_ALL", 50)
    assert browser.post(at(one), **typed(one, body_en="y" * 40)).status_code == 303
    assert browser.post(at(two), **typed(two, body_en="Short.")).status_code == 303
    assert browser.post(at(two, "/move"), version=2, direction="up").status_code == 303
    assert withdraw(browser, two).status_code == 303
    assert restore(browser, two).status_code == 303
    # An older version that was longer makes it longer, too.
    page = browser._page(browser.post("/library/manual/b/versions/1/restore", version=5), 422)
    assert "the manual would have 101 characters" not in page.text
    assert "the manual would have 100 characters" in page.text
    assert now(owner, two).body_en == "Short."


def test_a_form_that_made_a_section_says_so_before_it_makes_another(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    form = {"section_id": new_id(), "title_en": "Opening", "kind": "sop", "is_published": "on"}
    assert browser.post("/library/edit/sections/new", **form).status_code == 303
    form["title_en"] = "Closing"
    response = browser.post("/library/edit/sections/new", **form)
    page = browser._page(response, 409)
    assert "This page was already saved once, with different text." in page.text
    assert page.find("input", name="title_en").attributes["value"] == "Closing"
    fresh = page.find("input", name="section_id").attributes["value"]
    assert fresh != str(form["section_id"])
    again = browser.post("/library/edit/sections/new", **{**form, "section_id": fresh})
    assert again.status_code == 303
    assert order(owner, editor) == ["opening", "closing"]


def test_a_new_section_stands_last_under_its_parent(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    page = browser.page(f"/library/edit/sections/new?parent={section.id}")
    [chosen] = [
        o for o in page.find_all("option") if "selected" in o.attributes and o.text != "Procedure"
    ]
    assert chosen.attributes["value"] == str(section.id)
    for title in ("First", "Second", "First"):
        browser.post(
            "/library/edit/sections/new",
            title_es=title, kind="policy", parent_id=section.id, is_published="on",
        )  # fmt: skip
    rows = [by_slug(owner, editor, slug) for slug in ("first", "second", "first-2")]
    assert [row.parent_id for row in rows] == [section.id] * 3
    assert [row.position for row in rows] == [0, 1, 2]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"title_en": " ", "title_es": ""}, "Give it a title"),
        ({"title_en": "x" * 201}, "at most 200 characters"),
        ({"body_es": "x" * 1_000_000}, "at most 200,000 characters"),
        ({"kind": "poem"}, "Choose from the list"),
        (
            {"slug": "Añejo / 1"},
            "An address can only have numbers, hyphens and lowercase letters without accents.",
        ),
        ({"slug": "raw-chicken"}, "Another section has this address"),
        ({"parent_id": "nonsense"}, "Choose from the list"),
        ({"parent_id": str(new_id())}, "Choose from the list"),
    ],
    ids=["title", "long title", "1 MB", "kind", "slug", "taken", "no id", "no parent"],
)
def test_what_is_wrong_is_said_beside_it_and_nothing_typed_is_lost(
    owner: Database,
    editor: Member,
    browser: CheckedClient,
    section: ManualSection,
    wrong: dict[str, str],
    message: str,
) -> None:
    form = {"title_en": "A title", "body_en": "Every word of it.", "kind": "sop", **wrong}
    response = browser.post("/library/edit/sections/new", **form)
    assert response.status_code == 422
    assert message in response.text
    assert "Every word of it." in response.text
    with owner.session() as session:
        query = select(func.count()).where(ManualSection.group_id == editor.group_id)
        assert session.scalar(query) == 1


def test_another_groups_section_is_no_parent(
    owner: Database, browser: CheckedClient, editor: Member
) -> None:
    other = make_section(owner, make_user(owner).group_id)
    response = browser.post(
        "/library/edit/sections/new", title_en="Mine", kind="sop", parent_id=other.id
    )
    assert response.status_code == 422


# Changing


def test_a_saved_section_is_found_by_its_new_words_at_once(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    form = typed(section, body_en="Put it into the blast chiller.", title_es="Pollo crudo")
    assert browser.post(at(section), **form).status_code == 303
    saved = now(owner, section)
    assert (saved.title_es, saved.version) == ("Pollo crudo", 2)
    assert found(app, editor, "blast chiller") == ["Raw chicken"]
    with owner.session() as session:
        [revision] = session.scalars(
            select(LibraryRevision).where(
                LibraryRevision.entity_id == section.id,
                LibraryRevision.version == saved.version - 1,
            )
        )
    assert revision.author_id == editor.user_id
    assert revision.snapshot
    assert revision.snapshot["body_en"].startswith("Raw chicken may stay")
    assert audited(owner, editor) == ["section_changed"]


def test_saving_what_is_there_already_leaves_no_trace(
    owner: Database, browser: CheckedClient, section: ManualSection
) -> None:
    assert browser.post(at(section), **typed(section)).status_code == 303
    assert now(owner, section).version == 1


def test_an_edited_paragraph_embeds_only_its_own_passages(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    parts = [f"## Part {n}\n\n" + f"Sentence about station {n} here. " * 50 for n in range(12)]
    section = make_section(owner, editor.group_id, "long", "Long")
    browser.post(at(section), **typed(section, body_en="\n\n".join(parts)))
    section = now(owner, section)
    embed_library(owner, editor.group_id)
    parts[5] = parts[5].replace("station 5", "grill 5")
    browser.post(at(section), **typed(section, body_en="\n\n".join(parts)))
    with owner.session() as session:
        query = (
            select(func.count(SearchDocument.id), func.count(Embedding.document_id))
            .outerjoin(
                Embedding,
                (Embedding.document_id == SearchDocument.id)
                & (Embedding.content_hash == SearchDocument.content_hash),
            )
            .where(SearchDocument.source_id == section.id)
        )
        passages, embedded = session.execute(query).one()
    assert passages > 6
    assert 1 <= passages - embedded <= 2


def test_the_address_stays_unless_it_is_asked_for(
    owner: Database, browser: CheckedClient, section: ManualSection
) -> None:
    browser.post(at(section), **typed(section, title_en="Poultry"))
    assert now(owner, section).slug == "raw-chicken"
    browser.post(at(section), **typed(now(owner, section), slug="poultry"))
    assert now(owner, section).slug == "poultry"
    make_section(owner, section.group_id, "fish", "Fish")
    taken = browser.post(at(section), **typed(now(owner, section), slug="fish"))
    assert taken.status_code == 422
    assert "Another section has this address" in taken.text


def test_scripts_in_a_text_are_text(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    for number, payload in enumerate(PAYLOADS):
        mine = now(owner, section)
        form = typed(mine, title_en=f"T {payload}", body_en=payload, body_es=payload)
        assert browser.post(at(mine), **form).status_code == 303
        check_that_nothing_runs(browser.get(at(mine)).text)
        with owner.transaction() as session:
            title = f"T {payload}".replace("\0", "")
            for slug in ("seen", "hidden"):
                another = ManualSection(
                    group_id=editor.group_id,
                    slug=f"{slug}-{number}",
                    title_en=title,
                    is_published=slug == "seen",
                )
                session.add(another)
    listed = 0
    for path in ("/library/edit/hidden", "/library/edit/translations"):
        # Lists have twenty rows a page, or fifty.
        for page in range(1, len(PAYLOADS) // 20 + 2):
            text = browser.get(f"{path}?page={page}").text
            listed += len(re.findall(r">\s*T (?!\w)", text))
            check_that_nothing_runs(text)
    assert listed >= 2 * len(PAYLOADS)


def check_that_nothing_runs(page: str) -> None:
    """A link of an editor's own may lead elsewhere; nothing may run or be fetched."""
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<iframe" not in page
    assert 'javascript:alert(1)"' not in page.replace("'", '"').replace('\\"', "")


def test_the_preview_is_what_readers_will_see(
    browser: CheckedClient, section: ManualSection
) -> None:
    address = "/library/edit/sections/preview?language=es"
    shown = browser.post_fragment(address, body_es="# Hola\n\n<script>alert(1)</script> **ya**")
    assert shown.find("div", id="preview-es").find("strong").text == "ya"
    assert shown.find_all("script") == []
    plainly = browser.post(at(section), **typed(section, body_en="Not **saved**", action="preview"))
    assert plainly.status_code == 200
    assert "<strong>saved</strong>" in plainly.text
    assert browser.get("/library/edit/sections/preview").status_code == 405


# Two at once


def test_who_saves_second_keeps_their_words_and_sees_the_others(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    other = sign_in(app, owner, make_user(owner, editor.group_id, "admin", name="Luis"))
    other.post(at(section), **typed(section, body_en="Luis wrote this."))
    response = browser.post(at(section), **typed(section, body_en="Ana wrote this."))
    assert response.status_code == 409
    page = browser._page(response, 409)
    assert "Luis changed this while you were writing" in page.text
    assert "Luis wrote this." in page.find("dl").text
    assert page.find("textarea", name="body_en").text == "Ana wrote this."
    assert now(owner, section).body_en == "Luis wrote this."
    # Knowing of it, they save over it.
    form = page.find("form", **{"class": "editor"})
    version = form.find("input", name="version").attributes["value"]
    again = typed(section, body_en="Both wrote this.", version=version)
    assert browser.post(at(section), **again).status_code == 303
    assert now(owner, section).body_en == "Both wrote this."


def test_ones_own_other_window_is_not_somebody_else(
    browser: CheckedClient, section: ManualSection
) -> None:
    browser.post(at(section), **typed(section, body_en="In one window."))
    response = browser.post(at(section), **typed(section, body_en="In the other."))
    page = browser._page(response, 409)
    assert "You changed this in another window" in page.text
    assert "Ana changed this" not in page.text
    assert "In one window." in page.find("dl").text


@pytest.mark.parametrize("version", [2**31, 2**63, "9" * 400, -1, -(2**40), "", "x"])
def test_a_version_that_is_none_is_an_old_one_and_loses_no_word(
    owner: Database, browser: CheckedClient, section: ManualSection, version: int | str
) -> None:
    form = typed(section, body_en="Three hours of work.", version=version)
    page = browser._page(browser.post(at(section), **form), 409)
    assert page.find("textarea", name="body_en").text == "Three hours of work."
    again = page.find("form", **{"class": "editor"}).find("input", name="version")
    assert again.attributes["value"] == "1"
    for more in ("/move", "/withdraw"):
        sent = {"version": version, "direction": "up"}
        assert browser.post(at(section, more), **sent).status_code == 409
    assert now(owner, section).version == 1


def test_of_many_who_save_at_once_one_wins_and_nobody_loses_a_word(
    app: Flask, owner: Database, editor: Member, section: ManualSection
) -> None:
    people = [make_user(owner, editor.group_id, "manager") for _ in range(6)]
    browsers = [sign_in(app, owner, person) for person in people]
    for each in browsers:
        assert each.csrf_token

    def save(number: int) -> tuple[int, bool]:
        text = f"Version of editor {number}."
        response = browsers[number].post(at(section), **typed(section, body_en=text))
        return response.status_code, text in response.text

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(save, range(6)))
    assert sorted(status for status, _ in results) == [303] + [409] * 5
    assert all(is_kept for status, is_kept in results if status == 409)
    assert now(owner, section).version == 2


def test_the_same_form_sent_twice_is_saved_once(
    owner: Database, browser: CheckedClient, section: ManualSection
) -> None:
    form = typed(section, body_en="Once.")
    assert [browser.post(at(section), **form).status_code for _ in range(2)] == [303, 303]
    assert now(owner, section).version == 2


def test_a_neighbours_move_is_no_conflict(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    make_section(owner, editor.group_id, "fish", "Fish")
    fish = by_slug(owner, editor, "fish")
    browser.post(at(fish, "/move"), version=fish.version, direction="up")
    assert browser.post(at(section), **typed(section, body_en="Mine.")).status_code == 303
    # Nor is one's own move.
    assert now(owner, fish).version == 2
    assert browser.post(at(fish), **typed(fish, body_en="Mine.")).status_code == 303


@pytest.mark.fault(67)
def test_of_many_versions_the_one_that_was_opened_is_read(
    owner: Database, browser: CheckedClient, section: ManualSection
) -> None:
    for number in range(1, 6):
        browser.post(at(section), **typed(section, body_en=f"Number {number}.", version=number))
    with noted_statements() as noted:
        answer = browser.post(at(section), **typed(section, body_en="Mine.", version=2))
    assert answer.status_code == 409
    read = [each for each in noted if re.search(r"SELECT.*snapshot.*FROM", each, re.DOTALL)]
    assert read
    assert all("library_revisions.version = " in each for each in read)


def test_a_section_that_was_removed_meanwhile_gives_the_words_back(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    with owner.transaction() as session:
        session.execute(text("DELETE FROM manual_sections WHERE id = :id"), {"id": section.id})
    response = browser.post(at(section), **typed(section, body_en="Three hours of work."))
    page = browser._page(response, 404)
    assert "This section was removed in the meantime." in page.text
    assert page.find("textarea", name="body_en").text == "Three hours of work."
    assert page.find("form", **{"class": "editor"}).attributes["action"].endswith("/sections/new")


def test_a_section_that_was_withdrawn_meanwhile_is_a_conflict(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    withdraw(browser, section)
    response = browser.post(at(section), **typed(section, body_en="Still here."))
    assert response.status_code == 409
    assert "Still here." in response.text


# Moving


@pytest.fixture
def chapters(owner: Database, editor: Member) -> list[ManualSection]:
    names = ("alpha", "beta", "gamma")
    return [make_section(owner, editor.group_id, name, name.title(), name) for name in names]


def order(owner: Database, editor: Member, parent: UUID | None = None) -> list[str]:
    with owner.session() as session:
        return list(
            session.scalars(
                select(ManualSection.slug)
                .where(
                    ManualSection.group_id == editor.group_id,
                    ManualSection.parent_id.is_not_distinct_from(parent),
                )
                .order_by(ManualSection.position, ManualSection.slug)
            )
        )


def test_sections_move_up_and_down_and_stay_at_the_ends(
    owner: Database, editor: Member, browser: CheckedClient, chapters: list[ManualSection]
) -> None:
    alpha, _, gamma = chapters
    assert browser.post(at(gamma, "/move"), version=1, direction="up").status_code == 303
    assert order(owner, editor) == ["alpha", "gamma", "beta"]
    browser.post(at(alpha, "/move"), version=1, direction="up")
    assert order(owner, editor) == ["alpha", "gamma", "beta"]
    browser.post(at(alpha, "/move"), version=1, direction="down")
    assert order(owner, editor) == ["gamma", "alpha", "beta"]
    # Pressed twice with the page of before: not moved twice.
    assert browser.post(at(alpha, "/move"), version=1, direction="down").status_code == 409
    assert browser.post(at(gamma, "/move"), version=9, direction="up").status_code == 409
    assert browser.post(at(gamma, "/move"), version=3, direction="left").status_code == 422


@pytest.fixture
def loaded() -> Iterator[list[int]]:
    """How many sections were in memory as each of them was loaded, with its texts."""
    alive: weakref.WeakSet[ManualSection] = weakref.WeakSet()
    counts: list[int] = []

    def note(target: ManualSection, _context: object) -> None:
        alive.add(target)
        counts.append(len(alive))

    event.listen(ManualSection, "load", note)
    yield counts
    event.remove(ManualSection, "load", note)


@pytest.mark.fault(67)
def test_a_move_reads_and_keeps_the_moved_section_alone(
    owner: Database, editor: Member, browser: CheckedClient, chapters: list[ManualSection],
    loaded: list[int],
) -> None:  # fmt: skip
    alpha, beta, gamma = chapters
    assert browser.csrf_token
    loaded.clear()
    with noted_statements() as noted:
        browser.post(at(alpha, "/move"), version=1, direction="down")
    assert len(loaded) == 1
    assert len([each for each in noted if "INSERT INTO library_revisions" in each]) == 1
    assert order(owner, editor) == ["beta", "alpha", "gamma"]
    for each, version in ((alpha, 2), (beta, 1), (gamma, 1)):
        assert now(owner, each).version == version
    assert now(owner, beta).updated_at == beta.updated_at
    with owner.session() as session:
        kept = select(LibraryRevision.entity_id).where(
            LibraryRevision.group_id == editor.group_id, LibraryRevision.snapshot.is_not(None)
        )
        assert session.scalars(kept).all() == [alpha.id]


def test_a_section_moves_under_another_and_its_passages_say_so(
    owner: Database, editor: Member, browser: CheckedClient, chapters: list[ManualSection]
) -> None:
    alpha, beta, gamma = chapters
    browser.post(at(beta, "/move"), version=1, parent_id=alpha.id)
    browser.post(at(gamma, "/move"), version=1, parent_id=beta.id)
    assert order(owner, editor, alpha.id) == ["beta"]
    with owner.session() as session:
        query = select(SearchDocument).where(SearchDocument.source_id == gamma.id)
        [document] = session.scalars(query)
    assert document.details["path"] == ["Alpha", "Beta", "Gamma"]
    for parent in (alpha, beta, gamma):
        response = browser.post(at(alpha, "/move"), version=1, parent_id=parent.id)
        assert response.status_code == 422
        assert "cannot be under itself" in response.text
    other = make_section(owner, make_user(owner).group_id, "elsewhere", "Elsewhere")
    assert browser.post(at(alpha, "/move"), version=1, parent_id=other.id).status_code == 422
    browser.post(at(beta, "/move"), version=2, parent_id="")
    assert order(owner, editor) == ["alpha", "beta"]


def test_a_section_is_indexed_alike_whoever_changes_it(
    owner: Database, editor: Member, browser: CheckedClient, chapters: list[ManualSection]
) -> None:
    alpha, beta, gamma = chapters
    browser.post(at(beta, "/move"), version=1, parent_id=alpha.id)
    browser.post(at(gamma, "/move"), version=1, parent_id=beta.id)

    def paths() -> list[Any]:
        with owner.session() as session:
            query = select(SearchDocument.details).where(SearchDocument.source_id == gamma.id)
            return [(details["path"], details["slug"]) for details in session.scalars(query)]

    expected = [(["Alpha", "Beta", "Gamma"], "gamma")]
    assert paths() == expected
    # Hidden or not, this is where it stands.
    withdraw(browser, alpha)
    assert paths() == expected
    changed = typed(now(owner, gamma), body_en="New.", kind="training")
    del changed["is_published"]
    assert browser.post(at(gamma), **changed).status_code == 303
    address = "/library/manual/gamma/versions/3/restore"
    assert browser.post(address, version=4).status_code == 303
    assert paths() == expected
    with owner.transaction() as session:
        sections = [session.get_one(ManualSection, each.id) for each in chapters]
        index_entities(session, sections, group_id=editor.group_id)
    assert paths() == expected
    restore(browser, alpha)
    renamed = typed(now(owner, alpha), title_en="Omega")
    assert browser.post(at(alpha), **renamed).status_code == 303
    assert paths() == [(["Omega", "Beta", "Gamma"], "gamma")]


def test_two_moves_at_once_make_no_circle(
    app: Flask, owner: Database, editor: Member, chapters: list[ManualSection]
) -> None:
    alpha, beta, _ = chapters
    browsers = [sign_in(app, owner, make_user(owner, editor.group_id, "admin")) for _ in range(2)]
    for each in browsers:
        assert each.csrf_token

    def move(number: int) -> int:
        what, under = ((alpha, beta), (beta, alpha))[number]
        form = {"version": 1, "parent_id": under.id}
        return browsers[number].post(at(what, "/move"), **form).status_code

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(move, range(2)))
    assert statuses == [303, 422]


# Withdrawing


def test_withdrawing_names_what_hangs_below_and_can_be_undone(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient,
    chapters: list[ManualSection],
) -> None:  # fmt: skip
    alpha, beta, gamma = chapters
    browser.post(at(beta, "/move"), version=1, parent_id=alpha.id)
    browser.post(at(gamma, "/move"), version=1, parent_id=alpha.id)
    # What was withdrawn on its own before does not come back with the rest.
    withdraw(browser, gamma)
    page = browser.page(at(alpha, "/withdraw"))
    assert "1 section under it will be withdrawn too" in page.text
    assert "Beta" in page.text
    assert "Gamma" not in page.text
    answer = withdraw(browser, alpha)
    assert answer.status_code == 303
    page = browser.page(answer.location)
    assert "2 sections are withdrawn." in page.text
    assert browser.get("/library/manual/beta").status_code == 404
    assert found(app, editor, "beta") == []
    assert restore(browser, beta).status_code == 409
    assert restore(browser, alpha).status_code == 303
    assert browser.get("/library/manual/beta").status_code == 200
    assert browser.get("/library/manual/gamma").status_code == 404
    assert found(app, editor, "beta") == ["Beta"]
    assert audited(owner, editor)[-2:] == ["section_withdrawn", "section_restored"]


@pytest.fixture
def wide(
    owner: Database, editor: Member, chapters: list[ManualSection], monkeypatch: pytest.MonkeyPatch
) -> ManualSection:
    """A chapter with more below it than are read at a time."""
    monkeypatch.setattr(editor_tree, "BATCH_ROWS", 2)
    with owner.transaction() as session:
        for number in range(12):
            session.add(
                ManualSection(
                    group_id=editor.group_id, parent_id=chapters[0].id, slug=f"below-{number}",
                    title_en=f"Below {number}", body_en=f"Text {number}.",
                )
            )  # fmt: skip
    return chapters[0]


def paths(owner: Database, editor: Member) -> set[tuple[str, bool]]:
    """What stands above each passage of the sections below, and whether readers see it."""
    with owner.session() as session:
        rows = session.execute(
            select(SearchDocument.details, SearchDocument.is_published).where(
                SearchDocument.group_id == editor.group_id,
                SearchDocument.title.startswith("Below"),
            )
        ).all()
        assert len(rows) == 12
        return {(details["path"][0], is_published) for details, is_published in rows}


@pytest.mark.fault(67)
def test_a_whole_chapter_is_never_in_memory_at_once(
    owner: Database, editor: Member, browser: CheckedClient, wide: ManualSection,
    loaded: list[int],
) -> None:  # fmt: skip
    assert browser.csrf_token
    loaded.clear()
    assert browser.post(at(wide), **typed(wide, title_en="Omega")).status_code == 303
    assert paths(owner, editor) == {("Omega", True)}
    for more, is_published in (("/withdraw", False), ("/restore", True)):
        shown = shown_fields(browser, at(wide, more))
        # What the page has loaded is not counted with what the change loads.
        gc.collect()
        assert browser.post(at(wide, more), **shown).status_code == 303
        assert paths(owner, editor) == {("Omega", is_published)}
    assert browser.post(at(wide, "/move"), version=4, direction="down").status_code == 303
    assert len(loaded) > 36
    # The chapter itself, what is worked on, and what is loaded next.
    assert max(loaded) <= 5


@pytest.mark.fault(67)
def test_long_sections_are_read_one_by_one(
    database: Database, editor: Member, wide: ManualSection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor_tree, "BATCH_BYTES", 10)
    with database.session(editor.scope) as session:
        ids = [row.id for row in editor_tree.load_whole_tree(session).below[wide.id]]
        batches = [[row.id for row in each] for each in editor_tree.load_in_batches(session, ids)]
    assert batches == [[id_] for id_ in ids]


@pytest.mark.fault(67)
def test_a_withdrawal_that_fails_in_the_middle_withdraws_nothing(
    owner: Database, database: Database, editor: Member, wide: ManualSection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    batches: list[object] = []

    def fail_later(*arguments: Any, **more: Any) -> None:
        batches.append(arguments)
        if len(batches) == 3:
            raise RuntimeError

    monkeypatch.setattr(withdrawal, "reindex_sections", fail_later)
    with database.session(editor.scope) as session:
        listed = sign_rows(list_shown_below(editor_tree.load_whole_tree(session), wide.id))
        with pytest.raises(RuntimeError):
            withdraw_section(session, wide.id, 1, listed)
    with owner.session() as session:
        hidden = select(func.count()).where(
            ManualSection.group_id == editor.group_id, ~ManualSection.is_published
        )
        assert session.scalar(hidden) == 0


def test_a_section_with_others_below_is_not_hidden_alone(
    owner: Database, browser: CheckedClient, chapters: list[ManualSection]
) -> None:
    alpha, beta, _ = chapters
    browser.post(at(beta, "/move"), version=1, parent_id=alpha.id)
    hiding = {name: value for name, value in typed(alpha).items() if name != "is_published"}
    response = browser.post(at(alpha), **hiding)
    assert response.status_code == 422
    assert (
        "There are other sections under it. “Withdraw” hides them along with it." in response.text
    )
    hiding["version"], leaf = 2, now(owner, beta)
    own = {**hiding, "title_en": leaf.title_en, "body_en": leaf.body_en}
    assert browser.post(at(beta), **own).status_code == 303
    assert not now(owner, beta).is_published


@pytest.fixture
def hidden(owner: Database, browser: CheckedClient, chapters: list[ManualSection]) -> ManualSection:
    """A chapter that readers do not see."""
    alpha = chapters[0]
    withdraw(browser, alpha)
    return now(owner, alpha)


def test_nothing_new_is_shown_below_a_hidden_section(
    owner: Database, editor: Member, browser: CheckedClient, hidden: ManualSection
) -> None:
    form = {"title_en": "New", "body_en": "Every word.", "kind": "sop", "parent_id": hidden.id}
    response = browser.post("/library/edit/sections/new", **form, is_published="on")
    page = browser._page(response, 409)
    assert "Show that one first" in page.text
    assert page.find("textarea", name="body_en").text == "Every word."
    assert browser.post("/library/edit/sections/new", **form).status_code == 303
    made = by_slug(owner, editor, "new")
    assert (made.parent_id, made.is_published) == (hidden.id, False)
    # Nor is it shown afterwards, from its own form or with its button.
    response = browser.post(at(made), **typed(made, title_en="Newer"))
    page = browser._page(response, 409)
    assert "Show that one first" in page.text
    assert page.find("input", name="title_en").attributes["value"] == "Newer"
    response = restore(browser, made)
    assert response.status_code == 409
    assert "Show that one first" in response.text
    restore(browser, hidden)
    assert browser.post(at(made), **typed(now(owner, made))).status_code == 303
    assert now(owner, made).is_published


def test_nothing_that_is_shown_moves_below_a_hidden_section(
    owner: Database, browser: CheckedClient, hidden: ManualSection, chapters: list[ManualSection]
) -> None:
    beta = chapters[1]
    response = browser.post(at(beta, "/move"), version=1, parent_id=hidden.id)
    assert response.status_code == 409
    assert "Show that one first" in response.text
    assert now(owner, beta).parent_id is None
    withdraw(browser, beta)
    assert browser.post(at(beta, "/move"), version=2, parent_id=hidden.id).status_code == 303
    assert now(owner, beta).parent_id == hidden.id


def test_what_is_hidden_hangs_below_what_hides_it(
    browser: CheckedClient, chapters: list[ManualSection]
) -> None:
    alpha, beta, gamma = chapters
    browser.post(at(beta, "/move"), version=1, parent_id=alpha.id)
    browser.post(at(gamma, "/move"), version=1, parent_id=beta.id)
    withdraw(browser, alpha)
    page = browser.page("/library/edit/hidden")
    forms = [f.attributes["action"] for f in page.find("main").find_all("form")]
    assert forms == [at(alpha, "/restore")]
    [below] = page.find_all("ul", **{"class": "upkeep-below"})
    assert [a.text for a in below.find_all("a")] == ["Beta", "Gamma"]


def test_a_long_list_of_hidden_sections_comes_in_pieces(
    owner: Database, editor: Member, browser: CheckedClient, chapters: list[ManualSection]
) -> None:
    alpha = chapters[0]
    with owner.transaction() as session:
        for number in range(PAGE):
            for parent, slug in ((None, "top"), (alpha.id, "below")):
                session.add(
                    ManualSection(
                        group_id=editor.group_id, parent_id=parent, slug=f"{slug}-{number}",
                        title_en=f"{slug} {number}", is_published=parent is not None,
                    )
                )  # fmt: skip
    assert f"and {PAGE - MOST_NAMED} more" in browser.page(at(alpha, "/withdraw")).text
    withdraw(browser, alpha)
    first = browser.page("/library/edit/hidden")
    assert f"and {PAGE - MOST_NAMED} more" in first.text
    [more] = [a for a in first.find_all("a") if a.text == "More"]
    second = browser.page(more.attributes["href"])
    for page, count in ((first, PAGE), (second, 1)):
        assert len(page.find("main").find_all("form")) == count
    assert "More" not in [a.text for a in second.find_all("a")]
    assert "nothing more" in browser.page("/library/edit/hidden?page=3").text


def test_a_circle_in_the_data_stops_nobody(
    owner: Database, editor: Member, browser: CheckedClient, chapters: list[ManualSection]
) -> None:
    alpha, beta, gamma = chapters
    with owner.transaction() as session:
        for what, under in ((alpha, beta), (beta, alpha), (gamma, alpha)):
            session.get_one(ManualSection, what.id).parent_id = under.id
    for section in chapters:
        assert browser.page(at(section))
        assert browser.page(at(section, "/withdraw"))
    assert browser.post(at(gamma), **typed(gamma, title_en="Delta")).status_code == 303
    assert browser.post(at(alpha), **typed(alpha, title_en="Omega")).status_code == 303
    assert withdraw(browser, alpha).status_code == 303
    assert not now(owner, gamma).is_published
    browser.page("/library/edit/hidden")
    # The way out of it.
    assert browser.post(at(beta, "/move"), version=2, parent_id="").status_code == 303
    assert order(owner, editor) == ["beta"]


def test_a_stale_withdrawal_does_nothing(
    owner: Database, browser: CheckedClient, section: ManualSection
) -> None:
    browser.post(at(section), **typed(section, body_en="New words."))
    assert browser.post(at(section, "/withdraw"), version=1).status_code == 409
    assert now(owner, section).is_published


# Whose, who, and how


ADDRESSES = ("", "/withdraw", "/restore")
POSTS = ("", "/move", "/withdraw", "/restore")


def test_another_groups_section_does_not_exist(app: Flask, owner: Database) -> None:
    theirs = make_section(owner, make_user(owner).group_id)
    browser = sign_in(app, owner, make_user(owner, role="admin"))
    for more in ADDRESSES:
        assert browser.get(at(theirs, more)).status_code == 404
    for more in POSTS:
        form = typed(theirs, body_en="Mine now", direction="up")
        assert browser.post(at(theirs, more), **form).status_code == 404
    assert browser.get("/library/edit/manual/raw-chicken").status_code == 404
    assert now(owner, theirs).version == 1


def test_staff_may_read_and_not_edit(app: Flask, owner: Database, editor: Member) -> None:
    section = make_section(owner, editor.group_id)
    browser = sign_in(app, owner, make_user(owner, editor.group_id))
    for path in (
        "sections/new",
        "translations",
        "hidden",
        "tags",
        "allergens",
        "products/new/dishes",
    ):
        assert browser.get(f"/library/edit/{path}").status_code == 403, path
    for more in ADDRESSES:
        assert browser.get(at(section, more)).status_code == 403
    for more in POSTS:
        assert browser.post(at(section, more), **typed(section)).status_code == 403
    assert "/library/edit/" not in browser.get("/library/manual/raw-chicken").text
    assert "/library/edit/" not in browser.get("/library/").text


def test_nobody_edits_without_signing_in_or_a_token(
    app: Flask, browser: CheckedClient, section: ManualSection
) -> None:
    assert "/sign-in" in app.test_client().get(at(section)).location
    assert browser.post(at(section), token=False, **typed(section)).status_code == 400
    assert browser.get(at(section, "/move")).status_code == 405


@pytest.mark.fault(67)
def test_all_that_is_posted_by_editors_of_the_manual_counts_together(
    app: Flask, browser: CheckedClient
) -> None:
    nowhere = str(new_id())
    posts = [
        re.sub(r"<uuid:\w+>", nowhere, rule.rule)
        .replace("<entity>", "section")
        .replace("<slug>", "nowhere")
        .replace("<int(max=2147483647):number>", "1")
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("editing.") or rule.endpoint == "knowledge.restore"
        if "POST" in (rule.methods or ()) and rule.endpoint != "editing.preview"
    ]
    assert len(posts) == 8
    for number in range(120):
        path = posts[number % len(posts)]
        assert browser.post(path, action="preview").status_code not in (429, 500), path
    assert {path: browser.post(path).status_code for path in posts} == dict.fromkeys(posts, 429)


def test_editors_find_the_way_from_the_pages(
    browser: CheckedClient, section: ManualSection
) -> None:
    page = browser.page("/library/manual/raw-chicken")
    [edit] = [a for a in page.find_all("a") if a.text == "Edit"]
    answer = browser.get(edit.attributes["href"])
    assert answer.location == at(section)
    index = browser.page("/library/")
    links = {a.attributes["href"] for a in index.find("nav", id="editor-tools").find_all("a")}
    assert {"/library/edit/sections/new", "/library/edit/products/new/dishes"} <= links
    for link in links:
        browser.page(link)
