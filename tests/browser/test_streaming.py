"""An answer as it is written: it grows, nothing jumps, and it can be stopped half-way."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES
from tests.browser.scripts import Pause, Slowly, looked_up, paragraphs, told
from tests.model_server import CutAfter, Say, scenario

# Looks at every frame: how many replies there are, what the newest one says, and where the
# question, the first words of the answer and the composer stand.
WATCH_FRAMES = """() => {
  const seen = (window.seen = { texts: [], replies: 0, places: {} });
  const place = (name, element) => {
    if (!element?.getClientRects().length) return;
    const top = Math.round(element.getBoundingClientRect().top);
    const tops = (seen.places[name] ??= []);
    if (tops.at(-1) !== top) tops.push(top);
  };
  const look = () => {
    const replies = document.querySelectorAll("[data-role=assistant]");
    seen.replies = Math.max(seen.replies, replies.length);
    const reply = replies[replies.length - 1];
    if (reply) {
      const parts = [...reply.querySelectorAll(".blocks, .tail")];
      const text = parts.map((part) => part.textContent).join(" ");
      if (text !== seen.texts.at(-1)) seen.texts.push(text);
      place("question", document.querySelector("[data-role=user] .bubble"));
      place("composer", document.getElementById("composer"));
      place("answer", parts.find((part) => part.textContent.trim()));
    }
    requestAnimationFrame(look);
  };
  look();
}"""
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def bare(text: str) -> str:
    """The text without blanks and list marks, its raised numbers on the line."""
    return re.sub(r"[\s•-]", "", text.translate(RAISED))


def frames(visitor: Visitor) -> dict[str, Any]:
    seen: dict[str, Any] = visitor.evaluate("window.seen")
    return seen


@BOTH_SIZES
def test_an_answer_grows_word_by_word_and_nothing_jumps(
    visit: Visit, house: House, phone: bool
) -> None:
    text = (
        "Raw chicken may stay out for **two hours** at most. [1]\n\nAfter that:\n\n"
        "- throw it away\n- write it down\n\nTell the manager on duty, too. [2]"
    )
    house.model.script(looked_up("How long, word by word?", Say(text, delay=0.06)))
    visitor = visit(house.hire(), phone=phone).open()
    visitor.evaluate(WATCH_FRAMES)
    visitor.ask("How long, word by word?")
    visitor.wait_for_answer()
    seen = frames(visitor)
    texts = [bare(each) for each in seen["texts"] if each.strip()]
    assert len(texts) > 8, texts
    backwards = [(a, b) for a, b in pairwise(texts) if not b.startswith(a)]
    assert backwards == []
    assert seen["replies"] == 1
    assert {name: tops for name, tops in seen["places"].items() if len(tops) > 1} == {}


AT_THE_END = """() => {
  const scroller = document.getElementById("scroller");
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 48;
}"""


@BOTH_SIZES
def test_a_long_answer_is_read_from_its_beginning(visit: Visit, house: House, phone: bool) -> None:
    house.model.script(told("A long one, please", Say(paragraphs(16), delay=0.002)))
    visitor = visit(house.hire(), phone=phone).open()
    visitor.ask("Before it")
    visitor.wait_for_answer()
    visitor.ask("A long one, please")
    visitor.wait_for_answer()
    visitor.page.wait_for_function(
        "() => { const s = document.getElementById('scroller');"
        " const asked = [...document.querySelectorAll('[data-role=user]')].at(-1);"
        " const top = asked.getBoundingClientRect().top - s.getBoundingClientRect().top;"
        " return s.scrollHeight > s.scrollTop + s.clientHeight + 200 && Math.abs(top - 12) < 4; }"
    )
    expect(visitor.reply.locator(".blocks p").first).to_be_in_viewport()


@BOTH_SIZES
def test_a_reader_who_goes_to_the_end_is_taken_along(
    visit: Visit, house: House, phone: bool
) -> None:
    with Pause() as pause:
        house.model.script(
            told("Along, please", Slowly(paragraphs(16)), pause, Say("\n\n" + paragraphs(8, "x")))
        )
        visitor = visit(house.hire(), phone=phone).open()
        visitor.ask("Along, please")
        visitor.read("Paragraph 16")
        visitor.page.locator("#scroller").hover()
        visitor.page.mouse.wheel(0, 20_000)
        visitor.page.wait_for_function(AT_THE_END)
        pause.end()
        visitor.wait_for_answer()
    visitor.page.wait_for_function(AT_THE_END)
    expect(visitor.page.locator("#to-newest")).to_be_hidden()


# One notch of a wheel at the end, then words that come before its smooth way is over.
NOTCH_UP = """() => {
  const scroller = document.getElementById("scroller");
  scroller.dispatchEvent(new WheelEvent("wheel", { deltaY: -30, bubbles: true }));
  scroller.scrollTop -= 30;
}"""


def test_a_reader_who_turns_the_wheel_a_little_is_not_brought_back(
    visit: Visit, house: House
) -> None:
    with Pause() as pause:
        house.model.script(
            told("A notch, please", Slowly(paragraphs(16)), pause, Say("\n\n" + paragraphs(8, "x")))
        )
        visitor = visit(house.hire()).open()
        visitor.ask("A notch, please")
        visitor.read("Paragraph 16")
        visitor.page.locator("#scroller").hover()
        visitor.page.mouse.wheel(0, 20_000)
        visitor.page.wait_for_function(AT_THE_END)
        visitor.evaluate(NOTCH_UP)
        pause.end()
        visitor.wait_for_answer()
    expect(visitor.page.locator("#to-newest")).to_be_visible()
    assert not visitor.evaluate(AT_THE_END)


@BOTH_SIZES
def test_a_reader_who_scrolled_up_is_left_alone_and_offered_the_way_down(
    visit: Visit, house: House, phone: bool
) -> None:
    pill_words = "Who scrolls up?"
    with Pause() as pause:
        house.model.script(
            told(pill_words, Slowly(paragraphs(8)), pause, Say("\n\n" + paragraphs(4, "pan")))
        )
        visitor = visit(house.hire(), phone=phone).open()
        visitor.ask(pill_words)
        visitor.read("Paragraph 8")
        pill = visitor.page.locator("#to-newest")
        expect(pill).to_be_hidden()
        scroll_up(visitor)
        where = "document.querySelector('.blocks p').getBoundingClientRect().top"
        before = visitor.evaluate(where)
        pause.end()
        visitor.wait_for_answer()
        assert visitor.evaluate(where) == pytest.approx(before, abs=1)
    expect(pill).to_be_visible()
    pill.click()
    expect(pill).to_be_hidden()
    expect(visitor.page.locator(".blocks p").last).to_be_in_viewport()


def scroll_up(visitor: Visitor) -> None:
    """As a finger or a wheel does it; returns when the view has come to rest at the top."""
    visitor.page.locator("#scroller").hover()
    visitor.page.mouse.wheel(0, -20_000)
    visitor.page.wait_for_function("() => document.getElementById('scroller').scrollTop === 0")


# From the click until the reply says that it was stopped, in milliseconds.
TIME_THE_STOP = """() => new Promise((resolve) => {
  const reply = [...document.querySelectorAll("[data-role=assistant]")].at(-1);
  const began = performance.now();
  const look = () => {
    if (reply.dataset.status === "stopped") resolve(performance.now() - began);
    else requestAnimationFrame(look);
  };
  document.querySelector(".composer .halt").click();
  look();
})"""


@BOTH_SIZES
def test_an_answer_begins_while_the_model_still_writes_and_stop_ends_it_and_keeps_its_text(
    visit: Visit, house: House, phone: bool
) -> None:
    with Pause() as pause:
        house.model.script(
            looked_up("Stop me", Slowly("These words stay."), pause, Say(" Never said."))
        )
        visitor = visit(house.hire(), phone=phone).open()
        visitor.ask("Stop me")
        visitor.read("These words stay.")
        expect(visitor.reply).to_have_attribute("data-status", "streaming")
        expect(visitor.reply.locator(".activity")).to_contain_text("Searching the manual…")
        expect(visitor.stop).to_be_visible()
        expect(visitor.page).to_have_url(re.compile(r"/chat/[0-9a-f-]{36}$"))
        # A second, where nothing else runs; long before the model would have ended.
        assert visitor.evaluate(TIME_THE_STOP) < 5 * SECONDS
        call = house.model.last_call_about("Stop me")
        assert call
        assert call.client_left.wait(5), "the model was left running"
    assert visitor.said() == "These words stay."
    expect(visitor.reply).to_contain_text("You stopped this answer.")
    expect(visitor.reply.locator(".activity-live")).to_have_count(0)
    expect(visitor.stop).to_be_hidden()
    visitor.page.reload()
    assert visitor.said() == "These words stay."
    house.model.script(told("Continue", "As if nothing had happened."))
    visitor.ask("Continue")
    visitor.read("As if nothing had happened.")


def test_an_answer_that_was_cut_short_can_be_asked_for_again(visit: Visit, house: House) -> None:
    house.model.script(scenario([CutAfter(2), Say("Half an answer is")], when="^Cut short$"))
    visitor = visit(house.hire()).open()
    visitor.ask("Cut short")
    visitor.wait_for_answer("interrupted")
    assert visitor.said() == "Half an"
    expect(visitor.reply.locator(".notice")).to_be_visible()
    house.model.script(told("Cut short", "A whole answer."))
    visitor.reply.get_by_role("button", name="Ask again").click()
    visitor.read("A whole answer.")
    visitor.wait_for_answer()
    expect(visitor.questions).to_have_count(1)
    expect(visitor.replies).to_have_count(1)
    # What there was of the first one is a step away.
    visitor.reply.get_by_role("button", name="Previous version").click()
    visitor.read("Half an")
