"""Writing the library in a real browser: both languages, previews, conflicts, lost sign-ins."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.skills.knowledge.models import ManualSection
from tests.assistant.processes import wait_until
from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES
from tests.factories import Member, embed_library, make_product, make_section, make_user

STILL: dict[str, Any] = {"reduced_motion": "reduce"}


@pytest.fixture
def editor(house: House) -> Member:
    """A house of their own, in which nobody else's tests look."""
    return make_user(house.owner, role="manager", name="Ana")


@pytest.fixture
def address(house: House, editor: Member) -> str:
    section = make_section(house.owner, editor.group_id)
    return f"/library/edit/sections/{section.id}"


def is_as_wide_as_its_window(visitor: Visitor) -> bool:
    wide: bool = visitor.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    return wide


def pane(page: Page, language: str) -> Any:
    return page.locator(f".pane-{language}")


@BOTH_SIZES
def test_a_section_is_written_in_both_languages(
    visit: Visit, house: House, editor: Member, address: str, phone: bool
) -> None:
    visitor = visit(editor, phone=phone, media=STILL).open("/library/manual/raw-chicken")
    page = visitor.page
    page.get_by_role("link", name="Edit").click()
    expect(page).to_have_url(re.compile(address))
    page.get_by_label("Text, in Markdown").first.fill("Chill it in the **blast chiller**.")
    expect(page.locator("#preview-en strong")).to_have_text("blast chiller")
    if phone:
        expect(pane(page, "es")).to_be_hidden()
        page.locator("#show-es").check()
        expect(pane(page, "en")).to_be_hidden()
    else:
        expect(pane(page, "es")).to_be_visible()
    pane(page, "es").get_by_label("Title").fill("Pollo crudo")
    pane(page, "es").locator("textarea").fill("Enfríalo en el **abatidor**.")
    expect(page.locator("#preview-es strong")).to_have_text("abatidor")
    assert findings(page) == []
    assert is_as_wide_as_its_window(visitor)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".saved")).to_be_visible()
    expect(page.locator("#search-status")).to_contain_text("by meaning in a moment")
    # Nobody reloads: the page finds out by itself, and then asks no more.
    embed_library(house.owner, editor.group_id)
    expect(page.locator("#search-status")).to_contain_text("Ready", timeout=30_000)
    asked = visitor.watch.count("/library/edit/status/")
    page.wait_for_timeout(2_500)
    assert visitor.watch.count("/library/edit/status/") == asked
    visitor.open("/library/manual/raw-chicken?lang=es")
    expect(page.locator(".prose strong")).to_have_text("abatidor")


def expect_saved(page: Page) -> None:
    expect(page.locator(".saved")).to_be_visible()
    # A script of that page forgets what was sent, and then takes "saved" out of the address.
    expect(page).not_to_have_url(re.compile("saved"))


def test_two_new_sections_one_after_the_other_are_two(
    visit: Visit, house: House, editor: Member, address: str
) -> None:
    visitor = visit(editor, fresh=True)
    page = visitor.page
    for title in ("Opening", "Closing"):
        visitor.open("/library/edit/sections/new")
        expect(page.locator("#brought-back")).to_be_hidden()
        expect(page.locator("#f-title_en")).to_have_value("")
        page.locator("#f-title_en").fill(title)
        page.wait_for_timeout(500)
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("#f-title_en")).to_have_value(title)
        page.get_by_label("Under", exact=True).select_option(
            label="Top level: a chapter of its own"
        )
        page.get_by_role("button", name="Save").click()
        expect_saved(page)
        expect(page.locator("h1")).to_have_text(title)
    visitor.open("/library/")
    for title in ("Opening", "Closing"):
        expect(page.get_by_role("link", name=title)).to_be_visible()


