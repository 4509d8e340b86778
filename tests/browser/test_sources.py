"""From a raised number to the passage, and from the passage into the manual."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.chat_page import PHONE, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES
from tests.browser.scripts import looked_up
from tests.model_server import Call, Say, scenario

ANSWER = "Two hours at most. [1]\n\nThaw it in the cooler. [2]"


def answered(visit: Visit, house: House, *, phone: bool) -> Visitor:
    """Somebody who has just read an answer that cites two passages."""
    house.model.script(looked_up("Chicken, with sources", Say(ANSWER)))
    visitor = visit(house.hire(), phone=phone).open()
    visitor.ask("Chicken, with sources")
    visitor.wait_for_answer()
    return visitor


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def wait_for_panel(page: Page, side: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the panel, once it has come to rest at that side."""
    page.wait_for_function(
        """(side) => {
          const end = { bottom: innerHeight, right: innerWidth }[side];
          return document.getElementById("panel").getBoundingClientRect()[side] === end;
        }""",
        arg=side,
    )
    box = page.locator("#panel").bounding_box()
    assert box
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def check_sheet(page: Page) -> None:
    """Across the bottom of a phone, above everything else."""
    panel = page.locator("#panel")
    expect(panel).to_have_attribute("role", "dialog")
    expect(panel).to_have_attribute("aria-modal", "true")
    left, top, right, _ = wait_for_panel(page, "bottom")
    assert (left, right) == (0, PHONE["width"])
    assert top > 0


def check_column(page: Page) -> None:
    """Beside the talk, of which it covers nothing."""
    expect(page.locator("#panel")).to_have_attribute("role", "complementary")
    left, *_ = wait_for_panel(page, "right")
    talk = page.locator(".conversation").bounding_box()
    assert talk
    assert talk["x"] + talk["width"] <= left
    assert not page.evaluate("document.getElementById('main').inert")


@BOTH_SIZES
def test_a_citation_opens_its_passage_and_escape_gives_the_focus_back(
    visit: Visit, house: House, phone: bool
) -> None:
    visitor = answered(visit, house, phone=phone)
    page = visitor.page
    panel, cite = page.locator("#panel"), page.locator(".cite", has_text="1")
    cite.tap() if phone else cite.click()
    expect(panel).to_be_visible()
    check_sheet(page) if phone else check_column(page)
    expect(panel.locator(".passage-text")).to_contain_text("raw chicken", ignore_case=True)
    expect(cite).to_have_attribute("aria-expanded", "true")
    assert page.evaluate("document.getElementById('panel').contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(cite).to_be_focused()
    expect(cite).not_to_have_attribute("aria-expanded", "true")


def test_the_passage_leads_to_its_place_in_the_manual_which_is_marked(
    visit: Visit, house: House
) -> None:
    page = answered(visit, house, phone=True).page
    page.locator(".cite", has_text="2").click()
    passage = page.locator("#panel .passage-text")
    expect(passage).to_be_visible()
    quoted = words_of(passage.inner_text())
    page.locator("#panel").get_by_role("link", name="Open in the manual").click()
    expect(page).to_have_url(re.compile(r"/library/manual/[\w-]+\?passage=[0-9a-f-]+#passage$"))
    expect(page.locator("#passage")).to_be_in_viewport()
    marked = words_of(" ".join(page.locator("mark").all_inner_texts()))
    assert marked
    assert set(marked) <= set(quoted)
    assert len(marked) > len(quoted) * 0.8


def test_the_sources_under_an_answer_are_those_that_it_cites(visit: Visit, house: House) -> None:
    page = answered(visit, house, phone=True).page
    sources = page.locator(".sources")
    summary = sources.locator("summary")
    expect(summary).to_have_text(re.compile("2 sources"))
    summary.click()
    expect(sources.locator(".source-number")).to_have_text(["1", "2"])
    expect(sources).to_contain_text("Searching the manual")
    title = sources.locator(".source-title").first.inner_text()
    sources.locator(".source").first.click()
    expect(page.locator("#panel .passage h3")).to_have_text(title)
    page.locator("#panel-close").click()
    expect(page.locator("#panel")).to_be_hidden()
    expect(sources.locator(".source").first).to_be_focused()


def test_a_tap_beside_the_sheet_closes_it(visit: Visit, house: House) -> None:
    page = answered(visit, house, phone=True).page
    page.locator(".cite", has_text="1").tap()
    expect(page.locator("#panel .passage")).to_be_visible()
    assert page.evaluate("document.getElementById('main').inert")
    page.touchscreen.tap(180, 20)
    expect(page.locator("#panel")).to_be_hidden()
    assert not page.evaluate("document.getElementById('main').inert")


def test_a_cited_dish_opens_on_the_menu(visit: Visit, house: House) -> None:
    asked = "Which dishes have shrimp?"
    house.model.script(
        scenario(Call("search_dishes", {"query": "shrimp"}), Say("This one. [1]"), when="shrimp")
    )
    visitor = visit(house.hire()).open()
    visitor.ask(asked)
    visitor.wait_for_answer()
    card = visitor.page.locator(".product-card").first
    expect(card.get_by_role("list", name="Allergens")).to_be_visible()
    visitor.page.locator(".cite").first.click()
    visitor.page.locator("#panel").get_by_role("link", name="Open in the menu").click()
    expect(visitor.page).to_have_url(re.compile(r"/library/dishes/[\w-]+$"))
    expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()


def test_going_back_closes_a_source_and_stays_in_the_chat(visit: Visit, house: House) -> None:
    page = answered(visit, house, phone=True).page
    page.evaluate("window.isSamePage = true")
    for _ in range(2):
        page.locator("a[data-cite]").first.click()
        check_sheet(page)
        page.evaluate("history.back()")
        expect(page.locator("#panel")).to_be_hidden()
        expect(page.locator("a[data-cite]").first).to_be_focused()
    assert page.evaluate("window.isSamePage")
    page.locator("a[data-cite]").first.click()
    page.locator("#panel-close").click()
    expect(page.locator("#panel")).to_be_hidden()
    page.wait_for_function("() => !history.state?.isAbove")
    assert page.evaluate("window.isSamePage")
