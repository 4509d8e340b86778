"""Writing and sending: nothing typed is lost, and nothing is sent twice or by mistake."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from tests.assistant.processes import free_port
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House, address, wait_for_web
from tests.browser.interception import Interception
from tests.browser.scripts import Pause, Slowly, told
from tests.model_server import Say

NOT_SENT = "Your message did not reach us."
# Where a message is posted, and where a page fetches one that it was told of.
POSTED, MISSED = re.compile(r"/messages$"), re.compile(r"/messages/[^/]+\?missed")
OFFLINE_ERRORS = r"net::ERR_|Failed to fetch|network error"


def try_to_send(visitor: Visitor, words: str) -> None:
    """Send while nobody can be reached; the words must stay and the page must say so."""
    visitor.composer.fill(words)
    visitor.composer.press("Enter")
    expect(visitor.page.locator("#composer-error")).to_contain_text(NOT_SENT)
    expect(visitor.composer).to_have_value(words)


def test_without_a_connection_the_words_stay_and_can_be_sent_later(
    visit: Visit, house: House
) -> None:
    house.model.script(told("Written in the cellar", "It arrived."))
    visitor = visit(house.hire(), phone=True).open()
    visitor.watch.expect(OFFLINE_ERRORS)
    visitor.page.context.set_offline(True)
    expect(visitor.page.locator("#offline")).to_contain_text("No connection.")
    try_to_send(visitor, "Written in the cellar")
    visitor.page.context.set_offline(False)
    expect(visitor.page.locator("#offline")).to_be_hidden()
    visitor.send.click()
    visitor.read("It arrived.")
    expect(visitor.questions).to_have_count(1)
    expect(visitor.composer).to_have_value("")
    expect(visitor.page.locator("#composer-error")).to_be_empty()


def test_a_server_that_goes_away_in_mid_answer_costs_no_word_of_either_side(
    visit: Visit, house: House
) -> None:
    port = free_port()
    web = house.launch_web(port)
    wait_for_web(web, port)
    with Pause() as pause:
        house.model.script(
            told("Before it fell", Slowly("Half said,"), pause, Say(" then whole.")),
            told("After it rose", "Here again."),
        )
        visitor = visit(house.hire(), url=address(port)).open()
        visitor.watch.expect(OFFLINE_ERRORS)
        visitor.ask("Before it fell")
        visitor.read("Half said,")
        web.kill()
        expect(visitor.page.locator("#connection")).to_contain_text("Reconnecting…")
        try_to_send(visitor, "After it rose")
        pause.end()
        wait_for_web(house.launch_web(port), port)
        visitor.wait_for_answer()
    assert visitor.said() == "Half said, then whole."
    expect(visitor.page.locator("#connection")).to_be_hidden()
    expect(visitor.composer).to_have_value("After it rose")
    visitor.send.click()
    visitor.read("Here again.")
    expect(visitor.questions).to_have_text(["Before it fell", "After it rose"])


def test_a_message_whose_answer_was_lost_is_not_said_to_be_lost_once_it_stands_there(
    visit: Visit, house: House
) -> None:
    house.model.script(told("Previous", "Yes."), told("Half arrived", "All of it."))
    visitor = visit(house.hire(), phone=True, fresh=True).open()
    visitor.watch.expect(OFFLINE_ERRORS)
    visitor.ask("Previous")
    visitor.wait_for_answer()
    held: list[Route] = []

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    def hold(route: Route) -> None:
        held.append(route)

    outages = [
        Interception(visitor.page, POSTED, lose_the_answer),
        Interception(visitor.page, MISSED, hold),
    ]
    try_to_send(visitor, "Half arrived")
    for outage in outages:
        outage.end()
    for route in held:
        route.continue_()
    expect(visitor.questions).to_have_text(["Previous", "Half arrived"])
    visitor.read("All of it.")
    visitor.wait_for_answer()
    expect(visitor.page.locator("#composer-error")).to_be_empty()
    expect(visitor.composer).to_have_value("")
    visitor.page.reload()
    expect(visitor.questions).to_have_count(2)
    expect(visitor.composer).to_have_value("")


@pytest.mark.fault(15)
def test_a_double_click_on_send_sends_one_message(visit: Visit, house: House) -> None:
    house.model.script(told("Twice?", "Once."))
    visitor = visit(house.hire()).open()
    visitor.composer.fill("Twice?")
    visitor.send.dblclick()
    visitor.read("Once.")
    visitor.wait_for_answer()
    visitor.page.reload()
    expect(visitor.questions).to_have_count(1)
    expect(visitor.replies).to_have_count(1)


def test_enter_in_the_middle_of_a_composition_does_not_send(visit: Visit, house: House) -> None:
    house.model.script(told("すし", "寿司。"))
    visitor = visit(house.hire(), fresh=True).open()
    visitor.composer.focus()
    keyboard = visitor.page.context.new_cdp_session(visitor.page)
    composing = {"text": "すし", "selectionStart": 2, "selectionEnd": 2}
    keyboard.send("Input.imeSetComposition", composing)
    expect(visitor.composer).to_have_value("すし")
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **enter})
    for event in ({"isComposing": True}, {"keyCode": 229}):
        visitor.composer.dispatch_event(
            "keydown", {"key": "Enter", "bubbles": True, "cancelable": True, **event}
        )
    keyboard.send("Input.insertText", {"text": "すし"})
    expect(visitor.questions).to_have_count(0)
    assert visitor.watch.count("/messages") == 0
    visitor.composer.press("Enter")
    visitor.read("寿司。")
    expect(visitor.questions).to_have_text(["すし"])


def test_shift_and_enter_begin_a_new_line(visit: Visit, house: House) -> None:
    house.model.script(told("One line\nand another", "Two lines."))
    visitor = visit(house.hire()).open()
    visitor.composer.press_sequentially("One line")
    visitor.composer.press("Shift+Enter")
    visitor.composer.press_sequentially("and another")
    visitor.composer.press("Enter")
    visitor.read("Two lines.")
    assert visitor.questions.first.inner_text() == "One line\nand another"


def test_the_composer_grows_to_five_lines_and_no_further(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True).open()
    heights = []
    for lines in (1, 3, 5, 12):
        visitor.composer.fill("\n".join(["line"] * lines))
        box = visitor.composer.bounding_box()
        assert box
        heights.append(box["height"])
    assert heights[0] < heights[1] < heights[2] == heights[3]
    assert heights[0] >= 44
    expect(visitor.send).to_be_in_viewport()


def test_a_draft_is_kept_for_each_chat_across_a_reload(visit: Visit, house: House) -> None:
    house.model.script(told("A chat with a draft", "Yes."))
    visitor = visit(house.hire()).open()
    visitor.ask("A chat with a draft")
    visitor.wait_for_answer()
    expect(visitor.composer).to_have_value("")
    visitor.composer.fill("the draft of the old chat")
    visitor.open("/chat")
    expect(visitor.composer).to_have_value("")
    visitor.composer.fill("the draft of a new chat")
    visitor.page.reload()
    expect(visitor.composer).to_have_value("the draft of a new chat")
    visitor.page.locator("#history").get_by_role("link", name="A chat with a draft").click()
    expect(visitor.composer).to_have_value("the draft of the old chat")


def test_signing_out_leaves_no_draft_behind(visit: Visit, house: House) -> None:
    visitor = visit(house.hire()).open()
    visitor.composer.fill("something private")
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page.locator("#f-email")).to_be_visible()
    assert visitor.evaluate("Object.keys(localStorage)") == []


def test_a_message_that_is_too_long_is_refused_in_words_and_kept(
    visit: Visit, house: House
) -> None:
    visitor = visit(house.hire(), phone=True).open()
    visitor.watch.expect("status of 422")
    visitor.composer.fill("x" * 3990)
    expect(visitor.page.locator("#composer-note")).to_have_text("10 characters left")
    visitor.composer.fill("x" * 4001)
    expect(visitor.page.locator("#composer-note")).to_contain_text("That is too long")
    visitor.composer.press("Enter")
    expect(visitor.page.locator("#composer-error [role=alert]")).to_contain_text("4,001")
    expect(visitor.composer).to_have_value("x" * 4001)
    expect(visitor.questions).to_have_count(0)


def test_blanks_alone_are_not_sent(visit: Visit, house: House) -> None:
    visitor = visit(house.hire()).open()
    visitor.composer.fill("   \n ")
    visitor.composer.press("Enter")
    visitor.composer.fill("")
    visitor.send.click()
    expect(visitor.page.locator("#welcome")).to_be_visible()
    assert visitor.watch.count("/messages") == 0


def test_a_thing_to_try_is_one_tap(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True).open()
    expect(visitor.page.locator(".starter")).to_have_count(5)
    visitor.page.get_by_role("button", name="How long can raw chicken stay out?").click()
    expect(visitor.questions).to_have_text(["How long can raw chicken stay out?"])
    visitor.wait_for_answer()
    expect(visitor.page.locator("#welcome")).to_be_hidden()
    expect(visitor.page.locator(".cite").first).to_be_visible()


def test_a_chip_sends_its_message_and_leaves_the_draft_alone(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True).open()
    visitor.ask("How long can raw chicken stay out?")
    visitor.wait_for_answer()
    visitor.composer.fill("unfinished")
    chip = visitor.page.locator(".suggestions .chip").first
    label = chip.inner_text()
    chip.click()
    expect(visitor.questions).to_have_count(2)
    expect(visitor.questions.last).to_contain_text(label)
    visitor.wait_for_answer()
    expect(visitor.composer).to_have_value("unfinished")


def test_copying_an_answer_takes_the_words_without_the_numbers(visit: Visit, house: House) -> None:
    visitor = visit(house.hire()).open()
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.ask("How long can raw chicken stay out?")
    visitor.wait_for_answer()
    expect(visitor.page.locator(".cite").first).to_be_visible()
    visitor.reply.get_by_role("button", name="Copy the answer").click()
    expect(visitor.page.locator("#announcer")).to_have_text(re.compile("Copied"))
    copied = visitor.evaluate("navigator.clipboard.readText()")
    assert copied
    assert not re.search(r"\[\d+\]", copied)
    assert " ".join(copied.split()) == re.sub(r" ?\d+$", "", visitor.said())