def test_two_new_dishes_one_after_the_other_are_two(
    visit: Visit, house: House, editor: Member
) -> None:
    visitor = visit(editor, fresh=True)
    page = visitor.page
    for name in ("Paella", "Arroz negro"):
        visitor.open("/library/edit/products/new/dishes")
        expect(page.locator("#brought-back")).to_be_hidden()
        page.locator("#f-name_en").fill(name)
        page.get_by_text("It has none of them").click()
        page.get_by_role("button", name="Save").click()
        expect_saved(page)
    visitor.open("/library/dishes")
    for name in ("Paella", "Arroz negro"):
        expect(page.get_by_role("link", name=name)).to_be_visible()


def test_what_is_brought_back_into_a_new_section_has_an_id_of_its_own(
    visit: Visit, house: House, editor: Member
) -> None:
    visitor = visit(editor, fresh=True).open("/library/edit/sections/new")
    page = visitor.page
    given = page.locator("[name=section_id]").input_value()
    page.locator("#f-title_en").fill("Opening")
    page.wait_for_timeout(500)
    page.context.clear_cookies(name="comanda")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Sign in")
    signed_in = {"name": "comanda", "value": house.session_cookie(editor), "url": house.url}
    page.context.add_cookies([signed_in])
    visitor.open("/library/edit/sections/new")
    expect(page.locator("#brought-back")).to_be_visible()
    expect(page.locator("#f-title_en")).to_have_value("Opening")
    assert page.locator("[name=section_id]").input_value() != given


def test_who_saves_second_sees_both_texts(
    visit: Visit, house: House, editor: Member, address: str
) -> None:
    other = make_user(house.owner, editor.group_id, "admin", name="Luis")
    mine = visit(editor, phone=True, media=STILL).open(address)
    theirs = visit(other, fresh=True).open(address)
    for visitor, words in ((theirs, "Luis wrote this."), (mine, "Ana wrote this.")):
        visitor.page.locator("#f-body_en").fill(words)
    theirs.page.get_by_role("button", name="Save").click()
    expect(theirs.page.locator(".saved")).to_be_visible()
    mine.watch.expect("status of 409")
    mine.page.get_by_role("button", name="Save").click()
    conflict = mine.page.locator(".conflict")
    expect(conflict).to_contain_text("Luis changed this while you were writing")
    expect(conflict.locator(".theirs")).to_contain_text("Luis wrote this.")
    expect(conflict).to_be_focused()
    expect(mine.page.locator("#f-body_en")).to_have_value("Ana wrote this.")
    assert findings(mine.page) == []
    assert is_as_wide_as_its_window(mine)
    mine.page.get_by_role("button", name="Save").click()
    expect(mine.page.locator(".saved")).to_be_visible()
    expect(mine.page.locator("#f-body_en")).to_have_value("Ana wrote this.")


def test_leaving_with_unsaved_text_warns_and_an_ended_session_keeps_it(
    visit: Visit, house: House, editor: Member, address: str
) -> None:
    visitor = visit(editor, fresh=True).open(address)
    page = visitor.page
    page.locator("#f-body_en").fill("An hour of work.")
    page.wait_for_timeout(500)
    page.context.clear_cookies(name="comanda")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Sign in")
    signed_in = {"name": "comanda", "value": house.session_cookie(editor), "url": house.url}
    page.context.add_cookies([signed_in])
    visitor.open(address)
    expect(page.locator("#brought-back")).to_be_visible()
    expect(page.locator("#f-body_en")).to_have_value("An hour of work.")
    with page.expect_event("dialog") as dialog:
        page.evaluate("setTimeout(() => location.assign('/library/'))")
    assert dialog.value.type == "beforeunload"
    visitor.watch.dialogs.clear()
    page.locator("#forget-typed").click()
    expect(page.locator("#f-body_en")).to_have_value(re.compile("two hours"))
    visitor.open("/library/")
    expect(page.locator("h1")).to_have_text("Manual and menu")
    assert visitor.watch.dialogs == []


