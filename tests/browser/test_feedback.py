"""The thumbs under an answer: by mouse, thumb, keyboard and without scripts, in both languages."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect
from sqlalchemy import select

from app.assistant.models import MessageFeedback
from tests.browser.axe import findings
from tests.browser.catalog import leftovers
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import (
    EACH_ONCE,
    LOOKS,
    STILL,
    TOO_WIDE,
    look_again_until,
    too_small,
)
from tests.browser.pages import read_an_answer
from tests.factories import Member

WORDS = {
    "en": {
        "good": "Good answer",
        "asks": "What is wrong with this answer?",
        "outdated": "Out of date",
        "comment": "In your words",
        "send": "Send",
        "take back": "Take back",
    },
    "es": {
        "good": "Buena respuesta",
        "asks": "¿Qué tiene de malo esta respuesta?",
        "outdated": "Desactualizada",
        "comment": "En tus palabras",
        "send": "Enviar",
        "take back": "Retirar",
    },
}


def thumb(visitor: Visitor, which: str) -> Locator:
    return visitor.reply.locator(f"button[id$='-{which}']")


def form(visitor: Visitor) -> Locator:
    return visitor.reply.locator(".feedback-form")


def given(house: House, person: Member) -> list[tuple[str, str, str]]:
    with house.owner.transaction() as session:
        rows = session.scalars(
            select(MessageFeedback).where(MessageFeedback.user_id == person.user_id)
        ).all()
    return [(row.rating, row.reason, row.comment) for row in rows]


def test_up_is_one_tap_and_another_takes_it_back(visit: Visit, house: House) -> None:
    person = house.hire()
    visitor = visit(person, phone=True, media=STILL)
    read_an_answer(visitor)
    thumb(visitor, "up").click()
    expect(thumb(visitor, "up")).to_have_attribute("aria-pressed", "true")
    expect(visitor.reply.locator(".feedback-thanks")).to_have_text("Thank you")
    expect(thumb(visitor, "up")).to_be_focused()
    assert given(house, person) == [("up", "", "")]
    visitor.page.reload()
    expect(thumb(visitor, "up")).to_have_attribute("aria-pressed", "true")
    thumb(visitor, "up").click()
    expect(thumb(visitor, "up")).to_have_attribute("aria-pressed", "false")
    assert given(house, person) == []


@EACH_ONCE
def test_down_asks_in_place_and_sends_the_reason(
    visit: Visit, house: House, look: str, language: str
) -> None:
    words, person = WORDS[language], house.hire(language=language)
    visitor = visit(person, **LOOKS[look])
    read_an_answer(visitor)
    expect(thumb(visitor, "up")).to_have_attribute("aria-label", words["good"])
    thumb(visitor, "down").click()
    expect(form(visitor).get_by_role("button", name=words["send"])).to_be_in_viewport(ratio=1)
    expect(form(visitor)).to_contain_text(words["asks"])
    if language == "es":
        texts = form(visitor).locator("legend, label, button, a, p").all_inner_texts()
        assert leftovers(texts) == []
    assert given(house, person) == []
    assert findings(visitor.page) == []
    assert too_small(visitor.page) == []
    assert visitor.evaluate(TOO_WIDE) == []
    form(visitor).get_by_label(words["outdated"]).check()
    form(visitor).get_by_label(words["comment"]).fill("It is one hour now")
    form(visitor).get_by_role("button", name=words["send"]).click()
    expect(form(visitor)).to_have_count(0)
    expect(thumb(visitor, "down")).to_have_attribute("aria-pressed", "true")
    assert given(house, person) == [("down", "outdated", "It is one hour now")]
    assert findings(visitor.page) == []
    thumb(visitor, "down").click()
    expect(form(visitor).get_by_label(words["outdated"])).to_be_checked()
    form(visitor).get_by_role("button", name=words["take back"]).click()
    expect(thumb(visitor, "down")).to_have_attribute("aria-pressed", "false")
    assert given(house, person) == []


def test_the_keyboard_is_enough(visit: Visit, house: House) -> None:
    person = house.hire()
    visitor = visit(person, media=STILL)
    read_an_answer(visitor)
    page = visitor.page
    thumb(visitor, "down").focus()
    page.keyboard.press("Enter")
    expect(form(visitor).get_by_label("Wrong")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(form(visitor).get_by_label("Not what I asked")).to_be_checked()
    page.keyboard.press("Tab")
    expect(form(visitor).get_by_label("In your words")).to_be_focused()
    page.keyboard.type("I asked for beef")
    page.keyboard.press("Enter")
    expect(thumb(visitor, "down")).to_be_focused()
    assert given(house, person) == [("down", "not_asked", "I asked for beef")]
    page.keyboard.press("Enter")
    expect(form(visitor).get_by_label("Not what I asked")).to_be_focused()
    form(visitor).get_by_text("Not now").press("Enter")
    expect(form(visitor)).to_have_count(0)
    expect(thumb(visitor, "down")).to_be_focused()
    page.keyboard.press("Enter")
    expect(form(visitor).get_by_label("Not what I asked")).to_be_focused()
    page.keyboard.press("Escape")
    expect(form(visitor)).to_have_count(0)
    expect(thumb(visitor, "down")).to_be_focused()
    assert given(house, person) == [("down", "not_asked", "I asked for beef")]


def test_what_is_being_written_survives_the_bubble_being_brought_up_to_date(
    visit: Visit, house: House
) -> None:
    person = house.hire()
    visitor = visit(person, media=STILL)
    read_an_answer(visitor)
    thumb(visitor, "down").click()
    form(visitor).get_by_label("Something else").check()
    form(visitor).get_by_label("In your words").fill("Half a sent")
    visitor.page.evaluate(
        """async (bubbles) => {
          const { refreshBubble, reloadMessages } = await import(bubbles);
          const last = [...document.querySelectorAll("[data-role=assistant]")].at(-1);
          await refreshBubble(last.dataset.message);
          await reloadMessages();
        }""",
        visitor.module("bubbles.js"),
    )
    expect(form(visitor).get_by_label("In your words")).to_have_value("Half a sent")
    expect(form(visitor).get_by_label("Something else")).to_be_checked()
    form(visitor).get_by_role("button", name="Send").click()
    expect(form(visitor)).to_have_count(0)
    assert given(house, person) == [("down", "other", "Half a sent")]
    visitor.page.evaluate(
        """async (bubbles) => {
          const { reloadMessages } = await import(bubbles);
          await reloadMessages();
        }""",
        visitor.module("bubbles.js"),
    )
    expect(thumb(visitor, "down")).to_have_attribute("aria-pressed", "true")


def test_without_scripts_the_form_is_a_page(visit: Visit, house: House) -> None:
    person = house.hire()
    visitor = visit(person, phone=True, java_script_enabled=False).open()
    visitor.ask_plainly("How long can raw chicken stay out?")
    look_again_until(visitor, "complete")
    thumb(visitor, "up").click()
    expect(thumb(visitor, "up")).to_have_attribute("aria-pressed", "true")
    thumb(visitor, "down").click()
    page = visitor.page
    expect(page).to_have_url(re.compile(r"/feedback\??$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("About this answer")
    page.get_by_label("Hard to understand").check()
    page.get_by_label("Share my question").check()
    page.get_by_role("button", name="Send").click()
    expect(page).to_have_url(re.compile(r"/chat/[0-9a-f-]{36}#m-"))
    expect(thumb(visitor, "down")).to_have_attribute("aria-pressed", "true")
    assert given(house, person) == [("down", "unclear", "")]
    thumb(visitor, "down").click()
    expect(page.get_by_label("Share my question")).to_be_checked()
