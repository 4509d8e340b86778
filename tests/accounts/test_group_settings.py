"""The restaurant's own settings: its name, clock, money, country and emergency number."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.accounts import clock
from app.accounts.group_settings import FIELDS, load_zone_and_region
from app.accounts.models import AuditEntry, Group
from app.db import Database, new_id
from app.fields.phones import parse_phone, store_phone
from app.skills.forms.services.contacts import ContactTexts, add_contact
from app.skills.service_requests.services.field_context import field_context
from tests.assistant.scripted import ScriptedProvider
from tests.factories import CheckedClient, Member, answer, api_token, ask, make_user, sign_in

MEXICO = {
    "name": "Fonda Doña Lupe",
    "language": "es",
    "timezone": "America/Mexico_City",
    "currency": "MXN",
    "region": "MX",
    "emergency_number": "066",
}


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


def stored(owner: Database, group_id: UUID) -> dict[str, str]:
    with owner.transaction() as session:
        group = session.get_one(Group, group_id)
        return {name: getattr(group, name) for name in FIELDS}


def save(browser: CheckedClient, was: dict[str, str], **typed: str) -> Any:
    carried = {f"was_{name}": value for name, value in was.items()}
    return browser.post("/restaurant", **{**was, **typed}, **carried)


def test_an_admin_says_what_it_is_called_and_where_it_is(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    was = stored(owner, admin.group_id)
    page = browser.page("/restaurant")
    assert page.find("input", id="f-name").attributes["value"] == was["name"]
    assert save(browser, was, **MEXICO).status_code == 303
    assert stored(owner, admin.group_id) == MEXICO
    again = browser.page("/restaurant")
    assert "The settings are saved." in again.text and "Fonda Doña Lupe" in again.text
    with owner.transaction() as session:
        noted = select(AuditEntry.subject).where(AuditEntry.group_id == admin.group_id)
        said = session.scalars(noted.where(AuditEntry.action == "restaurant_changed")).all()
    assert said == [", ".join(name for name in FIELDS if was[name] != MEXICO[name])]
    # Saved once more as it is, it changes nothing and is noted nowhere.
    assert save(browser, MEXICO).status_code == 303
    with owner.transaction() as session:
        assert session.scalars(noted.where(AuditEntry.action == "restaurant_changed")).all() == said


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("name", " ", "Enter a name."),
        ("name", "x" * 81, "Use at most 80 characters."),
        ("timezone", "Mars/Olympus", "Choose from the list."),
        ("timezone", "", "Choose from the list."),
        ("currency", "XXX", "Choose from the list."),
        ("language", "fr", "Choose from the list."),
        ("region", "mx", "Choose from the list."),
        ("emergency_number", "", "Enter the number as it is dialed, such as 911."),
        ("emergency_number", "nine one one", "Enter the number as it is dialed, such as 911."),
        ("emergency_number", "9" * 16, "Enter the number as it is dialed, such as 911."),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_nothing_is_lost(
    owner: Database, admin: Member, browser: CheckedClient, field: str, typed: str, said: str
) -> None:
    was = stored(owner, admin.group_id)
    refused = save(browser, was, **{**MEXICO, field: typed})
    assert refused.status_code == 422
    assert said in refused.text
    assert ('value="066"' in refused.text) == (field != "emergency_number")
    assert stored(owner, admin.group_id) == was


def test_two_admins_at_once_change_what_each_of_them_meant(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    was = stored(owner, admin.group_id)
    other = sign_in(app, owner, make_user(owner, admin.group_id, "admin"))
    assert save(other, was, currency="MXN").status_code == 303
    assert save(browser, was, timezone="America/Tijuana").status_code == 303
    now = stored(owner, admin.group_id)
    assert (now["currency"], now["timezone"]) == ("MXN", "America/Tijuana")
    # Both changed the same: who comes later sees it first.
    refused = save(browser, was, currency="EUR")
    assert refused.status_code == 409 and "Somebody else changed this" in refused.text
    assert stored(owner, admin.group_id) == now


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_nobody_else_may(app: Flask, owner: Database, admin: Member, role: str) -> None:
    was = stored(owner, admin.group_id)
    client = sign_in(app, owner, make_user(owner, admin.group_id, role))
    assert client.get("/restaurant").status_code == 403
    assert save(client, was, **MEXICO).status_code == 403
    assert 'href="/restaurant"' not in client.get("/chat").text
    assert stored(owner, admin.group_id) == was


def test_the_database_lets_nobody_else_change_it(owner: Database, database: Database) -> None:
    manager = make_user(owner, role="manager")
    with database.transaction(manager.scope) as session:
        changed = session.execute(text("UPDATE groups SET name = 'Mine'"))
    assert changed.rowcount == 0  # type: ignore[attr-defined]


def test_a_program_changes_no_restaurant(app: Flask, owner: Database, admin: Member) -> None:
    token = {"Authorization": f"Bearer {api_token(owner, admin)}"}
    assert app.test_client().get("/restaurant", headers=token).status_code == 403
    assert app.test_client().post("/restaurant", headers=token, data=MEXICO).status_code == 403


def test_its_clock_its_country_and_its_number_count_from_then_on(
    app: Flask, owner: Database, database: Database, admin: Member, browser: CheckedClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    # In the middle of a day it is another day elsewhere.
    noon = datetime(2026, 11, 2, 11, 30, tzinfo=UTC)
    monkeypatch.setattr(clock, "utc_now", lambda: noon)
    was = stored(owner, admin.group_id)
    days = []
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        save(browser, stored(owner, admin.group_id), timezone=zone)
        with database.transaction(admin.scope) as session:
            days.append(clock.local_now(load_zone_and_region(session)[0]).date().isoformat())
    assert days == ["2026-11-03", "2026-11-02"]
    monkeypatch.undo()
    save(browser, stored(owner, admin.group_id), **MEXICO)
    with database.transaction(admin.scope) as session:
        around = field_context(session, "es")
    number = parse_phone("55 1234 5678", around.region)
    assert number is not None and store_phone(number) == "+525512345678"
    assert was["region"] == "US"
    lost = answer(app, admin, ask(database, admin, "I want to kill myself"), ScriptedProvider())
    assert "800 911 2000" in lost.content and "call 066" in lost.content
    assert "988" not in lost.content


@pytest.mark.parametrize("held", ["KRW", "pesos"])
def test_a_currency_that_is_not_offered_stays_and_keeps_nothing_from_being_saved(
    owner: Database, admin: Member, browser: CheckedClient, held: str
) -> None:
    with owner.transaction() as session:
        session.get_one(Group, admin.group_id).currency = held
    assert f'value="{held}" selected' in browser.get("/restaurant").text
    assert save(browser, stored(owner, admin.group_id), name="Casa").status_code == 303
    now = stored(owner, admin.group_id)
    assert (now["name"], now["currency"]) == ("Casa", held)


def test_a_contact_without_a_country_code_is_of_the_country(
    owner: Database, database: Database, admin: Member, browser: CheckedClient
) -> None:
    save(browser, stored(owner, admin.group_id), **MEXICO)
    with database.session(admin.scope) as session:
        contact = add_contact(session, new_id(), ContactTexts("Ana", phone="55 1234 5678"))
        assert contact.phone == "+525512345678"


def test_a_clock_that_is_not_offered_stays(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    with owner.transaction() as session:
        session.get_one(Group, admin.group_id).timezone = "US/Central"
    page = browser.page("/restaurant")
    chosen = [each for each in page.find("select", id="f-timezone").find_all("option")
              if "selected" in each.attributes]  # fmt: skip
    assert [each.attributes["value"] for each in chosen] == ["US/Central"]
    was = stored(owner, admin.group_id)
    assert save(browser, was, name="Casa").status_code == 303
    assert stored(owner, admin.group_id) == {**was, "name": "Casa"}
