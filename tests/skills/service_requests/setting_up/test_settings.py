"""The settings of requests: what is usual, what is settled, two who settle at once, who may."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.db import Database
from app.errors import Forbidden
from app.skills.service_requests.models import RequestSettings
from app.skills.service_requests.services.settings import (
    StaleSettings,
    load_settings_of,
    save_settings,
)
from tests.factories import CheckedClient, Member, make_user, sign_in

SETTINGS = "/admin/requests/settings/"


def settled(database: Database, member: Member) -> tuple[bool, int, int]:
    with database.session(member.scope) as session:
        said = load_settings_of(session)
        return said.is_resolution_on, said.resolution_threshold, said.version


def test_a_house_that_has_settled_nothing_has_what_is_usual(
    owner: Database, database: Database, admin: Member, browser: CheckedClient
) -> None:
    assert settled(database, admin) == (True, 70, 0)
    page = browser.page(SETTINGS)
    assert page.find("input", id="f-threshold").attributes["value"] == "70"
    # The same again settles nothing.
    assert browser.post(SETTINGS, resolution="on", threshold="70", version="0").status_code == 303
    with owner.session() as session:
        assert session.get(RequestSettings, admin.group_id) is None


def test_what_is_settled_is_kept_with_who_settled_it(
    owner: Database, database: Database, admin: Member, browser: CheckedClient
) -> None:
    browser.post(SETTINGS, resolution="on", threshold=" 85 %", version="0")
    assert settled(database, admin) == (True, 85, 1)
    browser.post(SETTINGS, threshold="0", version="1")
    assert settled(database, admin) == (False, 0, 2)
    browser.post(SETTINGS, resolution="on", threshold="100", version="2")
    assert settled(database, admin) == (True, 100, 3)
    with owner.session() as session:
        said = session.get(RequestSettings, admin.group_id)
        assert said and said.edited_by == admin.user_id
    # Another house's are its own.
    assert settled(database, make_user(owner, role="admin")) == (True, 70, 0)


@pytest.mark.parametrize("threshold", ["", "101", "-1", "7.5", "many", "٧٠", "9" * 4_000, "\x00"])
def test_a_threshold_that_is_none_is_told_and_kept(
    database: Database, admin: Member, browser: CheckedClient, threshold: str
) -> None:
    page = browser._page(browser.post(SETTINGS, threshold=threshold, version="0"), 422)
    assert "Enter a whole number from 0 to 100." in page.text
    assert settled(database, admin) == (True, 70, 0)


def test_whoever_is_slower_is_told_who_and_what(
    database: Database, admin: Member, browser: CheckedClient, other: CheckedClient
) -> None:
    other.post(SETTINGS, resolution="on", threshold="60", version="0")
    page = browser._page(browser.post(SETTINGS, threshold="90", version="0"), 409)
    assert "Bea changed this while you were writing" in page.text
    assert "Their version: solutions are proposed from 60 percent up." in page.text
    assert page.find("input", id="f-threshold").attributes["value"] == "90"
    assert page.find("input", name="version").attributes["value"] == "1"
    assert settled(database, admin) == (True, 60, 1)
    browser.post(SETTINGS, threshold="90", version="1")
    assert settled(database, admin) == (False, 90, 2)


def test_a_mistake_hides_nothing_that_somebody_else_has_settled_meanwhile(
    database: Database, admin: Member, browser: CheckedClient, other: CheckedClient
) -> None:
    other.post(SETTINGS, resolution="on", threshold="80", version="0")
    page = browser._page(browser.post(SETTINGS, threshold="seventy", version="0"), 422)
    assert page.find("input", name="version").attributes["value"] == "0"
    page = browser._page(browser.post(SETTINGS, threshold="55", version="0"), 409)
    assert "80 percent" in page.text
    assert settled(database, admin) == (True, 80, 1)


def test_of_two_who_settle_for_the_first_time_at_once_one_is_told(
    database: Database, admin: Member
) -> None:
    def settle(threshold: int) -> bool:
        with database.session(admin.scope) as session:
            try:
                save_settings(session, is_resolution_on=True, threshold=threshold, version=0)
            except StaleSettings:
                return False
            return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(settle, (50, 60))) == [False, True]
    assert settled(database, admin)[2] == 1


def test_managers_look_and_nobody_else(
    app: Flask, owner: Database, database: Database, admin: Member, browser: CheckedClient
) -> None:
    boss = make_user(owner, group_id=admin.group_id, role="manager")
    manager, staff = (
        sign_in(app, owner, boss),
        sign_in(app, owner, make_user(owner, group_id=admin.group_id)),
    )
    assert not manager.page(SETTINGS).find_all("input", name="threshold")
    assert staff.get(SETTINGS).status_code == 403
    assert app.test_client().get(SETTINGS).status_code == 303
    form = {"threshold": "1", "version": "0"}
    for person in (manager, staff):
        assert person.post(SETTINGS, **form).status_code == 403
    with database.session(boss.scope) as session, pytest.raises(Forbidden):
        save_settings(session, is_resolution_on=False, threshold=1, version=0)
    assert browser.client.delete(SETTINGS).status_code in (400, 405)
    assert browser.post(SETTINGS, token=False, **form).status_code == 400
    assert settled(database, admin) == (True, 70, 0)
