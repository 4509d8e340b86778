"""The switch between the two languages, and answers in the language of the question."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.catalog import english, leftovers
from tests.browser.conftest import Visit
from tests.browser.house import House


def test_the_catalog_has_english_to_look_for() -> None:
    assert len(english()) > 100
    assert leftovers(["Sign in", "Remove Sam…", "Iniciar sesión"]) != []


def test_the_switch_changes_the_language_here_and_for_good(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True).open("/library/")
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
