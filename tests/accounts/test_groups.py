"""Looking at another of one's groups, and at no others."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.accounts.conftest import Browser, House, Member

SignedIn = Callable[[Member], Browser]
Join = Callable[[Member, House, str], None]


def test_one_switches_to_another_of_ones_groups_with_its_role(
    signed_in: SignedIn, house: House, other_house: House, join_group: Join
) -> None:
    join_group(house.staff, other_house, "admin")
    browser = signed_in(house.staff)
    assert browser.get("/people").status_code == 403
    answer = browser.post("/switch-group", {"group_id": str(other_house.group_id)})
    assert (answer.status_code, answer.location) == (303, "/")
    page = browser.get("/people")
    assert page.status_code == 200
    assert other_house.admin.name in page.text
    assert house.admin.name not in page.text


def test_each_browser_looks_at_a_group_of_its_own(
    signed_in: SignedIn, house: House, other_house: House, join_group: Join
) -> None:
    join_group(house.staff, other_house, "staff")
    phone, tablet = signed_in(house.staff), signed_in(house.staff)
    phone.post("/switch-group", {"group_id": str(other_house.group_id)})
    assert f"<small>{other_house.name}</small>" in phone.get("/profile").text
    assert f"<small>{house.name}</small>" in tablet.get("/profile").text


def test_a_group_one_is_not_in_does_not_exist(
    signed_in: SignedIn, house: House, other_house: House
) -> None:
    browser = signed_in(house.admin)
    answer = browser.post("/switch-group", {"group_id": str(other_house.group_id)})
    assert answer.status_code == 404
    assert f"<small>{house.name}</small>" in browser.get("/profile").text


@pytest.mark.parametrize("group_id", ["", "x", "0190a2b4-0000-7000-8000-000000000000", "00000000"])
def test_no_group_is_no_group(signed_in: SignedIn, house: House, group_id: str) -> None:
    assert signed_in(house.staff).post("/switch-group", {"group_id": group_id}).status_code == 404


def test_only_people_of_several_groups_are_offered_a_switch(
    signed_in: SignedIn, house: House, other_house: House, join_group: Join
) -> None:
    browser = signed_in(house.staff)
    assert "Your groups" not in browser.get("/profile").text
    join_group(house.staff, other_house, "staff")
    page = browser.get("/profile").text
    assert "Your groups" in page
    assert other_house.name in page


@pytest.fixture
def switched(
    signed_in: SignedIn, house: House, other_house: House, join_group: Join
) -> tuple[Browser, str]:
    """A browser that has switched to another group, and the token that a tab of it still shows.

    Two tabs share the sign-in, and with it the group.
    """
    join_group(house.admin, other_house, "admin")
    browser = signed_in(house.admin)
    shown = browser.csrf_token()
    browser.post("/switch-group", {"group_id": str(other_house.group_id)})
    return browser, shown


def test_what_another_tab_still_shows_is_not_sent_to_the_group_one_switched_to(
    switched: tuple[Browser, str],
) -> None:
    browser, shown = switched
    invited = {"action": "invite", "email": "stranger@example.org", "role": "admin"}
    refused = browser.post("/people", {**invited, "csrf_token": shown})
    assert refused.status_code == 400
    assert "Reload it" in refused.text
    assert "stranger@example.org" not in browser.get("/people").text
    assert browser.post("/people", invited).status_code < 400
    assert "stranger@example.org" in browser.get("/people").text


def test_one_signs_out_on_a_page_of_any_group(switched: tuple[Browser, str]) -> None:
    """Else somebody walks away from a tablet that goes on being theirs."""
    browser, shown = switched
    browser.get("/people")
    assert browser.post("/sign-out", {"csrf_token": shown}).status_code == 303
    assert not browser.is_signed_in()


def test_an_answer_that_comes_late_with_the_cookie_of_before_changes_nothing_about_that(
    signed_in: SignedIn, house: House, other_house: House, join_group: Join
) -> None:
    join_group(house.admin, other_house, "admin")
    browser = signed_in(house.admin)
    shown, before = browser.csrf_token(), browser.cookie()
    browser.post("/switch-group", {"group_id": str(other_house.group_id)})
    browser.get("/people")
    browser.client.set_cookie("comanda", before or "")
    invited = {"action": "invite", "email": "stranger@example.org", "role": "admin"}
    assert browser.post("/people", {**invited, "csrf_token": shown}).status_code == 400
    assert browser.post("/people", invited).status_code == 303


def test_who_accepts_an_invitation_is_in_its_group_and_other_tabs_are_not(
    signed_in: SignedIn, house: House, other_house: House, mail_to: Callable[..., Any]
) -> None:
    form = {"action": "invite", "email": house.staff.email, "role": "staff"}
    signed_in(other_house.admin).post("/people", form)
    link = re.findall(r"/invitations/\S+", mail_to(house.staff.email)[-1].body)[-1]
    browser = signed_in(house.staff)
    shown = browser.csrf_token()
    assert browser.post(link).status_code == 303
    assert other_house.name in browser.get("/profile").text
    assert browser.post("/profile", {"csrf_token": shown, "name": "Ana"}).status_code == 400


def test_what_is_typed_is_kept_for_the_group_that_it_was_typed_in(
    signed_in: SignedIn, house: House, other_house: House, join_group: Join
) -> None:
    join_group(house.staff, other_house, "staff")
    browser = signed_in(house.staff)
    before = re.findall('data-person="([^"]+)"', browser.get("/chat").text)
    browser.post("/switch-group", {"group_id": str(other_house.group_id)})
    after = re.findall('data-person="([^"]+)"', browser.get("/chat").text)
    assert len(before) == len(after) == 1
    assert before != after
