"""The library in a real browser: searched as one types, read, cited as it stood, filtered."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.reindex import reindex_sections
from app.skills.knowledge.services.revisions import keep, snapshot
from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES
from tests.browser.scripts import looked_up
from tests.factories import Member, make_section
from tests.model_server import Say

STILL: dict[str, Any] = {"reduced_motion": "reduce"}
ADDRESS = re.compile(r"/library/manual/([\w-]+)")


def is_as_wide_as_its_window(visitor: Visitor) -> bool:
    # A page that has only begun has nothing to be measured.
    visitor.page.wait_for_load_state("domcontentloaded")
    wide: bool = visitor.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    return wide


@BOTH_SIZES
def test_results_come_while_one_types_and_the_arrows_reach_them(
    visit: Visit, house: House, phone: bool
) -> None:
    visitor = visit(house.hire(), phone=phone, media=STILL).open("/library/")
    page = visitor.page
    expect(page.locator("#manual")).to_be_visible()
    page.locator("#find").press_sequentially("raw chick", delay=20)
    hits = page.locator("#results .hit")
    expect(hits.first).to_contain_text("chicken", ignore_case=True)
    expect(page.locator("#manual")).to_be_hidden()
    expect(page.locator("#announcer")).to_have_text(re.compile(r"^\d+ results?$"))
    expect(page).to_have_url(re.compile(r"/library/search\?q=raw(\+|%20)chick$"))
    expect(page.locator("#find")).to_be_focused()
    assert is_as_wide_as_its_window(visitor)
    assert findings(page) == []
    page.keyboard.press("ArrowDown")
    expect(hits.first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(ADDRESS)
    page.go_back()
    expect(hits.first).to_be_visible()
    page.locator("#find").fill("")
    expect(page.locator("#manual")).to_be_visible()


# The tiles whose words or count stand out of them.
SPILLED = """() => [...document.querySelectorAll(".menu-tiles a")].filter((tile) =>
  [...tile.children].some((each) => each.getBoundingClientRect().right
    > tile.getBoundingClientRect().right || each.scrollWidth > each.clientWidth + 1))
  .map((tile) => tile.textContent)"""


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_an_editor_searches_at_once_and_finds_the_tools_in_one_menu(
    visit: Visit, house: House, language: str, scheme: str
) -> None:
    person = house.hire("admin", language=language)
    visitor = visit(person, phone=True, media={**STILL, "color_scheme": scheme}).open("/library/")
    page = visitor.page
    expect(page.locator(".menu-tiles a").first).to_be_visible()
    assert visitor.evaluate(SPILLED) == []
    assert is_as_wide_as_its_window(visitor)
    field = page.locator("#find").bounding_box()
    assert field and field["y"] + field["height"] < 370
    tools = page.locator(".editor-tools")
    expect(tools.locator("a:visible")).to_have_count(0)
    tools.locator("summary:visible").click()
    expect(tools.locator("a:visible")).to_have_count(11)
    assert findings(page) == []
    assert is_as_wide_as_its_window(visitor)
    tools.locator("a:visible", has_text="Import" if language == "en" else "Importar").click()
    expect(page).to_have_url(re.compile(r"/library/imports/$"))


def test_on_a_desktop_the_tools_stand_in_a_row(visit: Visit, house: House) -> None:
    visitor = visit(house.hire("admin"), media=STILL).open("/library/")
    tools = visitor.page.locator(".editor-tools")
    expect(tools.locator("a:visible")).to_have_count(5)
    expect(tools.locator("summary:visible")).to_have_text(re.compile("New…"))
    assert visitor.evaluate(SPILLED) == []


def test_the_library_is_searched_and_read_without_scripts(visit: Visit, house: House) -> None:
    page = visit(house.hire(), java_script_enabled=False).open("/library/").page
    page.locator("#find").fill("chicken")
    page.get_by_role("button", name="Search").click()
    page.locator(".hit").first.click()
    expect(page.locator("h1")).to_be_visible()
    page.goto(page.url.split("/library")[0] + "/library/dishes")
    page.get_by_text("Allergens, price, tags").click()
    page.get_by_label("Peanuts").check()
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile("without=peanut"))
    expect(page.get_by_role("link", name=re.compile("Without peanuts"))).to_be_visible()


def edit_section(house: House, slug: str, then: str, now: str) -> None:
    """As an editor does it, in another window."""
    editor = house.hire("manager")
    database = house.app.extensions["comanda"].database
    with database.transaction(editor.scope) as session:
        section = session.scalars(select(ManualSection).where(ManualSection.slug == slug)).one()
        before = snapshot(section)
        section.body_en = section.body_en.replace(then, now)
        keep(session, section, before)
        session.flush()
        reindex_sections(session, [section], with_below=False)


@BOTH_SIZES
def test_a_citation_opens_what_it_said_then_and_tells_that_it_has_changed(
    visit: Visit, house: House, phone: bool
) -> None:
    word, slug = f"zyzzyva{phone}", f"bees-{phone}".lower()
    make_section(house.owner, house.group_id, slug, f"The {word}", f"The {word} sleeps two hours.")
    house.model.script(looked_up(word, Say("Two hours. [1]")))
    visitor = visit(house.hire(), phone=phone, media=STILL).open()
    visitor.ask(f"How long does the {word} sleep?")
    visitor.wait_for_answer()
    edit_section(house, slug, "two hours", "nine hours")
    page = visitor.page
    page.locator(".cite").first.click()
    sheet = page.locator("#panel .passage")
    expect(sheet).to_have_attribute("data-state", "changed")
    expect(sheet.locator(".passage-text")).to_contain_text("two hours")
    expect(sheet).to_contain_text("This was changed on")
    sheet.get_by_text("What has changed since").click()
    expect(sheet.locator("del")).to_contain_text("two")
    expect(sheet.locator("ins")).to_contain_text("nine")
    assert findings(page) == []
    sheet.get_by_role("link", name="See it as it is now").click()
    expect(page.locator(".prose")).to_contain_text("nine hours")


@BOTH_SIZES
def test_an_editor_brings_an_older_version_back(visit: Visit, house: House, phone: bool) -> None:
    slug = f"restored-{phone}".lower()
    make_section(house.owner, house.group_id, slug, "Opening", "Open at ten.")
    edit_section(house, slug, "ten", "noon")
    editor: Member = house.hire("manager")
    visitor = visit(editor, phone=phone, media=STILL).open(f"/library/manual/{slug}")
    page = visitor.page
    page.get_by_role("link", name="Older versions").click()
    assert is_as_wide_as_its_window(visitor)
    page.get_by_role("link", name=re.compile("Compare")).click()
    expect(page.locator(".diff del")).to_contain_text("ten")
    assert findings(page) == []
    page.get_by_role("button", name="Restore this version").click()
    expect(page.locator(".prose")).to_contain_text("Open at ten.")
    expect(page.get_by_text("The section is back to what it said in version 1.")).to_be_visible()


@BOTH_SIZES
def test_a_menu_is_narrowed_as_one_chooses(visit: Visit, house: House, phone: bool) -> None:
    visitor = visit(house.hire(), phone=phone, media=STILL).open("/library/dishes")
    page = visitor.page
    before = page.locator(".menu-line").count()
    page.get_by_text("Allergens, price, tags").click()
    page.get_by_label("milk", exact=True).check()
    expect(page.get_by_role("link", name=re.compile("Without milk"))).to_be_visible()
    expect(page).to_have_url(re.compile("without=milk"))
    assert page.locator(".menu-line").count() < before
    assert page.locator("#menu > .menu-list").get_by_text("Milk", exact=True).count() == 0
    assert is_as_wide_as_its_window(visitor)
    page.get_by_role("link", name=re.compile("Without milk")).click()
    expect(page.locator(".menu-line")).to_have_count(before)
