"""Nothing is done before a tap or a yes; then it is, once, and for a while it can be undone."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from app.assistant.models import Proposal
from app.db import utc_now
from tests.browser.axe import findings
from tests.browser.conftest import Visit
from tests.browser.fridge import WORDS, keep_the_log, offered, press, press_enter_on, proposes
from tests.browser.house import House
from tests.browser.looks import (
    EACH_ONCE,
    LOOKS,
    STILL,
    TOO_WIDE,
    reload_until,
    too_small,
    walk_with_tab,
)
from tests.factories import Member
from tests.fridge_log import logged
from tests.model_server import CutAfter, Say, scenario

# After so long another tap is meant, and is none of two in a hurry.
A_MOMENT = 800


@pytest.fixture(autouse=True)
def log_keeper(house: House) -> None:
    keep_the_log(house)


def log_of(house: House, person: Member) -> list[float]:
    return [degrees for _, degrees in logged(house.owner, person.user_id)]


def test_a_tap_confirms_and_another_takes_it_back(visit: Visit, house: House) -> None:
    words, person = WORDS["es"], house.hire(language="es")
    visitor = visit(person, phone=True).open()
    card = offered(visitor, "es")
    expect(card.locator(".proposal-summary")).to_have_text(words["proposed"])
    expect(card.locator("dd")).to_have_text(["cámara fría", "4 °C"])
    assert log_of(house, person) == []
    press(card, words["confirm"])
    expect(card.locator(".receipt")).to_contain_text(words["done"])
    assert log_of(house, person) == [4.0]
    visitor.page.wait_for_timeout(A_MOMENT)
    press(card, words["undo"])
    expect(card.locator(".decided")).to_contain_text(words["undone"])
    assert log_of(house, person) == []
    expect(card.get_by_role("button")).to_have_count(0)


def test_a_typed_yes_confirms_and_the_card_folds(visit: Visit, house: House) -> None:
    words, person = WORDS["es"], house.hire(language="es")
    visitor = visit(person, phone=True).open()
    card = visitor.replies.first.locator(".part")
    offered(visitor, "es")
    visitor.ask(words["yes"])
    visitor.wait_for_answer()
    expect(visitor.reply.locator(".receipt")).to_contain_text(words["done"])
    expect(card.locator(".decided-confirmed")).to_contain_text(words["proposed"])
    assert log_of(house, person) == [4.0]
    press(visitor.reply, words["undo"])
    expect(visitor.reply.locator(".decided-undone")).to_be_visible()
    assert log_of(house, person) == []


def test_a_typed_no_declines_and_it_can_be_brought_back(visit: Visit, house: House) -> None:
    words, person = WORDS["en"], house.hire()
    visitor = visit(person).open()
    offered(visitor)
    card = visitor.replies.first.locator(".part")
    visitor.ask(words["no"])
    visitor.wait_for_answer()
    expect(card.locator(".decided")).to_contain_text(words["cancelled"])
    press(card, words["back"])
    expect(card.locator(".proposal")).to_contain_text("Nothing is done until you confirm.")
    press_enter_on(card, words["confirm"])
    expect(card.locator(".receipt")).to_contain_text(words["done"])
    assert log_of(house, person) == [4.0]


def test_change_leads_to_the_composer_and_the_new_card_takes_the_place_of_the_old(
    visit: Visit, house: House
) -> None:
    words, person = WORDS["en"], house.hire()
    visitor = visit(person, phone=True).open()
    offered(visitor)
    card = visitor.replies.first.locator(".part")
    visitor.page.locator("#scroller").focus()
    card.get_by_role("link", name=words["edit"], exact=True).click()
    expect(visitor.composer).to_be_focused()
    visitor.ask(words["change"])
    visitor.wait_for_answer()
    expect(visitor.reply.locator(".proposal-summary")).to_have_text(words["amended"])
    expect(card.locator(".decided-superseded")).to_contain_text(words["superseded"])
    expect(visitor.page.locator(".proposal")).to_have_count(1)
    press(visitor.reply, words["confirm"])
    expect(visitor.reply.locator(".receipt")).to_be_visible()
    assert log_of(house, person) == [5.0]


def test_going_on_to_something_else_sets_it_aside_on_the_page_too(
    visit: Visit, house: House
) -> None:
    visitor = visit(house.hire()).open()
    offered(visitor)
    visitor.ask("How long can raw chicken stay out?")
    visitor.wait_for_answer()
    card = visitor.replies.first.locator(".part")
    expect(card.locator(".decided")).to_contain_text("Not done: you moved on")


def run_out(house: House, person: Member) -> None:
    with house.owner.transaction() as session:
        late = utc_now() - timedelta(seconds=1)
        session.execute(
            update(Proposal).where(Proposal.user_id == person.user_id).values(expires_at=late)
        )


def test_one_that_ran_out_says_so_after_a_reload_and_when_it_is_tapped(
    visit: Visit, house: House
) -> None:
    person = house.hire()
    visitor = visit(person, phone=True).open()
    card = offered(visitor)
    run_out(house, person)
    visitor.watch.expect("status of 409")
    press(card, "Confirm")
    expect(visitor.page.locator("#composer-error")).to_contain_text("This proposal has expired")
    expect(card.locator(".decided-expired")).to_contain_text("Not answered in time")
    visitor.page.reload()
    expect(card.locator(".decided-expired")).to_contain_text("Not answered in time")
    assert log_of(house, person) == []
    press(card, "Bring it back")
    expect(card.locator(".proposal")).to_be_visible()


def test_a_card_comes_and_folds_on_the_other_device_too_and_leaves_the_focus_there(
    visit: Visit, house: House
) -> None:
    person = house.hire()
    there = visit(person).open()
    there.ask("Hello")
    there.wait_for_answer()
    here = visit(person, phone=True).open(there.path)
    offered(there)
    there.composer.fill("half a thought")
    expect(here.reply.locator(".proposal")).to_be_visible()
    for act, left in (
        ("Cancel", ".decided-declined"),
        ("Bring it back", ".proposal"),
        ("Confirm", ".receipt"),
        ("Undo", ".decided-undone"),
    ):
        press_enter_on(here.reply, act)
        for visitor in (here, there):
            expect(visitor.reply.locator(left)).to_be_visible()
        expect(there.composer).to_be_focused()
    expect(there.composer).to_have_value("half a thought")
    assert log_of(house, person) == []


def test_tapping_in_a_hurry_confirms_once_and_undoes_nothing(visit: Visit, house: House) -> None:
    person = house.hire()
    visitor = visit(person, phone=True).open()
    button = offered(visitor).get_by_role("button", name="Confirm")
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box
    for _ in range(4):
        visitor.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        visitor.page.wait_for_timeout(120)
    expect(visitor.reply.locator(".receipt")).to_be_visible()
    assert log_of(house, person) == [4.0]


def test_without_scripts_it_is_confirmed_and_undone_by_plain_forms(
    visit: Visit, house: House
) -> None:
    person = house.hire()
    visitor = visit(person, phone=True, java_script_enabled=False).open()
    visitor.composer.fill(WORDS["en"]["ask"])
    visitor.send.click()
    reload_until(visitor, visitor.page.locator(".proposal").count)
    for act, left in (
        ("Cancel", ".decided-declined"),
        ("Bring it back", ".proposal"),
        ("Confirm", ".receipt"),
        ("Undo", ".decided-undone"),
    ):
        press(visitor.page.locator(".part"), act)
        expect(visitor.page.locator(left)).to_be_visible()
        expect(visitor.page).to_have_url(re.compile(r"/chat/[0-9a-f-]{36}$"))
    assert log_of(house, person) == []


# The keyboard, and those who hear the page


def test_by_keyboard_alone_the_focus_stays_with_the_card_and_one_hears_what_became_of_it(
    visit: Visit, house: House
) -> None:
    person = house.hire()
    visitor = visit(person).open()
    keyboard = visitor.page.keyboard
    card = offered(visitor)
    announcer = visitor.page.locator("#announcer")
    for words in ("To confirm", "Log 4 °C for the walk-in."):
        expect(announcer).to_contain_text(words)
    for act, heard in (
        ("Cancel", "Canceled: nothing was done"),
        ("Bring it back", "To confirm"),
        ("Confirm", "Logged 4 °C for the walk-in."),
        ("Undo", "This was undone"),
    ):
        card.get_by_role("button", name=act).focus()
        keyboard.press("Enter")
        expect(card).to_be_focused()
        expect(announcer).to_contain_text(heard)
    assert log_of(house, person) == []
    # The next stop is what comes after the card, not the top of the page.
    keyboard.press("Tab")
    assert visitor.evaluate("document.activeElement.closest('.message-end') !== null")


def test_a_card_that_came_with_its_answer_is_not_waited_for(visit: Visit, house: House) -> None:
    person = house.hire()
    visitor = visit(person).open()
    # The card by itself is on its way for as long as the test runs.
    visitor.page.route("**/parts/0", lambda route: None)
    with visitor.page.expect_request("**/parts/0"):
        card = offered(visitor)
    press_enter_on(card, "Confirm")
    expect(card.locator(".receipt")).to_be_visible()
    expect(card).to_be_focused()
    assert log_of(house, person) == [4.0]


# How it looks


@EACH_ONCE
def test_every_state_of_a_card_is_clean_big_enough_and_fits(
    visit: Visit, house: House, look: str, language: str
) -> None:
    words = WORDS[language]
    visitor = visit(house.hire(language=language), **LOOKS[look]).open()
    card = offered(visitor, language)
    wrong: dict[str, list[str]] = {}
    for act in ("", words["cancel"], words["back"], words["confirm"], words["undo"]):
        if act:
            press_enter_on(card, act)
            expect(card.get_by_role("button", name=act, exact=True)).to_have_count(0)
        wrong[act] = [*findings(visitor.page), *visitor.evaluate(TOO_WIDE)]
        if look.endswith("phone"):
            wrong[act] += too_small(visitor.page)
    assert {act: problems for act, problems in wrong.items() if problems} == {}


def test_tab_reaches_every_way_that_a_card_offers(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True, media=STILL).open()
    card = offered(visitor)
    for left in (".proposal", ".receipt"):
        expect(card.locator(left)).to_be_visible()
        count = visitor.evaluate(
            "() => (window.usable = [...document.querySelectorAll('.part button, .part a')]).length"
        )
        reached, unseen = walk_with_tab(visitor.page)
        assert (reached, unseen) == (set(range(count)), set())
        if left == ".proposal":
            press(card, "Confirm")


def test_words_without_an_end_do_not_widen_a_phone(visit: Visit, house: House) -> None:
    """What a skill writes on a card is as long as people make it."""
    person = house.hire(language="es")
    visitor = visit(person, phone=True).open()
    card = offered(visitor, "es")
    endless = "Refrigeradordelabarraylacocinadeabajoconpuertadevidriotemplado" * 2
    with house.owner.transaction() as session:
        summary = {"en": endless, "es": f"Registrar 4 °C en: {endless}"}
        details = {"en": [[endless, endless]], "es": [[endless, endless], ["Nota", endless]]}
        session.execute(
            update(Proposal)
            .where(Proposal.user_id == person.user_id)
            .values(summary=summary, details=details)
        )
    visitor.page.reload()
    expect(card).to_contain_text(endless)
    assert visitor.evaluate(TOO_WIDE) == []
    press(card, "Cancelar")
    expect(card.locator(".decided")).to_contain_text(endless)
    assert visitor.evaluate(TOO_WIDE) == []


def test_a_card_of_an_answer_that_broke_off_is_still_answered(visit: Visit, house: House) -> None:
    """The proposal stands although the model said nothing whole after it."""
    person = house.hire()
    plan = proposes("Log it and break", 4)
    house.model.script(
        scenario(plan.rounds[0], [CutAfter(2), Say("I am about to")], when=plan.when)
    )
    visitor = visit(person).open()
    visitor.ask("Log it and break")
    visitor.wait_for_answer("interrupted")
    card = visitor.reply.locator(".part").first
    press(card, "Confirm")
    expect(card.locator(".receipt")).to_be_visible()
    assert log_of(house, person) == [4.0]
