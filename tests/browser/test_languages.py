"""Spanish as Spanish, on every page, and the switch between the two languages."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.catalog import english, leftovers
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.pages import SIGNED_IN, SIGNED_OUT

# Everything that is seen, or that a screen reader says, where the text is to be Spanish.
TEXTS = """() => {
  const found = new Set([document.title.replace(" · Comanda", "")]);
  const add = (text) => text && found.add(text.replace(/\\s+/g, " ").trim());
  const spanish = (element) => element.closest("[lang]").lang === "es";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (element.closest("script, style, template") || !spanish(element)) continue;
    add(walker.currentNode.textContent);
  }
  for (const element of document.querySelectorAll("body *")) {
    if (!spanish(element)) continue;
    for (const name of ["aria-label", "title", "placeholder", "alt", "data-label"]) {
      add(element.getAttribute(name));
    }
  }
  for (const words of Object.values(document.getElementById("texts").dataset)) add(words);
  return [...found].filter(Boolean);
}"""
# What stands out at the right of the page, where nothing scrolls that far on purpose.
TOO_WIDE = """() => {
  const cut = ".visually-hidden, .topbar-title, .history .rail-link, .rail-name";
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const scrollsAround = (element) => element && (scrolls(element)
    || scrollsAround(element.parentElement));
  const wide = [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && box.right > innerWidth + 1
      && element.checkVisibility({ visibilityProperty: true })
      && !element.closest(cut) && !scrollsAround(element.parentElement);
  });
  const page = document.documentElement.scrollWidth > innerWidth ? ["the page scrolls"] : [];
  return page.concat(wide.map(({ localName, className }) => `wide: ${localName}.${className}`));
}"""


def look_over(visitor: Visitor, go: Any) -> list[str]:
    """What is wrong with one page in Spanish, 360 px wide."""
    go(visitor)
    expect(visitor.page.locator("html")).to_have_attribute("lang", "es")
    expect(visitor.page.locator("#history[hx-get]")).to_have_count(0)
    wrong = [f"English: {text!r}" for text in leftovers(visitor.evaluate(TEXTS))]
    return [*wrong, *visitor.evaluate(TOO_WIDE)]


def test_the_catalog_has_english_to_look_for() -> None:
    assert len(english()) > 100
    assert leftovers(["Sign in", "Remove Sam…", "Iniciar sesión"]) != []


def test_no_spanish_page_has_english_left_and_all_fit_a_phone(visit: Visit, house: House) -> None:
    visitor = visit(house.hire("admin", language="es"), phone=True, locale="es-MX")
    visitor.watch.expect("status of 404")
    wrong = {name: look_over(visitor, go) for name, go in SIGNED_IN.items()}
    assert {name: problems for name, problems in wrong.items() if problems} == {}


def test_a_spanish_browser_meets_spanish_before_signing_in(visit: Visit) -> None:
    visitor = visit(phone=True, locale="es-MX")
    wrong = {name: look_over(visitor, go) for name, go in SIGNED_OUT.items()}
    assert {name: problems for name, problems in wrong.items() if problems} == {}


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_the_switch_changes_the_language_here_and_for_good(
    visit: Visit, house: House, phone: bool
) -> None:
    visitor = visit(house.hire(), phone=phone).open("/library/")
    if phone:
        visitor.page.locator("#drawer-handle").click()
    visitor.page.get_by_role("button", name="Español").click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Manual y menú")
    assert visitor.path == "/library/"
    visitor.open()
    expect(visitor.page.locator("html")).to_have_attribute("lang", "es")
    visitor.ask("¿Cuánto tiempo puede estar fuera el pollo crudo?")
    visitor.wait_for_answer()
    expect(visitor.page.locator(".cite").first).to_be_visible()
    expect(visitor.words.first).to_have_attribute("lang", "es")
    if phone:
        visitor.page.locator("#drawer-handle").click()
    visitor.page.get_by_role("button", name="English").click()
    expect(visitor.page.locator("html")).to_have_attribute("lang", "en")
    expect(visitor.questions).to_have_count(1)


def test_a_spanish_question_of_an_english_speaker_is_answered_in_spanish(
    visit: Visit, house: House
) -> None:
    visitor = visit(house.hire()).open()
    visitor.ask("¿Cuál es la política de propinas?")
    visitor.wait_for_answer()
    expect(visitor.questions).to_have_attribute("lang", "es")
    expect(visitor.words.first).to_have_attribute("lang", "es")
    expect(visitor.reply).to_contain_text("propina", ignore_case=True)
    expect(visitor.page.locator("html")).to_have_attribute("lang", "en")


def test_the_language_can_be_chosen_before_signing_in(visit: Visit) -> None:
    visitor = visit().open("/sign-in")
    visitor.page.get_by_role("button", name="Español").click()
    expect(visitor.page.locator("html")).to_have_attribute("lang", "es")
    visitor.page.reload()
    expect(visitor.page.locator("html")).to_have_attribute("lang", "es")
