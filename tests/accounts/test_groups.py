"""Looking at another of one's groups, and at no others."""

from __future__ import annotations

from collections.abc import Callable

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