def test_a_browser_without_scripts_writes_moves_and_withdraws(
    visit: Visit, house: House, editor: Member, address: str
) -> None:
    make_section(house.owner, editor.group_id, "fish", "Fish", "On ice.")
    visitor = visit(editor, phone=True, java_script_enabled=False).open(address)
    page = visitor.page
    page.locator("#f-body_en").fill("Chill it **fast**.")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview-en strong")).to_have_text("fast")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".saved")).to_be_visible()
    page.get_by_role("button", name="Move down").click()
    expect(page.get_by_text("It is in its new place now.")).to_be_visible()
    expect(page.get_by_role("button", name="Move down")).to_be_disabled()
    page.get_by_label("Move under").select_option(label="Fish")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.locator(".crumbs")).to_contain_text("Fish")
    page.get_by_role("link", name="Fish").click()
    page.get_by_role("link", name="Withdraw…").click()
    expect(page.get_by_role("main")).to_contain_text("Raw chicken")
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Restored: 2 sections.")).to_be_visible()


def test_an_allergen_that_nobody_declared_is_declared_in_its_line(
    visit: Visit, house: House, editor: Member
) -> None:
    make_product(house.owner, editor.group_id, allergens=None)
    visitor = visit(editor, phone=True, media=STILL).open("/library/")
    page = visitor.page
    assert findings(page) == []
    page.locator(".editor-tools summary", has_text="Tools").click()
    page.get_by_role("link", name="Allergens not declared").click()
    page.locator("summary", has_text="Declare").click()
    page.get_by_text("It has these").click()
    visitor.watch.expect("status of 422")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".field-error")).to_contain_text("Select what it has, or say")
    page.get_by_text("It has these").click()
    page.get_by_text("Milk", exact=True).click()
    assert findings(page) == []
    assert is_as_wide_as_its_window(visitor)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".declared .badge")).to_have_text("Milk")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop dark", "phone"])
def test_axe_finds_nothing_on_any_page_for_editors(
    visit: Visit, house: House, editor: Member, address: str, phone: bool
) -> None:
    product = make_product(
        house.owner, editor.group_id, "cocktails", "paloma", tags=["house"],
        ingredients=[{"en": "lime", "es": "limón", "quantity": 30, "unit": "ml"}],
    )  # fmt: skip
    closed = make_section(house.owner, editor.group_id, "patio", "Patio", "Closed.")
    with house.owner.transaction() as session:
        below = ManualSection(group_id=editor.group_id, slug="chairs", title_en="Chairs")
        below.parent_id, below.is_published = closed.id, False
        session.add(below)
        session.get_one(ManualSection, closed.id).is_published = False
    scheme = "light" if phone else "dark"
    visitor = visit(editor, phone=phone, media={**STILL, "color_scheme": scheme})
    found = {}
    for path in (
        address, f"{address}/withdraw", f"/library/edit/products/{product.id}",
        "/library/edit/sections/new", "/library/edit/products/new/dishes",
        "/library/edit/translations", "/library/edit/tags", "/library/edit/allergens",
        "/library/edit/hidden", f"/library/edit/sections/{closed.id}/restore",
    ):  # fmt: skip
        visitor.open(path)
        problems = findings(visitor.page)
        if not is_as_wide_as_its_window(visitor):
            problems.append("wider than its window")
        if problems:
            found[path] = problems
    assert found == {}


def test_a_second_tab_that_is_left_throws_nothing_of_the_first_away(
    visit: Visit, editor: Member, address: str
) -> None:
    visitor = visit(editor, fresh=True).open(address)
    other = visitor.another_tab().open(address)
    visitor.page.locator("#f-body_en").fill("An hour of work.")
    kept = "Object.values(localStorage).some((words) => words.includes('An hour of work'))"
    wait_until(lambda: visitor.page.evaluate(kept))
    other.open("/library/")
    assert visitor.page.evaluate(kept)
    other.open(address)
    expect(other.page.locator("#f-body_en")).to_have_value("An hour of work.")
    visitor.watch.dialogs.clear()
