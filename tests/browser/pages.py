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


def first_in_the_library(address: str, listed: str = "/library/") -> Callable[[Visitor], object]:
    def go(visitor: Visitor) -> None:
        link = visitor.open(listed).page.locator(f"a[href^='{address}']").nth(1)
        visitor.open(link.get_attribute("href") or "")

    return go


def open_the_index(visitor: Visitor) -> None:
    """The library with one chapter open."""
    page = visitor.open("/library/").page
    page.locator(".twig summary").first.click()
    expect(page.locator(".branch .branch .shelf-link").first).to_be_visible()


def search_the_library(visitor: Visitor) -> None:
    """What is found while one types."""
    page = visitor.open("/library/").page
    page.locator("#find").press_sequentially("chick")
    expect(page.locator(".hit mark").first).to_be_visible()


def see_a_menu(visitor: Visitor) -> None:
    """A menu with its filters open, one of which leaves something out."""
    visitor.open("/library/dishes?without=gluten&sort=price")
    visitor.page.locator(".more-filters summary").click()
    expect(visitor.page.locator(".menu-line").first).to_be_visible()


def to_the_versions(visitor: Visitor) -> None:
    """The older versions of a section, for those who may see them."""
    first_in_the_library("/library/manual/")(visitor)
    visitor.open(visitor.path.split("?")[0] + "/versions")


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


def open_a_prompt(visitor: Visitor) -> None:
    visitor.open("/admin/prompts/")
    visitor.page.locator(".prompt-table a").first.click()
    expect(visitor.page.locator("#try")).to_be_visible()


def see_what_a_prompt_was(visitor: Visitor) -> None:
    open_a_prompt(visitor)
    visitor.page.locator("a[href$='/history']").click()
    expect(visitor.page.locator("#seeded")).to_be_visible()


def open_a_form(visitor: Visitor) -> None:
    """The builder with a field open that has all kinds of settings."""
    visitor.open("/admin/forms/").page.locator(".builder-name").first.click()
    visitor.page.locator("[id^=open-]").nth(1).click()
    expect(visitor.page.locator("#editor")).to_be_visible()


def see_what_a_form_was(visitor: Visitor) -> None:
    visitor.open("/admin/forms/").page.locator(".builder-name").first.click()
    expect(visitor.page.locator("#builder")).to_be_visible()
    visitor.open(visitor.path + "/history")


def open_a_type(visitor: Visitor) -> None:
    """A type of request with a field open."""
    visitor.open("/admin/requests/").page.locator(".request-tree ol .request-type").first.click()
    visitor.page.locator("[id^=open-]").nth(3).click()
    expect(visitor.page.locator("#editor")).to_be_visible()


def see_what_a_type_was(visitor: Visitor) -> None:
    visitor.open("/admin/requests/").page.locator(".request-type").first.click()
    expect(visitor.page.locator("#builder")).to_be_visible()
    visitor.open(visitor.path + "/history")


def open_a_team(visitor: Visitor) -> None:
    visitor.open("/admin/requests/teams/").page.locator(".contact-name").first.click()
    expect(visitor.page.locator("[name=members]").first).to_be_visible()


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
    "library search": search_the_library,
    "menu": see_a_menu,
    "versions": to_the_versions,
    "dish": first_in_the_library("/library/dishes/", "/library/dishes"),
    "recipe": first_in_the_library("/library/recipes/", "/library/recipes"),
    "forms": to("/forms/"),
    "form": to("/forms/employee-injury-report"),
    "sent forms": to("/forms/submissions/"),
    "form builder": to("/admin/forms/"),
    "new form": to("/admin/forms/new"),
    "building a form": open_a_form,
    "history of a form": see_what_a_form_was,
    "types of requests": to("/admin/requests/"),
    "building a type": open_a_type,
    "history of a type": see_what_a_type_was,
    "teams for requests": to("/admin/requests/teams/"),
    "one team": open_a_team,
    "settings of requests": to("/admin/requests/settings/"),
    "expenses": to("/expenses"),
    "narrowed expenses": to("/expenses?range=this+month&q=zebra"),
    "new expense": to("/expenses/new"),
    "deleted expenses": to("/expenses/deleted"),
    "settings of the expenses": to("/expenses/settings"),
    "own requests": to("/requests"),
    "queue of requests": to("/requests/queue?status=all"),
    "requests in numbers": to("/requests/queue/analytics"),
    "notifications": to("/notifications"),
    "contacts": to("/admin/contacts/"),
    "new contact": to("/admin/contacts/new"),
    "import contacts": to("/admin/contacts/import"),
    "imports": to("/library/imports/"),
    "profile": to("/profile"),
    "people": to("/people"),
    "restaurant": to("/restaurant"),
    "usage": see_the_usage,
    "usage table": to("/admin/usage?days=7&table=1"),
    "turns": to("/admin/turns"),
    "one turn": see_how_it_was_answered,
    "prompts": to("/admin/prompts/"),
    "one prompt": open_a_prompt,
    "prompt history": see_what_a_prompt_was,
    "new prompt": to("/admin/prompts/new"),
    "saved sentences": to("/admin/prompts/sentences/"),
    "search inspector": to("/admin/search?q=raw+chicken&why=wine"),
    "feedback inbox": to("/admin/feedback?state=all"),
    "unanswered questions": to("/admin/feedback/unanswered?state=all"),
    "help": to("/help"),
    "not found": to("/library/manual/there-is-no-such-section"),
}
