"""Who sees the people of a group, and who may change them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from app.accounts import people
from app.accounts.models import AuditEntry, Membership
from app.db import Database
from app.errors import Conflict, Forbidden
from tests.accounts.conftest import Browser, House, Member

SignedIn = Callable[[Member], Browser]


def role_of(owner: Database, member: Member) -> str | None:
    with owner.transaction() as session:
        found = session.get(Membership, (member.user_id, member.group_id))
        return found.role if found else None


def change_role(browser: Browser, member: Member, role: str, was: str = "") -> int:
    who = {"user_id": str(member.user_id), "was": was or member.role}
    return browser.post("/people", {"action": "role", "role": role, **who}).status_code


def remove(browser: Browser, member: Member, was: str = "") -> int:
    who = {"user_id": str(member.user_id), "was": was or member.role}
    return browser.post("/people", {"action": "remove", **who}).status_code


def test_an_admin_sees_everybody_and_what_can_be_done(signed_in: SignedIn, house: House) -> None:
    page = signed_in(house.admin).get("/people").text
    for member in (house.staff, house.manager, house.admin):
        assert member.email in page
    assert "Invite somebody" in page


def test_a_manager_sees_everybody_and_changes_nobody(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.manager)
    page = browser.get("/people").text
    assert house.staff.email in page
    assert 'name="action"' not in page
    assert change_role(browser, house.staff, "admin") == 403
    assert role_of(owner, house.staff) == "staff"


def test_staff_sees_no_people(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.staff)
    assert browser.get("/people").status_code == 403
    assert change_role(browser, house.staff, "admin") == 403
    assert remove(browser, house.admin) == 403


def test_nobody_of_another_house_is_seen(
    signed_in: SignedIn, house: House, other_house: House
) -> None:
    page = signed_in(house.admin).get("/people").text
    assert other_house.staff.email not in page


def test_a_new_role_counts_from_the_next_request(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    staff = signed_in(house.staff)
    assert staff.get("/people").status_code == 403
    assert change_role(signed_in(house.admin), house.staff, "manager") == 303
    assert role_of(owner, house.staff) == "manager"
    assert staff.get("/people").status_code == 200


def test_roles_and_removals_are_on_the_record(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.admin)
    change_role(browser, house.staff, "manager")
    remove(browser, house.staff, was="manager")
    with owner.transaction() as session:
        query = select(AuditEntry.action, AuditEntry.subject).where(
            AuditEntry.user_id == house.admin.user_id, AuditEntry.action != "sign_in"
        )
        assert [tuple(row) for row in session.execute(query.order_by(AuditEntry.id))] == [
            ("role_changed", f"{house.staff.user_id}: staff to manager"),
            ("removed_from_group", f"{house.staff.user_id}: manager"),
        ]


@pytest.mark.parametrize("role", ["", "owner", "superuser"])
def test_a_role_that_does_not_exist_is_refused(
    signed_in: SignedIn, house: House, owner: Database, role: str
) -> None:
    assert change_role(signed_in(house.admin), house.staff, role) == 422
    assert role_of(owner, house.staff) == "staff"


def test_somebody_of_another_house_cannot_be_changed(
    signed_in: SignedIn, house: House, other_house: House, owner: Database
) -> None:
    browser = signed_in(house.admin)
    assert change_role(browser, other_house.staff, "admin") == 404
    assert remove(browser, other_house.staff) == 404
    assert role_of(owner, other_house.staff) == "staff"


@pytest.mark.parametrize("user_id", ["", "x", "00000000-0000-0000-0000-000000000000"])
def test_nobody_cannot_be_changed(signed_in: SignedIn, house: House, user_id: str) -> None:
    form = {"action": "remove", "user_id": user_id}
    assert signed_in(house.admin).post("/people", form).status_code == 404


def test_an_unknown_action_is_refused(signed_in: SignedIn, house: House) -> None:
    assert signed_in(house.admin).post("/people", {"action": "promote"}).status_code == 422


def test_somebody_removed_is_out_at_once_and_stays_out(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    staff = signed_in(house.staff)
    assert remove(signed_in(house.admin), house.staff) == 303
    assert not staff.is_signed_in()
    with owner.transaction() as session:
        session.add(Membership(user_id=house.staff.user_id, group_id=house.group_id, role="staff"))
    # Being asked back does not wake the cookie of a phone that may be lost.
    assert not staff.is_signed_in()


def test_the_last_admin_can_neither_go_nor_step_down(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.admin)
    assert change_role(browser, house.admin, "staff") == 409
    assert remove(browser, house.admin) == 409
    assert role_of(owner, house.admin) == "admin"
    change_role(browser, house.manager, "admin")
    assert change_role(browser, house.admin, "staff") == 303


def test_two_admins_cannot_demote_each_other(
    signed_in: SignedIn, house: House, owner: Database, database: Database
) -> None:
    assert change_role(signed_in(house.admin), house.manager, "admin") == 303

    def demote(who: Member) -> str:
        with database.session(house.admin.scope) as session:
            try:
                people.change_role(session, who.user_id, "staff", was="admin")
            except (Conflict, Forbidden):
                return "refused"
        return "done"

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(demote, [house.admin, house.manager]))
    assert answers == ["done", "refused"]
    assert {role_of(owner, house.admin), role_of(owner, house.manager)} == {"admin", "staff"}


def test_htmx_gets_the_list_alone(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.admin)
    headers = {"HX-Request": "true", "HX-Request-Type": "partial"}
    who = {"user_id": str(house.staff.user_id), "was": "staff"}
    form = {"action": "role", "role": "manager", **who}
    answer = browser.post("/people", form, headers=headers)
    assert answer.status_code == 303
    fragment = browser.get("/people", headers=headers).text
    assert "<html" not in fragment
    assert fragment.lstrip().startswith('<div class="page-part" id="people">')
    assert "Role changed." in fragment


def test_a_refusal_is_shown_with_the_list(signed_in: SignedIn, house: House) -> None:
    form = {"action": "remove", "user_id": str(house.admin.user_id)}
    answer = signed_in(house.admin).post("/people", form)
    assert answer.status_code == 409
    assert "A group needs an admin" in answer.text
    assert house.staff.email in answer.text
