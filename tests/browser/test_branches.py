"""Asking again in other words, answering again, and going from one version to another."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import APIResponse, Locator, Route, expect

from tests.browser.axe import findings
from tests.browser.catalog import leftovers
from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import (
    BOTH_SIZES,
    EACH_ONCE,
    LOOKS,
    TEXTS,
    TOO_WIDE,
    look_again_until,
    too_small,
)
from tests.browser.scripts import Pause, Slowly, told
from tests.model_server import Say

BANNER = "#editing"


@pytest.fixture(autouse=True)
def answers(house: House) -> None:
    house.model.script(
        told("One", "Answer to one."),
        told("Two", "Answer to two."),
        told("Two, better", "Answer to the change."),
        told("Three", "Answer to three."),
    )


def talk(visitor: Visitor, *questions: str) -> Visitor:
    visitor.open()
    for question in questions or ("One", "Two", "Three"):
        visitor.ask(question)
        visitor.wait_for_answer()
    return visitor


def begin_to_change(visitor: Visitor, words: str) -> None:
    """Press the pencil of the message that says this."""
    message = visitor.page.locator("[data-role=user]").filter(
        has=visitor.page.get_by_text(words, exact=True)
    )
    message.hover()
    message.locator("[data-edit]").click()
    expect(visitor.composer).to_be_focused()
    expect(visitor.composer).to_have_value(words)
    expect(visitor.page.locator(BANNER)).to_be_visible()


def change(visitor: Visitor, old: str, new: str) -> None:
    begin_to_change(visitor, old)
    visitor.composer.fill(new)
    visitor.composer.press("Enter")
    expect(visitor.questions.last).to_have_text(new)
    expect(visitor.page.locator(BANNER)).to_be_hidden()


def switch(visitor: Visitor) -> Locator:
    return visitor.page.locator("[data-switches]")


def step(visitor: Visitor, name: str) -> None:
    switch(visitor).get_by_role("button", name=name).click()


def test_a_changed_message_takes_the_place_of_the_old_one_which_stays_a_step_away(
    visit: Visit, house: House
) -> None:
    visitor = talk(visit(house.hire(), phone=True))
    change(visitor, "Two", "Two, better")
    visitor.read("Answer to the change.")
    visitor.wait_for_answer()
    expect(visitor.questions).to_have_text(["One", "Two, better"])
    expect(switch(visitor)).to_contain_text("2/2")
    step(visitor, "Previous version")
    expect(visitor.questions).to_have_text(["One", "Two", "Three"])
    expect(switch(visitor)).to_contain_text("1/2")
    visitor.page.reload()
    expect(visitor.questions).to_have_text(["One", "Two", "Three"])
    step(visitor, "Next version")
    expect(visitor.questions).to_have_text(["One", "Two, better"])
    visitor.ask("Three")
    visitor.wait_for_answer()
    expect(visitor.questions).to_have_text(["One", "Two, better", "Three"])


def test_leaving_a_change_brings_back_what_was_being_typed(visit: Visit, house: House) -> None:
    visitor = talk(visit(house.hire()), "One", "Two")
    visitor.composer.fill("half a thought")
    for leave in ("Escape", "Cancel"):
        begin_to_change(visitor, "One")
        visitor.composer.fill("One, but")
        if leave == "Escape":
            visitor.composer.press("Escape")
        else:
            visitor.page.get_by_role("link", name="Cancel").click()
        expect(visitor.page.locator(BANNER)).to_be_hidden()
        expect(visitor.composer).to_have_value("half a thought")
        expect(visitor.composer).to_be_focused()
    # A change that is interrupted by a reload is no draft, and takes none away.
    begin_to_change(visitor, "One")
    visitor.composer.fill("One, but not sent")
    visitor.page.reload()
    expect(visitor.composer).to_have_value("half a thought")
    expect(visitor.page.locator(BANNER)).to_be_hidden()
    change(visitor, "Two", "Two, better")
    visitor.wait_for_answer()
    expect(visitor.composer).to_have_value("half a thought")
    visitor.composer.press("Enter")
    expect(visitor.questions).to_have_text(["One", "Two, better", "half a thought"])


def test_an_answer_is_made_again_and_the_first_one_stays_a_step_away(
    visit: Visit, house: House
) -> None:
    visitor = talk(visit(house.hire(), phone=True), "One", "Two")
    house.model.script(told("Two", Say("Another answer.", delay=0.05)))
    visitor.reply.get_by_role("button", name="Answer again").click()
    visitor.read("Another answer.")
    visitor.wait_for_answer()
    expect(visitor.questions).to_have_text(["One", "Two"])
    expect(visitor.replies).to_have_count(2)
    assert visitor.said() == "Another answer."
    expect(switch(visitor)).to_contain_text("2/2")
    step(visitor, "Previous version")
    visitor.read("Answer to two.")
    step(visitor, "Next version")
    visitor.read("Another answer.")


def test_changing_a_question_that_is_being_answered_stops_its_answer(
    visit: Visit, house: House
) -> None:
    with Pause() as pause:
        house.model.script(told("Slow", Slowly("So far,"), pause, Say(" never more.")))
        visitor = visit(house.hire()).open()
        visitor.ask("Slow")
        visitor.read("So far,")
        call = house.model.last_call_about("Slow")
        change(visitor, "Slow", "One")
        assert call
        assert call.client_left.wait(5), "the model was left running"
        visitor.read("Answer to one.")
        visitor.wait_for_answer()
        expect(visitor.stop).to_be_hidden()
    step(visitor, "Previous version")
    visitor.wait_for_answer("stopped")
    assert visitor.said() == "So far,"


def test_words_that_come_while_another_branch_is_shown_cost_nothing_and_are_there_later(
    visit: Visit, house: House
) -> None:
    with Pause() as pause:
        visitor = talk(visit(house.hire(), phone=True), "One")
        house.model.script(
            told("Two", Slowly("Begun,"), pause, Say(" " + "word " * 60 + "ended.", delay=0.02))
        )
        change(visitor, "One", "Two")
        visitor.read("Begun,")
        step(visitor, "Previous version")
        expect(visitor.questions).to_have_text(["One"])
        expect(visitor.stop).to_be_hidden()
        before = visitor.watch.count("/messages/")
        call = house.model.last_call_about("Two")
        pause.end()
        assert call
        assert call.ended.wait(10)
        visitor.page.wait_for_timeout(500)
        # Once may be asked what the words are of; not for every few of them.
        assert visitor.watch.count("/messages/") - before <= 2
    assert visitor.said() == "Answer to one."
    step(visitor, "Next version")
    visitor.read("ended.")
    visitor.wait_for_answer()


def test_going_to_a_branch_whose_answer_is_being_written_shows_it_go_on_whole(
    visit: Visit, house: House
) -> None:
    text = " ".join(f"word{number}" for number in range(80))
    visitor = talk(visit(house.hire()), "One")
    house.model.script(told("Two", Say(text, delay=0.04)))
    change(visitor, "One", "Two")
    visitor.read("word5")
    step(visitor, "Previous version")
    visitor.read("Answer to one.")
    step(visitor, "Next version")
    visitor.read("word20")
    # No hole and nothing twice at any time, not only when all is over.
    for _ in range(10):
        said = visitor.said()
        assert text.startswith(said), said
        visitor.page.wait_for_timeout(60)
    visitor.wait_for_answer()
    assert visitor.said() == text


@pytest.mark.parametrize("way", ["change", "again", "switch"])
def test_the_other_device_follows_to_the_other_branch(visit: Visit, house: House, way: str) -> None:
    person = house.hire()
    here = talk(visit(person), "One", "Two")
    if way == "switch":
        change(here, "Two", "Two, better")
        here.wait_for_answer()
    there = visit(person, phone=True).open(here.path)
    there.composer.fill("half a thought")
    if way == "again":
        house.model.script(told("Two", Say("Another answer.", delay=0.05)))
        here.reply.get_by_role("button", name="Answer again").click()
        expected = ["One", "Two"]
    elif way == "change":
        change(here, "Two", "Two, better")
        expected = ["One", "Two, better"]
    else:
        step(here, "Previous version")
        expected = ["One", "Two"]
    for visitor in (here, there):
        expect(visitor.questions).to_have_text(expected)
        visitor.wait_for_answer()
        expect(switch(visitor)).to_contain_text("1/2" if way == "switch" else "2/2")
        expect(visitor.stop).to_be_hidden()
    assert there.said() == here.said()
    expect(there.composer).to_have_value("half a thought")


def test_a_message_that_waits_says_so_and_is_answered_when_the_one_before_is_stopped(
    visit: Visit, house: House
) -> None:
    waiting = "Waiting for the previous answer"
    with Pause() as pause, Pause() as then:
        house.model.script(
            told("Slow", Slowly("So far,"), pause, Say(" never more.")),
            told("Two", Slowly("And then,"), then, Say(" never either.")),
        )
        visitor = visit(house.hire(), phone=True).open()
        visitor.ask("Slow")
        visitor.read("So far,")
        visitor.ask("Two")
        expect(visitor.reply).to_contain_text(waiting, use_inner_text=True)
        visitor.stop.click()
        stopped = visitor.replies.first
        expect(stopped).to_have_attribute("data-status", "stopped", timeout=5 * SECONDS)
        expect(stopped).to_contain_text("You stopped this answer.")
        visitor.read("And then,")
        expect(visitor.reply).not_to_contain_text(waiting, use_inner_text=True)
        expect(visitor.reply).not_to_contain_text("You stopped this answer.")
        # Its turn has come, and it can be stopped as well.
        visitor.stop.click()
        visitor.wait_for_answer("stopped")
    assert visitor.said() == "And then,"
    expect(visitor.stop).to_be_hidden()


def test_without_scripts_a_message_is_changed_answered_again_and_switched(
    visit: Visit, house: House
) -> None:
    person = house.hire()
    here = talk(visit(person), "One", "Two")
    plain = visit(person, phone=True, java_script_enabled=False).open(here.path)
    page = plain.page
    page.locator("[data-edit]").last.click()
    expect(page.locator(BANNER)).to_be_visible()
    expect(plain.composer).to_have_value("Two")
    page.get_by_role("link", name="Cancel").click()
    expect(page.locator(BANNER)).to_be_hidden()
    page.locator("[data-edit]").last.click()
    plain.composer.fill("Two, better")
    plain.send.click()
    expect(plain.questions).to_have_text(["One", "Two, better"])
    step(plain, "Previous version")
    expect(plain.questions).to_have_text(["One", "Two"])
    plain.reply.get_by_role("button", name="Answer again").click()
    expect(plain.replies).to_have_count(2)
    look_again_until(plain, "complete")
    expect(switch(plain)).to_have_count(2)


# The keyboard, and those who hear the page


def test_by_keyboard_the_focus_stays_with_what_was_chosen(visit: Visit, house: House) -> None:
    visitor = talk(visit(house.hire()))
    page = visitor.page
    page.locator("[data-edit]").nth(1).focus()
    expect(page.locator("[data-edit]").nth(1)).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(visitor.composer).to_be_focused()
    visitor.composer.fill("Two, better")
    page.keyboard.press("Enter")
    visitor.read("Answer to the change.")
    visitor.wait_for_answer()
    expect(visitor.composer).to_be_focused()
    page.get_by_role("button", name="Previous version").press("Enter")
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    expect(page.locator("#announcer")).to_contain_text("Version 1 of 2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Previous version")).to_be_focused()
    expect(page.locator("#announcer")).to_contain_text("Version 2 of 2")
    visitor.reply.get_by_role("button", name="Answer again").press("Enter")
    expect(visitor.reply).to_be_focused()
    visitor.wait_for_answer()
    expect(switch(visitor)).to_have_count(2)
    expect(visitor.reply).to_be_focused()


def test_messages_that_come_late_do_not_take_back_what_was_chosen_since(
    visit: Visit, house: House
) -> None:
    visitor = talk(visit(house.hire()))
    change(visitor, "Two", "Two, better")
    visitor.wait_for_answer()
    page = visitor.page
    held: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        # What is fetched anew after the first choice arrives after the second one.
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    page.route(re.compile(r"/chat/[0-9a-f-]{36}$"), hold)
    page.get_by_role("button", name="Previous version").press("Enter")
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    while not held:
        page.wait_for_timeout(20)
    page.keyboard.press("Enter")
    chosen = page.get_by_role("button", name="Previous version")
    expect(chosen).to_be_focused()
    [(late, before)] = held
    late.fulfill(response=before)
    page.wait_for_timeout(1_000)
    expect(chosen).to_be_focused()
    expect(switch(visitor)).to_contain_text("2/2")


# Where a switch stands in the window.
TOP = "() => document.querySelector('[data-switches]').getBoundingClientRect().top"


@BOTH_SIZES
def test_the_switch_stays_under_the_finger(visit: Visit, house: House, phone: bool) -> None:
    long = "\n\n".join(f"Paragraph {number} of an answer that is long." for number in range(30))
    house.model.script(told("Two", Say(long)), told("Two, better", Say("Short.\n\n" + long)))
    visitor = talk(visit(house.hire(), phone=phone), "One", "Two")
    change(visitor, "Two", "Two, better")
    visitor.wait_for_answer()
    before = visitor.evaluate(TOP)
    for name in ("Previous version", "Next version"):
        step(visitor, name)
        expect(switch(visitor).get_by_role("button", name=name)).to_be_disabled()
        assert visitor.evaluate(TOP) == pytest.approx(before, abs=2)


# How it looks


def states(visitor: Visitor) -> Iterator[str]:
    """Every state of a conversation that branches, one after the other."""
    begin_to_change(visitor, "Two")
    yield "changing"
    visitor.composer.fill("Two, better")
    visitor.composer.press("Enter")
    visitor.read("Answer to the change.")
    visitor.wait_for_answer()
    yield "second version"
    visitor.page.locator("[data-switches] button").first.click()
    expect(visitor.questions).to_have_text(["One", "Two"])
    yield "first version"
    visitor.reply.locator("[data-asks-again] button").click()
    expect(switch(visitor)).to_have_count(2)
    visitor.wait_for_answer()
    yield "answered again"


@EACH_ONCE
def test_every_state_is_clean_big_enough_and_fits(
    visit: Visit, house: House, look: str, language: str
) -> None:
    visitor = talk(visit(house.hire(language=language), **LOOKS[look]), "One", "Two")
    wrong: dict[str, list[str]] = {}
    for state in states(visitor):
        wrong[state] = [*findings(visitor.page), *visitor.evaluate(TOO_WIDE)]
        if language == "es":
            wrong[state] += leftovers(visitor.evaluate(TEXTS))
        if look.endswith("phone"):
            wrong[state] += too_small(visitor.page)
    assert {state: problems for state, problems in wrong.items() if problems} == {}
