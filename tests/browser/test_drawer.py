"""The drawer of a phone and the rail of a wide screen: new chat, history, oneself."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.chat_page import PHONE, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.factories import make_thread


def visitor_with_two_chats(visit: Visit, house: House, *, phone: bool) -> Visitor:
    """Somebody who said hello in one chat and thanks in another, which is open."""
    person, database = house.hire(), house.app.extensions["comanda"].database
    make_thread(database, person, "Hello")
    newest = make_thread(database, person, "Thanks")
    return visit(person, phone=phone).open(f"/chat/{newest}")


def test_the_drawer_opens_and_closes_and_gives_the_focus_back(visit: Visit, house: House) -> None:
    page = visit(house.hire(), phone=True).open().page
    rail, handle = page.locator("#rail"), page.locator("#drawer-handle")
    expect(rail).not_to_be_visible()
    expect(handle).to_have_attribute("aria-expanded", "false")
    page.evaluate("window.isSamePage = true")
    for way_out in ("Escape", "button", "shade", "back"):
        handle.click()
        expect(rail).to_be_visible()
        expect(page.locator("#drawer-close")).to_be_focused()
        expect(handle).to_have_attribute("aria-expanded", "true")
        assert page.evaluate("document.getElementById('main').inert")
        if way_out == "Escape":
            page.keyboard.press("Escape")
        elif way_out == "button":
            page.locator("#drawer-close").click()
        elif way_out == "back":
            page.evaluate("history.back()")
        else:
            page.touchscreen.tap(PHONE["width"] - 10, 300)
        expect(rail).not_to_be_visible()
        expect(handle).to_be_focused()
    # Going back has neither left the page nor loaded it anew.
    assert page.evaluate("window.isSamePage && !history.state?.isAbove")


def test_going_back_from_where_the_drawer_led_leads_to_the_page_below_it(
    visit: Visit, house: House
) -> None:
    visitor = visitor_with_two_chats(visit, house, phone=True)
    page = visitor.page
    page.locator("#drawer-handle").click()
    page.locator("#history").get_by_role("link", name="Hello").click()
    expect(visitor.questions).to_have_text(["Hello"])
    page.go_back()
    expect(visitor.questions).to_have_text(["Thanks"])
    expect(page.locator("#rail")).not_to_be_visible()


def test_the_history_of_a_phone_leads_back_to_an_earlier_chat(visit: Visit, house: House) -> None:
    visitor = visitor_with_two_chats(visit, house, phone=True)
    page = visitor.page
    page.locator("#drawer-handle").click()
    history = page.locator("#history")
    expect(history.get_by_role("heading", name="Today")).to_be_visible()
    expect(history.locator("li a")).to_have_text(["Thanks", "Hello"])
    expect(history.get_by_role("link", name="Thanks")).to_have_attribute("aria-current", "page")
    history.get_by_role("link", name="Hello").click()
    expect(visitor.questions).to_have_text(["Hello"])
    page.locator("#drawer-handle").click()
    page.locator("#rail").get_by_role("link", name="New chat").click()
    expect(page.locator("#welcome")).to_be_visible()


def test_a_new_chat_appears_in_the_history_with_its_first_message(
    visit: Visit, house: House
) -> None:
    visitor = visit(house.hire()).open()
    history = visitor.page.locator("#history")
    expect(history).to_contain_text("Your chats will be listed here.")
    visitor.ask("Hello")
    expect(history.locator("li a")).to_have_text(["Hello"])
    expect(history.locator("li a")).to_have_attribute("aria-current", "page")
    expect(visitor.page).to_have_title("Hello · Comanda")
    visitor.wait_for_answer()


def test_going_back_in_the_browser_goes_back_to_the_chat_before(visit: Visit, house: House) -> None:
    visitor = visitor_with_two_chats(visit, house, phone=False)
    visitor.page.locator("#history").get_by_role("link", name="Hello").click()
    expect(visitor.questions).to_have_text(["Hello"])
    visitor.page.go_back()
    expect(visitor.questions).to_have_text(["Thanks"])
    expect(visitor.replies).to_have_count(1)


def test_other_pages_bring_the_history_along(visit: Visit, house: House) -> None:
    visitor = visitor_with_two_chats(visit, house, phone=False)
    visitor.open("/library/")
    expect(visitor.page.locator("#history li").get_by_role("link")).to_have_text(
        ["Thanks", "Hello"]
    )
