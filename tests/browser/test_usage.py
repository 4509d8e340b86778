"""Limits at the composer, numbers for admins, and how an answer came about, in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect
from sqlalchemy import text

from tests.browser.axe import findings
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, STILL, TOO_WIDE
from tests.factories import Member, make_user


def fill_the_day(house: House, member: Member, limit: int) -> None:
    """A house of their own, so that nobody else meets its limit."""
    with house.owner.transaction() as session:
        session.execute(
            text("UPDATE groups SET daily_message_limit = :limit WHERE id = :group"),
            {"limit": limit, "group": member.group_id},
        )


@BOTH_SIZES
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
    expect(ticket).to_contain_text("You have used all of today's messages (1 of 1)")
    expect(ticket).to_contain_text("You can write again on")
    expect(visitor.composer).to_have_value("And the salmon, then?")
    expect(visitor.questions).to_have_count(1)
    expect(visitor.page.locator("#composer-error .message-state")).to_have_count(0)
    assert visitor.evaluate(TOO_WIDE) == []
    assert findings(visitor.page) == []
    ticket.get_by_role("link").click()
    expect(visitor.page.locator("h1")).to_be_visible()
    assert visitor.path == "/library/"


def test_an_admin_finds_usage_in_the_drawer_and_changes_a_limit(visit: Visit, house: House) -> None:
    admin = make_user(house.owner, role="admin")
    visitor = visit(admin, phone=True).open()
    visitor.page.locator("#drawer-handle").click()
    visitor.page.get_by_role("link", name="Usage").click()
    expect(visitor.page.get_by_text("Nobody has asked anything in this period.")).to_be_visible()
    visitor.page.get_by_label("Messages per person per day").fill("25")
    visitor.page.get_by_role("button", name="Save the limits").click()
    expect(visitor.page.get_by_text("Limits saved.")).to_be_visible()
    expect(visitor.page.get_by_label("Messages per person per day")).to_have_value("25")
