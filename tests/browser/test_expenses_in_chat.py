"""An expense is proposed, changed, confirmed, declined and taken back where it was said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from app.db import Database
from app.skills.expenses.models import Expense
from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import EACH_ONCE, LOOKS, TOO_WIDE, too_small
from tests.factories import Member

WORDS = {
    "en": {
        "say": "coffee 4.50 and taxi 12 yesterday",
        "asked": "Would you like me to add coffee $4.50 and taxi $12 for",
        "change": "make the taxi 15",
        "changed": "taxi $15",
        "yes": "yes",
        "done": "I've added your coffee $4.50 and taxi $15 for yesterday.",
        "no": "no",
        "different": "What should be different?",
        "more": "Log 9 for parking",
        "sum": "How much have I spent this month and last month?",
        "confirm": "Confirm",
        "undo": "Undo",
        "undone": "This was undone",
    },
    "es": {
        "say": "café 4.50 y taxi 12 ayer",
        "asked": "¿Quieres que agregue café $4.50 y taxi $12 del",
        "change": "el taxi fueron 15",
        "changed": "taxi $15",
        "yes": "sí, dale",
        "done": "Agregué café $4.50 y taxi $15 de ayer.",
        "no": "mejor no",
        "different": "¿Qué quieres cambiar?",
        "more": "Anota 9 de estacionamiento",
        "confirm": "Confirmar",
        "undo": "Deshacer",
        "undone": "Esto se deshizo",
    },
}


@pytest.fixture
def address(house: House) -> Iterator[str]:
    """A web server of the house that the built-in assistant answers at."""
    with house.answered_by_the_builtin_assistant() as url:
        yield url


def kept(owner: Database, person: Member) -> list[tuple[str, str]]:
    with owner.transaction() as session:
        rows = session.query(Expense).filter_by(user_id=person.user_id, deleted_at=None)
        return [(row.item, str(row.amount)) for row in rows.order_by(Expense.id)]


def look_at(visitor: Visitor, look: str) -> list[str]:
    fit = [*findings(visitor.page), *visitor.evaluate(TOO_WIDE)]
    return [*fit, *(too_small(visitor.page) if look.endswith("phone") else [])]


def tell(visitor: Visitor, words: str) -> None:
    visitor.ask(words)
    visitor.wait_for_answer()


@EACH_ONCE
def test_propose_change_confirm_and_take_back(
    visit: Visit, house: House, address: str, look: str, language: str
) -> None:
    words, person = WORDS[language], house.hire(language=language)
    visitor = visit(person, url=address, **LOOKS[look]).open()
    tell(visitor, words["say"])
    expect(visitor.reply).to_contain_text(words["asked"])
    expect(visitor.reply.locator(".proposal dd")).to_have_count(2)
    assert look_at(visitor, look) == []
    tell(visitor, words["change"])
    expect(visitor.reply).to_contain_text(words["changed"])
    assert kept(house.owner, person) == []
    tell(visitor, words["yes"])
    expect(visitor.reply).to_contain_text(words["done"])
    expect(visitor.reply.locator(".receipt")).to_be_visible()
    assert look_at(visitor, look) == []
    item = "coffee" if language == "en" else "café"
    assert kept(house.owner, person) == [(item, "4.50"), ("taxi", "15.00")]
    visitor.reply.get_by_role("button", name=words["undo"]).click()
    expect(visitor.reply.locator(".decided-undone")).to_contain_text(words["undone"])
    assert kept(house.owner, person) == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_no_asks_what_should_be_different_and_the_button_confirms_the_next(
    visit: Visit, house: House, address: str, language: str
) -> None:
    words, person = WORDS[language], house.hire(language=language)
    visitor = visit(person, url=address, phone=True).open()
    tell(visitor, words["more"])
    tell(visitor, words["no"])
    expect(visitor.reply).to_contain_text(words["different"])
    tell(visitor, "7")
    visitor.reply.get_by_role("button", name=words["confirm"]).click()
    expect(visitor.reply.locator(".receipt")).to_be_visible()
    assert [amount for _, amount in kept(house.owner, person)] == ["7.00"]
