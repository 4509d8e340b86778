"""What was typed into a form outlives the end of its sign-in, and is gone once it has arrived."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.factories import Member, make_contact, make_user
from tests.factories.service_requests import make_request, make_team, make_type

# Where, what is typed into which fields, and which form of the page that is.
PLACES: dict[str, tuple[str, dict[str, str], str]] = {
    "reply": ("/requests/{request}", {"#f-reply": "A fan comes at 3."}, "/replies"),
    "note": ("/requests/{request}", {"#f-note": "An old compressor."}, "/notes"),
    "expense": (
        "/expenses/new",
        {"[name=item]": "Limes", "[name=amount]": "30", "[name=note]": "For the party."},
        "/expenses/new",
    ),
    "contact": ("/admin/contacts/{contact}", {"#f-job": "Sous chef"}, "{contact}"),
    "new contact": ("/admin/contacts/new", {"#f-name": "José Núñez"}, "/new"),
    "sentence": (
        "/admin/prompts/sentences/",
        {"#f-message": "What is in the Paloma?", "#f-contains": "lime"},
        "/sentences/",
    ),
    "team": ("/admin/requests/teams/", {"#f-name_en": "Those who mend things"}, "/teams/"),
}


@pytest.fixture
def boss(house: House) -> Member:
    """The admin of a house of their own."""
    return make_user(house.owner, role="admin", name="Max Boss")


@pytest.fixture
def ids(house: House, boss: Member) -> dict[str, str]:
    ana = make_user(house.owner, boss.group_id, name="Ana Asks")
    team = make_team(house.owner, boss.group_id, [boss])
    kind = make_type(house.owner, boss.group_id)
    asked = make_request(house.owner, ana, "The walk-in is warm", team_id=team, type_id=kind.id)
    contact = make_contact(house.owner, boss.group_id, "Ann Lee", job="Cook")
    return {"request": str(asked.id), "contact": str(contact.id)}


def send(page: Page, form: str) -> None:
    page.locator(f"form[action$='{form}'] button[type=submit]").click()


def values(page: Page, typed: dict[str, str]) -> dict[str, Any]:
    return {field: page.locator(field).input_value() for field in typed}


@pytest.mark.parametrize("place", PLACES)
def test_what_was_typed_outlives_the_sign_in_and_is_gone_once_it_has_arrived(
    visit: Visit, house: House, boss: Member, ids: dict[str, str], place: str
) -> None:
    path, typed, form = PLACES[place]
    path, form = path.format(**ids), form.format(**ids)
    visitor = visit(boss, fresh=True).open(path)
    page = visitor.page
    before = values(page, typed)
    if place == "team" and not page.locator("#f-name_en").is_visible():
        page.locator("summary", has_text="Add a team").click()
    if place == "sentence":
        page.locator("summary", has_text="What is expected").click()
    for field, words in typed.items():
        page.locator(field).fill(words)
    page.wait_for_timeout(500)
    page.context.clear_cookies(name="comanda")
    send(page, form)
    expect(page.locator("h1")).to_have_text("Sign in")
    come_back(visitor, house, boss, path)
    expect(page.locator("#brought-back")).to_be_visible()
    assert values(page, typed) == typed
    for field in typed:
        expect(page.locator(field)).to_be_visible()
    send(page, form)
    expect(page.locator("[data-done]")).to_be_visible()
    if place == "contact":
        before = typed
    visitor.open(path)
    expect(page.locator("#brought-back")).to_be_hidden()
    assert values(page, typed) == before
    assert visitor.watch.dialogs == []


def come_back(visitor: Visitor, house: House, member: Member, path: str) -> None:
    cookie = {"name": "comanda", "value": house.session_cookie(member), "url": house.url}
    visitor.page.context.add_cookies([cookie])
    visitor.open(path)


def test_two_forms_of_a_page_are_kept_apart_and_thrown_away_together(
    visit: Visit, boss: Member, ids: dict[str, str]
) -> None:
    visitor = visit(boss, fresh=True).open(f"/requests/{ids['request']}")
    page = visitor.page
    page.locator("#f-note").fill("An old compressor.")
    page.locator("#f-reply").fill("A fan comes at 3.")
    page.wait_for_timeout(500)
    send(page, "/replies")
    expect(page.locator("[data-done]")).to_have_text("Sent.")
    expect(page.locator("#f-reply")).to_have_value("")
    expect(page.locator("#f-note")).to_have_value("An old compressor.")
    page.locator("#forget-typed").click()
    expect(page.locator("#f-note")).to_have_value("")
    visitor.open(f"/requests/{ids['request']}")
    expect(page.locator("#brought-back")).to_be_hidden()


def test_what_was_refused_stays_where_it_is_kept(
    visit: Visit, boss: Member, ids: dict[str, str]
) -> None:
    path = f"/admin/contacts/{ids['contact']}"
    visitor = visit(boss, fresh=True).open(path)
    page = visitor.page
    page.locator("#f-job").fill("Sous chef")
    page.locator("#f-email").fill("nobody")
    visitor.watch.expect("status of 422")
    send(page, ids["contact"])
    expect(page.locator(".field-error")).to_be_visible()
    visitor.open(path)
    expect(page.locator("#brought-back")).to_be_visible()
    expect(page.locator("#f-job")).to_have_value("Sous chef")
