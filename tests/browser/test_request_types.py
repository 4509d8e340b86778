"""Setting up requests in a real browser: the tree, a type with its fields and questions, teams."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from app.skills.service_requests.services.starters import add_starters
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, EACH_ONCE, LOOKS, STILL, look_over
from tests.factories import Member, make_user

TYPES = "/admin/requests/"


@pytest.fixture
def admin(house: House) -> Member:
    """A house of their own, in which nobody else's tests look."""
    return make_user(house.owner, role="admin", name="Ada Boss")


def told(page: Page, words: str) -> None:
    expect(page.locator(".builder-told")).to_contain_text(words)


def names(page: Page) -> list[str]:
    return page.locator(".request-type").all_inner_texts()


@BOTH_SIZES
def test_the_usual_types_are_added_moved_and_made_the_houses_own(
    visit: Visit, admin: Member, phone: bool
) -> None:
    page = visit(admin, phone=phone, media=STILL).open(TYPES).page
    page.get_by_role("button", name="Add the usual types").click()
    expect(page.locator(".request-type").first).to_have_text("Maintenance")
    # It is a page of its own, whose scripts come after it.
    expect(page.locator("form:has(.request-tree)")).to_have_attribute("data-htmx-powered", "true")
    before = names(page)
    down = page.get_by_role("button", name=f"Move down: {before[1]}")
    down.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".request-type").nth(1)).to_have_text(before[2])
    # Whoever goes on pressing goes on moving the same one.
    expect(page.get_by_role("button", name=f"Move down: {before[1]}")).to_be_focused()
    page.get_by_role("link", name=before[1]).click()
    page.locator("#f-name_en").fill("Cold things")
    page.get_by_text("Add a field").click()
    page.locator("#add-phone").click()
    expect(page.locator("#x-label_en")).to_be_focused()
    page.keyboard.type("Call back")
    page.get_by_label("Step", exact=True).select_option("contact")
    page.get_by_label("Question 1 in English").fill("Since when?")
    page.get_by_role("button", name="Move down: Question 1").click()
    expect(page.locator("#ask-down-1")).to_be_focused()
    page.locator("#save").click()
    told(page, "Saved as version 2.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Cold things")
    expect(page.get_by_label("Question 2 in English")).to_have_value("Since when?")
    expect(page.locator(".builder-label").last).to_contain_text("Call back")


# Notes, of each tree that is put into the page, whether its form is posted by a script already.
POSTED_BY_SCRIPT = """
() => {
  window.posted = [];
  new MutationObserver(() => {
    const form = document.querySelector("form:has(.request-tree)");
    if (form) window.posted.push(form.hasAttribute("data-htmx-powered"));
  }).observe(document.body, { childList: true, subtree: true });
}
"""


def test_a_tree_is_never_there_without_the_script_that_posts_it(
    visit: Visit, house: House, admin: Member
) -> None:
    # Pressed between the two, a button would load the whole page, and the focus would be lost.
    with house.owner.transaction() as session:
        add_starters(session, admin.group_id, ["plumbing", "pest-sighting"])
    page = visit(admin, media=STILL).open(TYPES).page
    first = names(page)[0]
    page.evaluate(POSTED_BY_SCRIPT)
    page.get_by_role("button", name=f"Move down: {first}").click()
    expect(page.locator(".request-tree > li").last).to_contain_text(first)
    posted = page.evaluate("window.posted")
    assert posted and all(posted)


def test_work_that_was_not_saved_comes_back(visit: Visit, house: House, admin: Member) -> None:
    with house.owner.transaction() as session:
        add_starters(session, admin.group_id, ["plumbing"])
    visitor = visit(admin).open(TYPES)
    page = visitor.page
    page.get_by_role("link", name="Plumbing").click()
    expect(page.locator("form:has(#work)")).to_have_attribute("data-htmx-powered", "true")
    page.locator("#f-words_en").fill("the drain is singing")
    told(page, "")
    # Enter in a line saves nothing.
    page.locator("#f-sla_hours").press("Enter")
    told(page, "Not saved yet")
    other = visitor.another_tab()
    expect(other.page.locator("#brought-back")).to_be_visible()
    expect(other.page.locator("#f-words_en")).to_have_value("the drain is singing")
    other.page.locator("#save").click()
    told(other.page, "Saved as version 2.")
    page.locator("#save").click()
    told(page, "Saved")


