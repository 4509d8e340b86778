"""Limits at the composer, numbers for admins, and how an answer came about, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import text

from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.pages import SIGNED_IN, see_how_it_was_answered
from tests.factories import Member, make_user
from tests.factories.chat import make_turn_facts

SIZES = pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
STILL: dict[str, Any] = {"reduced_motion": "reduce"}


def fill_the_day(house: House, member: Member, limit: int) -> None:
    """A house of their own, so that nobody else meets its limit."""
    with house.owner.transaction() as session:
        session.execute(
            text("UPDATE groups SET daily_message_limit = :limit WHERE id = :group"),
            {"limit": limit, "group": member.group_id},
        )


def is_as_wide_as_its_window(visitor: Visitor) -> bool:
    wide: bool = visitor.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    return wide


@SIZES
def test_a_reached_limit_is_told_beside_the_composer_and_keeps_the_words(
    visit: Visit, house: House, phone: bool
) -> None:
    member = make_user(house.owner)
    fill_the_day(house, member, 1)
    visitor = visit(member, phone=phone, media=STILL).open()
    visitor.ask("How long can raw chicken stay out?")
    visitor.wait_for_answer()
    visitor.watch.expect("status of 429")
    visitor.composer.fill("And the salmon, then?")
    visitor.composer.press("Enter")
    ticket = visitor.page.locator("#composer-error [data-code=limit]")
    expect(ticket).to_contain_text("Today's messages are used up (1 of 1)")
    expect(ticket).to_contain_text("You can write again on")
    expect(visitor.composer).to_have_value("And the salmon, then?")
    expect(visitor.questions).to_have_count(1)
    expect(visitor.page.locator("#composer-error .message-state")).to_have_count(0)
    assert is_as_wide_as_its_window(visitor)
    assert findings(visitor.page) == []
    ticket.get_by_role("link").click()
    expect(visitor.page.locator("h1")).to_be_visible()
    assert visitor.path == "/library/"


def test_a_limit_is_told_in_spanish(visit: Visit, house: House) -> None:
    member = make_user(house.owner, language="es")
    fill_the_day(house, member, 1)
    visitor = visit(member, phone=True).open()
    visitor.ask("¿Hola?")
    visitor.wait_for_answer()
    visitor.watch.expect("status of 429")
    visitor.composer.fill("¿Y el salmón?")
    visitor.composer.press("Enter")
    ticket = visitor.page.locator("#composer-error [data-code=limit]")
    expect(ticket).to_contain_text("Ya usaste tus mensajes de hoy (1 de 1)")


@SIZES
def test_the_admin_pages_fit_their_window(visit: Visit, house: House, phone: bool) -> None:
    # A busy house: numbers as long as they get.
    busy = {"tokens_in": 412_345_678, "tokens_out": 98_765_432, "latency_ms": 123_456}
    make_turn_facts(house.app.extensions["comanda"].database, house.hire(), **busy)
    visitor = visit(house.hire("admin"), phone=phone, media=STILL)
    for name in ("usage", "usage table", "turns", "one turn"):
        SIGNED_IN[name](visitor)
        assert is_as_wide_as_its_window(visitor), name


def test_an_admin_finds_usage_in_the_drawer_and_changes_a_limit(visit: Visit, house: House) -> None:
    admin = make_user(house.owner, role="admin")
    visitor = visit(admin, phone=True).open()
    visitor.page.locator("#drawer-handle").click()
    visitor.page.get_by_role("link", name="Usage").click()
    expect(visitor.page.get_by_text("Nothing has been asked in these days.")).to_be_visible()
    visitor.page.get_by_label("Messages a person may send a day").fill("25")
    visitor.page.get_by_role("button", name="Save the limits").click()
    expect(visitor.page.get_by_text("The limits are saved.")).to_be_visible()
    expect(visitor.page.get_by_label("Messages a person may send a day")).to_have_value("25")


def test_the_live_reply_leads_to_how_it_was_answered(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True)
    see_how_it_was_answered(visitor)
    expect(visitor.page.locator(".said").first).to_contain_text("raw chicken")
