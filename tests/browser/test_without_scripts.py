"""A browser that runs no script: it does everything, plainly."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from app.demo import HOUSES, PASSWORD
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, look_again_until
from tests.browser.scripts import Pause, Slowly, looked_up, paragraphs, told
from tests.model_server import Say

MARCUS = HOUSES[0].users[2]


@BOTH_SIZES
def test_one_signs_in_asks_reads_and_opens_the_source(
    visit: Visit, house: House, phone: bool
) -> None:
    house.model.script(looked_up("Plainly, please", Say("Two hours at most. [1]")))
    visitor = visit(phone=phone, java_script_enabled=False).open("/chat")
    page = visitor.page
    page.fill("#f-email", MARCUS.email)
    page.fill("#f-password", PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/chat$"))
    visitor.ask_plainly("Plainly, please")
    expect(page).to_have_url(re.compile(r"/chat/[0-9a-f-]{36}$"))
    look_again_until(visitor, "complete")
    expect(visitor.words.first).to_contain_text("Two hours at most.")
    page.locator(".cite").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Source")
    page.get_by_role("link", name="Open in the manual").click()
    expect(page.locator("mark#passage")).to_be_in_viewport()


def test_an_answer_on_its_way_is_shown_so_far_and_can_be_stopped(
    visit: Visit, house: House
) -> None:
    with Pause() as pause:
        house.model.script(told("Slow and plain", Slowly("So far so good."), pause, Say(" On.")))
        visitor = visit(house.hire(), java_script_enabled=False).open()
        visitor.ask_plainly("Slow and plain")
        look_again_until(visitor, "streaming")
        visitor.page.get_by_role("link", name="Show what has been written so far").click()
        visitor.stop.click()
        look_again_until(visitor, "stopped")
    assert visitor.said().startswith("So")
    expect(visitor.reply).to_contain_text("You stopped this answer.")


@BOTH_SIZES
def test_a_long_answer_is_read_from_its_end_to_its_beginning(
    visit: Visit, house: House, phone: bool
) -> None:
    house.model.script(told("At length, plainly", paragraphs(40) + "\n\nThe very end."))
    visitor = visit(house.hire(), phone=phone, java_script_enabled=False).open()
    visitor.ask_plainly("At length, plainly")
    look_again_until(visitor, "complete")
    page = visitor.page
    expect(page.get_by_text("The very end.")).to_be_in_viewport()
    page.locator("#scroller").hover()
    for _ in range(60):
        page.mouse.wheel(0, -800)
    expect(visitor.questions.first).to_be_in_viewport()
    expect(page.get_by_text("The very end.")).not_to_be_in_viewport()
    # What is further down is reached without the page behind scrolling away with it.
    visitor.reply.get_by_role("link", name="How this was answered").scroll_into_view_if_needed()
    expect(visitor.composer).to_be_in_viewport()


def test_a_message_that_is_refused_comes_back_with_the_reason(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True, java_script_enabled=False).open()
    visitor.watch.expect("status of 422")
    visitor.composer.fill("y" * 4001)
    visitor.send.click()
    expect(visitor.page.locator(".notice-stop")).to_contain_text("4,001")
    expect(visitor.composer).to_have_value("y" * 4001)


def test_the_drawer_of_a_phone_is_a_place_on_the_page(visit: Visit, house: House) -> None:
    page = visit(house.hire(), phone=True, java_script_enabled=False).open().page
    expect(page.locator("#rail")).not_to_be_visible()
    page.locator("#drawer-handle").click()
    expect(page.locator("#rail")).to_be_visible()
    page.get_by_role("button", name="Español").click()
    expect(page.locator("html")).to_have_attribute("lang", "es")
    page.locator("#drawer-handle").click()
    page.locator("#drawer-close").click()
    expect(page.locator("#rail")).not_to_be_visible()


def test_a_thing_to_try_and_the_theme_are_plain_forms(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), java_script_enabled=False).open()
    visitor.page.get_by_role("button", name="Dark").click()
    expect(visitor.page.locator("html")).to_have_attribute("data-theme", "dark")
    visitor.page.get_by_role("button", name="What is the tip policy?").click()
    look_again_until(visitor, "complete")
    expect(visitor.page.locator(".cite").first).to_be_visible()
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page.locator("#f-email")).to_be_visible()