def test_without_scripts_a_type_is_made_too(visit: Visit, admin: Member) -> None:
    page = visit(admin, java_script_enabled=False).open(TYPES).page
    page.get_by_text("Add a type or a category").click()
    page.locator("#f-name_en").fill("Lost keys")
    page.locator(".request-adding button[type=submit]").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lost keys")
    page.get_by_text("Add a field").click()
    page.locator("#add-text").click()
    page.locator("#x-label_en").fill("Which door")
    page.locator("#save").click()
    told(page, "Saved as version 2.")
    page.get_by_role("button", name="Archive").click()
    expect(page.locator(".state-archived")).to_be_visible()


@EACH_ONCE
def test_every_state_of_a_page_fits_is_hit_by_thumbs_and_axe_finds_nothing(
    visit: Visit, house: House, look: str, language: str
) -> None:
    ada = make_user(house.owner, role="admin", language=language, name="Ada Boss")
    visitor = visit(ada, **LOOKS[look])
    visitor.watch.expect("status of 422", "status of 409")
    page = visitor.page
    wrong: dict[str, list[str]] = {"none": look_over(visitor.open(TYPES))}
    wrong["no teams"] = look_over(visitor.open(f"{TYPES}teams/"))
    with house.owner.transaction() as session:
        add_starters(session, ada.group_id, teams={"maintenance": [ada.email]})
    visitor.open(TYPES)
    page.locator(".builder-add summary").click()
    page.locator(".request-adding button[type=submit]").click()
    expect(page.locator("#f-name_en")).to_be_focused()
    wrong["tree"] = look_over(visitor)
    page.locator(".request-tree ol .request-type").first.click()
    expect(page.locator("#work")).to_be_visible()
    wrong["type"] = look_over(visitor)
    page.locator("#open-title").click()
    expect(page.locator("#editor")).to_be_visible()
    wrong["title"] = look_over(visitor, "#editor")
    page.locator("[id^=open-]").nth(3).click()
    expect(page.locator("#x-step")).to_be_visible()
    page.locator(".builder-more summary").first.click()
    page.locator("#f-sla_hours").fill("x")
    page.locator("#save").click()
    expect(page.locator("#f-sla_hours[aria-invalid=true]")).to_be_focused()
    wrong["errors"] = look_over(visitor)
    page.locator("#f-sla_hours").fill("5")
    other = visitor.another_tab()
    page.locator("#save").click()
    expect(page.locator(".builder-told")).to_contain_text("2")
    other.page.locator("#f-name_en").fill("Mine")
    # What was typed a moment ago on the first page may have been brought back on this one.
    other.page.locator("#f-sla_hours").fill("5")
    other.page.locator("#save").click()
    expect(other.page.locator(".builder-clash")).to_be_focused()
    wrong["clash"] = look_over(other)
    wrong["history"] = look_over(visitor.open(re.sub(r"\?.*", "", visitor.path) + "/history"))
    wrong["teams"] = look_over(visitor.open(f"{TYPES}teams/"))
    page.locator(".contact-name").first.click()
    expect(page.locator("[name=members]").first).to_be_visible()
    wrong["team"] = look_over(visitor)
    visitor.open(f"{TYPES}settings/")
    page.locator("#f-threshold").fill("101")
    page.locator("form.form .button-primary").click()
    expect(page.locator("#f-threshold[aria-invalid=true]")).to_be_focused()
    wrong["settings"] = look_over(visitor)
    assert {name: problems for name, problems in wrong.items() if problems} == {}
