"""What lacks a language or lags behind, and how far the search knows what was saved."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.db import Database, new_id
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.services.revisions import keep, snapshot
from app.skills.knowledge.services.translations import (
    PAGE,
    confirm_same,
    count_gaps,
    list_gaps,
)
from tests.factories import (
    CheckedClient,
    Member,
    embed_library,
    make_product,
    make_section,
    make_user,
    sign_in,
)
from tests.skills.knowledge.test_editing_products import typed as typed_product
from tests.skills.knowledge.test_editing_sections import at, now, typed

LIST = "/library/edit/translations"


@pytest.fixture
def editor(owner: Database) -> Member:
    return make_user(owner, role="manager")


@pytest.fixture
def browser(app: Flask, owner: Database, editor: Member) -> CheckedClient:
    return sign_in(app, owner, editor)


@pytest.fixture
def section(owner: Database, editor: Member) -> ManualSection:
    """A section in both languages."""
    make_section(owner, editor.group_id)
    return make_section(
        owner, editor.group_id, title="Pollo crudo", body="Dos horas.", language="es"
    )


def both(*pairs: str) -> list[tuple[str, str, str]]:
    """What a section said in English and in Spanish, version by version, and where it was from."""
    return [(pair[0].strip(), pair[1].strip(), "") for pair in pairs]


@pytest.mark.parametrize(
    ("history", "behind"),
    [
        (both("ax"), ""),
        (both("ax", "bx"), "es"),
        (both("ax", "ay"), "en"),
        (both("ax", "bx", "by"), ""),
        (both("ax", "bx", "cx"), "es"),
        (both("ax", "bx", "by", "bz"), "en"),
        (both("ax", "bx", "by", "bz", "cz", "dz"), "es"),
        (both("ax", "by"), ""),
        (both("ax", "bx", "cy"), ""),
        (both("ax", "bx", "cy", "cz"), "en"),
        (both("a ", "ax"), ""),
        (both("a ", "b ", "bx"), ""),
        (both("ax", "bx", "b "), ""),
        (both("ax", "bx", "bx"), ""),
        (both("ax", "bx", "bx", "by"), "en"),
        ([("a", "x", "1"), ("b", "x", "2"), ("b", "x", "3")], "es"),
        # As far back as it takes: one after the other, and what had a change of its own before.
        (both("ax", "bx", "by", "cy", "cz", "dz", "dw"), ""),
        (both("ax", "bx", "by", "cy", "cz", "dz", "dw", "ew"), "es"),
        (both("ax", "ay", "by", "bz", "cz"), ""),
        (both("ax", "bx", "cx", "cy", "dy", "dz", "dw"), "en"),
        (both("ax", "bx", "bx", "by", "cy", "dy"), "es"),
        (both("ax", "bx", " x", "cx"), "es"),
    ],
)
def test_who_is_left_behind_follows_from_the_changes(
    owner: Database, editor: Member, history: list[tuple[str, str, str]], behind: str
) -> None:
    section = make_section(owner, editor.group_id)
    with owner.session(editor.scope) as session:
        found = session.get_one(ManualSection, section.id)
        for number, (english, spanish, source) in enumerate(history):
            before = snapshot(found)
            found.title_en, found.title_es, found.source = english, spanish, source
            found.body_en = ""
            if number and not keep(session, found, before):
                session.flush()
                confirm_same(session, "section", found.id, found.version)
        session.commit()
    with owner.session(editor.scope) as session:
        outdated = list_gaps(session, is_missing=False)
    assert [gap.language for gap in outdated.gaps] == [behind] * bool(behind)
    assert outdated.total == len(outdated.gaps)


def _unpacked(owner: Database, editor: Member) -> int:
    """How many pieces of long snapshots the database read to count what is behind."""
    pieces = text(
        "SELECT idx_tup_fetch FROM pg_stat_xact_all_tables WHERE relid ="
        " (SELECT reltoastrelid FROM pg_class WHERE oid = 'library_revisions'::regclass)"
    )
    with owner.session(editor.scope) as session:
        before = session.scalar(pieces) or 0
        assert count_gaps(session) == 1
        return int(session.scalar(pieces) or 0) - int(before)


@pytest.mark.fault(67)
def test_of_a_long_history_no_more_is_read_than_says_who_is_behind(
    owner: Database, editor: Member, section: ManualSection
) -> None:
    unpacked = []
    for times in (3, 12):
        with owner.session(editor.scope) as session:
            found = session.get_one(ManualSection, section.id)
            for _ in range(times):
                before = snapshot(found)
                found.body_en = secrets.token_hex(20_000)
                keep(session, found, before)
            session.commit()
        unpacked.append(_unpacked(owner, editor))
    assert unpacked[1] == unpacked[0] > 0


def test_what_lacks_a_language_is_listed_one_tap_from_its_editor(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    assert "Everything is in both languages and says the same thing." in browser.page(LIST).text
    section = make_section(owner, editor.group_id)
    product = make_product(owner, editor.group_id, description_es="")
    page = browser.page(LIST)
    links = {a.attributes["href"] for a in page.find("main").find_all("a")}
    assert {at(section), f"/library/edit/products/{product.id}"} <= links
    assert "Missing 2" in " ".join(page.text.split())
    tools = browser.page("/library/").find("nav", id="editor-tools").text
    assert "Translations 2" in " ".join(tools.split())
    browser.post(at(section), **typed(section, title_es="Pollo", body_es="Dos horas."))
    assert "Missing 1" in " ".join(browser.page(LIST).text.split())


def test_a_change_in_one_language_leaves_the_other_behind_until_it_follows(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    browser.post(at(section), **typed(section, body_en="One hour."))
    page = browser.page(LIST)
    assert "Changed later in the other language" in page.text
    assert "Spanish" in page.find("main").text
    # A move says nothing about the words.
    make_section(owner, editor.group_id, "zebra", "Zebra")
    browser.post(at(section, "/move"), version=2, direction="down")
    assert "Changed later in the other language" in browser.page(LIST).text
    browser.post(at(section), **typed(now(owner, section), body_es="Una hora."))
    assert "Changed later in the other language" not in browser.page(LIST).text


def test_both_can_be_said_to_mean_the_same(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    browser.post(at(section), **typed(section, body_en="Two hours, at most."))
    address = f"{LIST}/section/{section.id}"
    assert browser.post(address, version=1).status_code == 409
    version = now(owner, section).version
    assert browser.post(f"{LIST}/poem/{section.id}", version=version).status_code == 422
    assert browser.get(address).status_code == 405
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    assert stranger.post(address, version=version).status_code == 404
    staff = sign_in(app, owner, make_user(owner, editor.group_id))
    assert staff.post(address, version=version).status_code == 403
    assert browser.post(address, version=version).status_code == 303
    assert "Everything is in both languages and says the same thing." in browser.page(LIST).text


def test_a_product_that_was_changed_in_one_language_is_listed(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, editor.group_id)
    path = f"/library/edit/products/{product.id}"
    browser.post(path, **typed_product(browser, path, description_es="Nuevo."))
    page = browser.page(LIST)
    assert "English" in page.find("main").text
    assert browser.post(f"{LIST}/product/{product.id}", version=2).status_code == 303
    assert "Everything is in both languages and says the same thing." in browser.page(LIST).text
    # The price is the same in every language.
    browser.post(path, **typed_product(browser, path, price="1.00"))
    assert "Everything is in both languages and says the same thing." in browser.page(LIST).text


def test_a_list_that_was_written_in_one_language_lacks_the_other(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, editor.group_id, "recipes", steps=[])
    path = f"/library/edit/products/{product.id}"
    step = {"step_en": "Rest the meat.", "step_es": ""}
    assert browser.post(path, **typed_product(browser, path, **step)).status_code == 303
    assert "Missing 1" in " ".join(browser.page(LIST).text.split())
    assert "Rest the meat." in browser.page(f"/library/recipes/{product.slug}?lang=es").text
    # The form shows what was written, and no more; sent again it says the same.
    form = typed_product(browser, path)
    assert (form["step_en"][0], form["step_es"][0]) == ("Rest the meat.", "")
    browser.post(path, **form)
    assert "Missing 1" in " ".join(browser.page(LIST).text.split())
    browser.post(path, **typed_product(browser, path, step_es="Deja reposar la carne."))
    assert "Everything is in both languages and says the same thing." in browser.page(LIST).text


def test_a_long_list_comes_in_pieces(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    section = make_section(owner, editor.group_id)
    with owner.transaction() as session:
        session.add_all(
            ManualSection(group_id=editor.group_id, slug=f"s-{n}", title_en=f"S {n}")
            for n in range(PAGE)
        )
    first = browser.page(LIST)
    assert f"Missing {PAGE + 1}" in " ".join(first.text.split())
    [more] = [a for a in first.find_all("a") if a.text == "More"]
    second = browser.page(more.attributes["href"])
    shown = [
        a.attributes["href"]
        for page in (first, second)
        for a in page.find("main").find_all("a")
        if "/sections/" in a.attributes["href"]
    ]
    assert len(set(shown)) == len(shown) == PAGE + 1
    assert at(section) in shown
    assert "More" not in [a.text for a in second.find_all("a")]
    for page in ("0", "-3", "x", "9" * 30):
        browser.page(f"{LIST}?page={page}")
    with owner.session(editor.scope) as session:
        for number in (1, 2, 3):
            assert list_gaps(session, is_missing=True, page=number).total == PAGE + 1


# How far the search knows it


def jobs(owner: Database, editor: Member, sql: str) -> None:
    with owner.transaction() as session:
        session.execute(text(sql), {"lock": f"embed:{editor.group_id}"})


def test_the_status_waits_then_is_ready_and_asks_no_more(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    embed_library(owner, editor.group_id)
    address = f"/library/edit/status/{section.id}"
    assert "Ready" in browser.fragment(address).text
    browser.post(at(section), **typed(section, body_en="One hour."))
    waiting = browser.fragment(address).find("div", id="search-status")
    assert "by meaning in a moment" in waiting.text
    assert waiting.attributes["hx-get"] == f"{address}?looks=1"
    late = browser.fragment(f"{address}?looks=39").find("div", id="search-status")
    assert "hx-get" not in late.attributes
    assert "longer than usual" in late.text
    embed_library(owner, editor.group_id)
    ready = browser.fragment(address).find("div", id="search-status")
    assert "Ready" in ready.text
    assert "hx-get" not in ready.attributes


def test_a_failed_embedding_says_so_and_can_be_tried_again(
    owner: Database, editor: Member, browser: CheckedClient, section: ManualSection
) -> None:
    browser.post(at(section), **typed(section, body_en="One hour."))
    jobs(owner, editor, "UPDATE procrastinate_jobs SET status = 'failed' WHERE lock = :lock")
    address = f"/library/edit/status/{section.id}"
    assert "could not be prepared" in browser.fragment(address).text
    assert "could not be prepared" in browser.page(at(section)).text
    again = browser.post_fragment(address)
    assert "by meaning in a moment" in again.text
    assert browser.post(address).location == f"{address}/page"
    assert "by meaning in a moment" in browser.page(f"{address}/page").text


def test_a_text_that_is_unknown_or_another_groups_has_no_status(
    app: Flask, owner: Database, section: ManualSection
) -> None:
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    for source_id in (section.id, new_id()):
        address = f"/library/edit/status/{source_id}"
        assert stranger.get(address).status_code == 404
        assert stranger.get(f"{address}/page").status_code == 404
        assert stranger.post(address).status_code == 404


def test_a_text_without_words_has_nothing_to_find(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    section = make_section(owner, editor.group_id)
    browser.post(at(section), **typed(section, body_en=""))
    assert "nothing here" in browser.fragment(f"/library/edit/status/{section.id}").text


def test_staff_need_not_know(app: Flask, owner: Database, editor: Member, section: Any) -> None:
    staff = sign_in(app, owner, make_user(owner, editor.group_id))
    assert staff.get(f"/library/edit/status/{section.id}").status_code == 403
    assert staff.post(f"/library/edit/status/{section.id}").status_code == 403


def test_one_job_is_enough_for_many_changes(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    for number in range(3):
        product = make_product(owner, editor.group_id, slug=f"dish-{number}")
        path = f"/library/edit/products/{product.id}"
        browser.post(path, **typed_product(browser, path, price=f"{number + 1}.00"))
    with owner.session() as session:
        query = text("SELECT count(*) FROM procrastinate_jobs WHERE lock = :lock")
        lock = {"lock": f"embed:{editor.group_id}"}
        assert session.execute(query, lock).scalar() == 1
        assert (
            len(
                session.scalars(select(Product.id).where(Product.group_id == editor.group_id)).all()
            )
            == 3
        )
