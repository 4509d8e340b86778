"""The model is away: the built-in assistant stands in, and the page says so while it lasts."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import EACH_ONCE, LOOKS, TOO_WIDE
from tests.browser.scripts import exactly, told
from tests.model_server import HttpError, scenario

QUESTION = "How long may raw chicken be out, once more?"
BADGE = {"en": ("Model", "Limited"), "es": ("Modelo", "Limitado")}


def badge_says(visitor: Visitor, words: str) -> None:
    expect(visitor.page.locator("#presence")).to_have_text(words)


@EACH_ONCE
def test_the_badge_follows_who_answers_and_the_answer_says_it(
    visit: Visit, house: House, look: str, language: str
) -> None:
    model, degraded = BADGE[language]
    house.model.script(
        scenario(HttpError(401, times=1), when=exactly(QUESTION)), told("Back?", "The model again.")
    )
    visitor = visit(house.hire(language=language), **LOOKS[look]).open()
    badge_says(visitor, model)
    visitor.ask(QUESTION)
    visitor.wait_for_answer()
    badge_says(visitor, degraded)
    expect(visitor.reply.locator(".message-end")).to_contain_text(
        "asistente integrado" if language == "es" else "built-in assistant"
    )
    assert findings(visitor.page) == []
    assert visitor.evaluate(TOO_WIDE) == []
    visitor.ask("Back?")
    visitor.wait_for_answer()
    badge_says(visitor, model)
    # An earlier version of what was said last is again by whom it was.
    visitor.page.locator("[data-role=user]").last.hover()
    visitor.page.locator("[data-edit]").first.click()
    visitor.composer.fill("Back?")
    visitor.composer.press("Enter")
    expect(visitor.questions).to_have_count(1)
    visitor.wait_for_answer()
    badge_says(visitor, model)
