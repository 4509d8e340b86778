"""The way in and the way out, by keyboard and by finger."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from app.demo import HOUSES, PASSWORD
from tests.browser.chat_page import focused
from tests.browser.conftest import Visit
from tests.browser.house import House

SAM = HOUSES[0].users[0]


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until this element has the focus, as somebody without a mouse does."""
    for _ in range(12):
        if focused(page) == wanted:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {wanted}")


def test_somebody_signs_in_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit().open("/library/").page
    expect(page).to_have_url(re.compile(r"/sign-in\?next="))
    tab_to(page, "f-email")
    page.keyboard.type(SAM.email)
    tab_to(page, "f-password")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Manual and menu")
    expect(page.locator(".rail-name")).to_contain_text(SAM.name)


def test_a_password_is_shown_and_hidden_and_sent_hidden(visit: Visit) -> None:
    page = visit(phone=True).open("/sign-in").page
    password = page.locator("#f-password")
    button = page.get_by_role("button", name="Show the password")
    page.fill("#f-password", PASSWORD)
    for shown in ("text", "password", "text"):
        button.click()
        expect(password).to_have_attribute("type", shown)
        expect(button).to_have_attribute("aria-pressed", str(shown == "text").lower())
        expect(password).to_be_focused()
    page.fill("#f-email", SAM.email)
    page.evaluate(
        """document.getElementById("f-email").form.addEventListener("submit", (event) => {
          window.typeSent = document.getElementById("f-password").type;
          event.preventDefault();
        })"""
    )
    page.keyboard.press("Enter")
    assert page.wait_for_function("() => window.typeSent").json_value() == "password"


def test_a_wrong_password_is_said_in_words_where_the_focus_goes(visit: Visit) -> None:
    visitor = visit(phone=True).open("/sign-in")
    visitor.watch.expect("status of 4")
    page = visitor.page
    page.fill("#f-email", "somebody@alamoprime.example")
    page.fill("#f-password", "a wrong password")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This email and password don't match.")).to_be_visible()
    expect(page.locator("#f-password")).to_be_focused()
    expect(page.locator("#f-password")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#f-email")).to_have_value("somebody@alamoprime.example")
    expect(page.locator("#f-password")).to_have_value("")


def test_the_way_out_needs_the_keyboard_alone(visit: Visit, house: House) -> None:
    page = visit(house.hire()).open().page
    page.get_by_role("button", name="Sign out").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#f-email")).to_be_visible()
    page.goto(house.url + "/chat")
    expect(page.locator("#f-email")).to_be_visible()
