"""A house with no model set up: the built-in assistant answers, and says who it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.house import House


@pytest.fixture(scope="module")
def builtin_url(house: House) -> Iterator[str]:
    """Where a house without a model is served."""
    with house.answered_by_the_builtin_assistant() as url:
        yield url


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("How long can raw chicken stay out?", "chicken"),
        ("¿Cuál es la política de propinas?", "propina"),
    ],
)
def test_it_answers_from_the_manual_with_a_source(
    visit: Visit, house: House, builtin_url: str, question: str, word: str
) -> None:
    visitor = visit(house.hire(), phone=True, url=builtin_url).open()
    visitor.ask(question)
    visitor.wait_for_answer()
    expect(visitor.words.first).to_contain_text(word, ignore_case=True)
    visitor.page.locator(".cite").first.click()
    expect(visitor.page.locator("#panel .passage-text")).to_contain_text(word, ignore_case=True)


def test_its_badge_leads_to_how_a_model_is_set_up(
    visit: Visit, house: House, builtin_url: str
) -> None:
    page = visit(house.hire(), phone=True, url=builtin_url).open().page
    page.get_by_role("link", name="Built-in assistant").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Who answers here")
    expect(page.locator("main")).to_contain_text("OPENAI_BASE_URL")
