"""Leaving in the middle of an answer and coming back to it, here and on another device."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.interception import Interception
from tests.browser.looks import BOTH_SIZES
from tests.browser.scripts import Pause, Slowly, looked_up, told
from tests.model_server import Say

# The messages as everybody sees them: without what belongs to one page or one moment.
MESSAGES = """() => [...document.querySelectorAll(".message")].map((message) => {
  const copy = message.cloneNode(true);
  for (const input of copy.querySelectorAll("input[type=hidden]")) {
    if (input.name !== "message") input.remove();
    else input.removeAttribute("style");
  }
  const changing = ["hx-nonce", "data-htmx-powered", "data-cursor"];
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const name of changing) element.removeAttribute(name);
    if (element.localName !== "time") continue;
    element.replaceChildren();
    element.removeAttribute("title");
  }
  return copy.outerHTML.replace(/\\s+/g, " ").replace(/> </g, "><");
})"""


@BOTH_SIZES
def test_a_reload_in_mid_answer_shows_the_text_so_far_and_goes_on_to_the_end(
    visit: Visit, house: House, phone: bool
) -> None:
    question = f"Reload me on a {'phone' if phone else 'desktop'}"
    first, second = "Chicken is **cold**. [1]\n\nIt goes back", " to the cooler, then it is cooked."
    with Pause() as pause:
        house.model.script(looked_up(question, Slowly(first, delay=0.05), pause, Say(second)))
        visitor = visit(house.hire(), phone=phone).open()
        visitor.ask(question)
        visitor.read("It goes back")
        visitor.page.reload()
        visitor.read("It goes back")
        assert visitor.said() == "Chicken is cold. 1 It goes back"
        expect(visitor.stop).to_be_visible()
        pause.end()
        visitor.wait_for_answer()
    assert visitor.said() == "Chicken is cold. 1 It goes back to the cooler, then it is cooked."
    expect(visitor.replies).to_have_count(1)
    live = visitor.evaluate(MESSAGES)
    visitor.page.reload()
    assert visitor.evaluate(MESSAGES) == live


def test_an_answer_goes_on_while_its_reader_is_in_another_chat(visit: Visit, house: House) -> None:
    with Pause() as pause:
        house.model.script(
            told("Meanwhile elsewhere", Slowly("Part one,"), pause, Say(" part two."))
        )
        visitor = visit(house.hire()).open()
        visitor.ask("Meanwhile elsewhere")
        visitor.read("Part one,")
        visitor.page.get_by_role("link", name="New chat").click()
        expect(visitor.page.locator("#welcome")).to_be_visible()
        pause.end()
        visitor.page.locator("#history").get_by_role("link", name="Meanwhile elsewhere").click()
        visitor.wait_for_answer()
    assert visitor.said() == "Part one, part two."


def test_another_device_of_the_same_person_follows_live(visit: Visit, house: House) -> None:
    person = house.hire()
    here = visit(person).open()
    house.model.script(told("Before the other came", "Yes."))
    here.ask("Before the other came")
    here.wait_for_answer()
    there = visit(person, phone=True).open(here.path)
    with Pause() as pause:
        house.model.script(
            looked_up("Followed live?", Slowly("Word [1] by word", 0.05), pause, Say(" it comes."))
        )
        here.ask("Followed live?")
        expect(there.questions.last).to_have_text("Followed live?")
        # Live, not after one of the page's own patient retries.
        expect(there.reply).to_contain_text("by word", timeout=10 * SECONDS)
        expect(there.stop).to_be_visible()
        pause.end()
        for visitor in (here, there):
            visitor.wait_for_answer()
    assert here.said() == "Word 1 by word it comes."
    assert there.evaluate(MESSAGES) == here.evaluate(MESSAGES)


# Takes the newest question and its reply off the page, then tells of them as the stream does, the
# reply first: whoever writes it may be heard before whoever stored the question.
HEAR_OF_THE_REPLY_FIRST = """() => {
  const newest = [...document.querySelectorAll(".message")].slice(-2);
  for (const bubble of newest) bubble.remove();
  for (const { dataset } of newest.reverse()) {
    const data = JSON.stringify({ message_id: dataset.message, role: dataset.role });
    const told = new CustomEvent("message", { bubbles: true, detail: { data, id: "" } });
    document.getElementById("stream").dispatchEvent(told);
  }
}"""


def test_a_reply_that_is_heard_of_before_its_question_stands_below_it(
    visit: Visit, house: House
) -> None:
    house.model.script(told("Who comes first?", "The question."))
    visitor = visit(house.hire()).open()
    visitor.ask("Who comes first?")
    visitor.wait_for_answer()
    visitor.evaluate(HEAR_OF_THE_REPLY_FIRST)
    expect(visitor.page.locator(".message .prose, .message .bubble")).to_have_text(
        ["Who comes first?", "The question."]
    )


def test_an_answer_can_be_stopped_from_the_other_device(visit: Visit, house: House) -> None:
    person = house.hire()
    with Pause() as pause:
        house.model.script(told("Stopped from afar", Slowly("So far."), pause, Say(" No further.")))
        here = visit(person).open()
        here.ask("Stopped from afar")
        here.read("So far.")
        there = visit(person, phone=True).open(here.path)
        there.read("So far.")
        there.stop.click()
        for visitor in (here, there):
            visitor.wait_for_answer("stopped")
            assert visitor.said() == "So far."
            expect(visitor.stop).to_be_hidden()


# What a page learns when its tab is covered by another, or looked at again.
SET_HIDDEN = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.fault(14)
def test_a_tab_that_was_in_the_background_catches_up(visit: Visit, house: House) -> None:
    with Pause() as pause:
        house.model.script(told("In the background", Slowly("Seen,"), pause, Say(" then not.")))
        visitor = visit(house.hire()).open()
        visitor.ask("In the background")
        visitor.read("Seen,")
        visitor.evaluate(SET_HIDDEN, True)
        pause.end()
        elsewhere = visitor.another_tab()
        elsewhere.wait_for_answer()
        elsewhere.page.close()
    expect(visitor.reply).to_have_attribute("data-status", "streaming")
    visitor.evaluate(SET_HIDDEN, False)
    visitor.wait_for_answer()
    assert visitor.said() == "Seen, then not."


@pytest.mark.soak
@pytest.mark.fault(14)
@pytest.mark.timeout(600)
def test_a_tab_that_was_hidden_for_five_minutes_shows_the_exact_text(
    visit: Visit, house: House
) -> None:
    with Pause() as pause:
        house.model.script(told("Hidden for long", Slowly("Seen,"), pause, Say(" then not.")))
        visitor = visit(house.hire()).open()
        visitor.ask("Hidden for long")
        visitor.read("Seen,")
        visitor.evaluate(SET_HIDDEN, True)
        pause.end()
        visitor.page.wait_for_timeout(300 * SECONDS)
    visitor.evaluate(SET_HIDDEN, False)
    visitor.wait_for_answer()
    assert visitor.said() == "Seen, then not."


@pytest.mark.fault(23)
def test_signing_out_in_one_tab_ends_the_other_without_a_storm_of_reconnects(
    visit: Visit, house: House
) -> None:
    house.model.script(told("Two tabs", "Two tabs."))
    visitor = visit(house.hire(), fresh=True)
    # Timers run on a clock that can be moved on, to see whether one of them knocks again.
    visitor.page.context.clock.install()
    visitor.open()
    visitor.ask("Two tabs")
    visitor.wait_for_answer()
    other = visitor.another_tab()
    expect(other.reply).to_contain_text("Two tabs.")
    other.composer.fill("half a thought")
    sign_out(visitor)
    expect(other.page.locator("#connection")).to_contain_text(
        "This chat is no longer connected here."
    )
    expect(other.composer).to_have_value("half a thought")
    before = visitor.watch.count("/events")
    other.page.clock.run_for(10 * 60 * 1000)
    assert visitor.watch.count("/events") == before
    other.page.get_by_role("link", name="Sign in again").click()
    expect(other.page.locator("#f-email")).to_be_visible()


def sign_out(visitor: Visitor) -> None:
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page.locator("#f-email")).to_be_visible()


def test_a_page_that_is_one_too_many_says_so_and_asks_again_only_now_and_then(
    visit: Visit, house: House
) -> None:
    house.model.script(told("Too many pages", "Here."))
    visitor = visit(house.hire(), fresh=True)
    visitor.open()
    visitor.ask("Too many pages")
    visitor.wait_for_answer()
    other = visitor.another_tab()
    expect(other.reply).to_contain_text("Here.")
    other.watch.expect("status of 429")
    asked = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=429, headers={"Retry-After": "30"}, body="")

    refusals = Interception(other.page, "**/events*", refuse)
    other.page.context.clock.install()
    other.page.reload()
    expect(other.page.locator("#connection")).to_contain_text("Close some of its pages.")
    other.composer.fill("half a thought")
    # In small steps, each of them when the refusal has arrived: a request of a minute is given up.
    for _ in range(60):
        other.page.clock.run_for(10_000)
        other.page.wait_for_timeout(50)
        expect(other.page.locator("#stream.htmx-request")).to_have_count(0)
    assert 1 < len(asked) <= 10 * 60 / 21 + 2
    expect(other.page.locator("#connection")).to_contain_text("Close some of its pages.")
    refusals.end()
    before = other.watch.count("/events")
    for _ in range(6):
        if other.watch.count("/events") == before:
            other.page.clock.run_for(10_000)
            other.page.wait_for_timeout(50)
    expect(other.page.locator("#connection")).to_be_hidden()
    expect(other.composer).to_have_value("half a thought")
