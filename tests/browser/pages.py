"""Every kind of page there is, and the way to it."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.chat_page import Visitor

ABOUT_DISHES = {"en": "Which dishes have shrimp?", "es": "¿Qué platillos llevan camarón?"}
QUESTION = {
    "en": "How long can raw chicken stay out?",
    "es": "¿Cuánto tiempo puede estar fuera el pollo crudo?",
}


def to(path: str) -> Callable[[Visitor], object]:
    return lambda visitor: visitor.open(path)


def read_an_answer(visitor: Visitor) -> None:
    """The chat with an answer that cites, its sources unfolded."""
    language = visitor.open().page.locator("html").get_attribute("lang") or "en"
    visitor.ask(QUESTION[language])
    visitor.wait_for_answer()
    visitor.page.locator(".sources summary").first.click()
    expect(visitor.page.locator(".source").first).to_be_visible()


def stay_at_an_answer(visitor: Visitor) -> None:
    """An answer that cites: the one that is being looked at, else a new one."""
    if not visitor.page.locator(".cite").count():
        read_an_answer(visitor)


def open_the_passage(visitor: Visitor) -> None:
    stay_at_an_answer(visitor)
    visitor.page.locator(".cite").first.click()
    expect(visitor.page.locator("#panel .passage")).to_be_visible()


def see_the_cards(visitor: Visitor) -> None:
    """The chat with product cards."""
    language = visitor.open().page.locator("html").get_attribute("lang") or "en"
    visitor.ask(ABOUT_DISHES[language])
    visitor.wait_for_answer()
    expect(visitor.page.locator(".product-card").first).to_be_visible()


def first_in_the_library(address: str) -> Callable[[Visitor], object]:
    def go(visitor: Visitor) -> None:
        link = visitor.open("/library/").page.locator(f"a[href^='{address}']").nth(1)
        visitor.open(link.get_attribute("href") or "")

    return go


def open_the_index(visitor: Visitor) -> None:
    """The library with one chapter and one menu open."""
    page = visitor.open("/library/").page
    for shelf in page.locator(".shelf").all():
        shelf.locator("summary").first.click()


def passage_alone(visitor: Visitor) -> None:
    stay_at_an_answer(visitor)
    visitor.open(visitor.page.locator(".cite").first.get_attribute("href") or "")


def see_the_usage(visitor: Visitor) -> None:
    """The numbers of a house in which something was asked."""
    stay_at_an_answer(visitor)
    visitor.open("/admin/usage")
    expect(visitor.page.locator(".chart").first).to_be_visible()


def see_how_it_was_answered(visitor: Visitor) -> None:
    """The inspector of one's own turn, by the way that its reply offers."""
    read_an_answer(visitor)
    visitor.page.locator(".how-answered").last.click()
    expect(visitor.page.locator("#timeline")).to_be_visible()
    expect(visitor.page.locator("#words")).to_be_visible()
    asked_about = re.compile("raw chicken|pollo crudo")
    expect(visitor.page.locator(".said").first).to_contain_text(asked_about)


SIGNED_OUT: dict[str, Callable[[Visitor], object]] = {
    "sign-in": to("/sign-in"),
    "forgot password": to("/forgot-password"),
}
SIGNED_IN: dict[str, Callable[[Visitor], object]] = {
    "empty chat": to("/chat"),
    "answer": read_an_answer,
    "open passage": open_the_passage,
    "passage": passage_alone,
    "product cards": see_the_cards,
    "library index": open_the_index,
    "section": first_in_the_library("/library/manual/"),
    "dish": first_in_the_library("/library/dishes/"),
    "recipe": first_in_the_library("/library/recipes/"),
    "profile": to("/profile"),
    "people": to("/people"),
    "usage": see_the_usage,
    "usage table": to("/admin/usage?days=7&table=1"),
    "turns": to("/admin/turns"),
    "one turn": see_how_it_was_answered,
    "help": to("/help"),
    "not found": to("/library/manual/there-is-no-such-section"),
}
