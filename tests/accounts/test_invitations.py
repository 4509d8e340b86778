"""Invitations by link: who may send them, who may use them, and how often."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select, text, update

from app.accounts import people
from app.accounts.models import AuditEntry, Invitation, Membership, User
from app.accounts.people import EXPIRED_DAYS, MOST_INVITATIONS
from app.db import Database, Scope, new_id, utc_now
from app.errors import Forbidden
from app.notifications.mail import OutgoingMail
from tests.accounts.conftest import Browser, House, Member, link_in
from tests.assistant.processes import wait_until

SignedIn = Callable[[Member], Browser]
MailTo = Callable[[str], list[OutgoingMail]]

WAITING = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
NEW_PERSON = {"name": "Luz Ortega", "password": "nine purple onions"}


@pytest.fixture
def newcomer(house: House) -> str:
    return f"luz-{house.slug}@example.com"


@pytest.fixture
def invite(signed_in: SignedIn, mail_to: MailTo) -> Callable[..., str]:
    """Lets a house's admin invite an address; returns the path of the link in the mail."""

    def invite_(house: House, email: str, role: str = "staff") -> str:
        form = {"action": "invite", "email": email, "role": role}
        assert signed_in(house.admin).post("/people", form).status_code == 303
        return link_in(mail_to(email.lower())[-1])

    return invite_


def role_in(owner: Database, house: House, email: str) -> str | None:
    with owner.transaction() as session:
        return session.scalar(
            select(Membership.role)
            .join(User, User.id == Membership.user_id)
            .where(Membership.group_id == house.group_id, User.email == email)
        )


def test_a_new_person_joins_with_the_invited_role_and_is_signed_in(
    browser: Browser, house: House, newcomer: str, invite: Callable[..., str], owner: Database
) -> None:
    link = invite(house, newcomer.upper(), "manager")
    page = browser.get(link).text
    assert house.name in page
    assert newcomer in page
    answer = browser.post(link, NEW_PERSON)
    assert (answer.status_code, answer.location) == (303, "/")
    assert "Luz Ortega" in browser.get("/people").text
    assert role_in(owner, house, newcomer) == "manager"
    again = Browser(browser.app).post(
        "/sign-in", {"email": newcomer, "password": NEW_PERSON["password"]}
    )
    assert again.status_code == 303


def test_a_link_works_once(
    app: Flask, house: House, newcomer: str, invite: Callable[..., str]
) -> None:
    link = invite(house, newcomer)
    assert Browser(app).post(link, NEW_PERSON).status_code == 303
    assert Browser(app).get(link).status_code == 404
    assert Browser(app).post(link, NEW_PERSON).status_code == 404


def test_an_expired_link_does_not_work(
    browser: Browser, house: House, newcomer: str, invite: Callable[..., str], owner: Database
) -> None:
    link = invite(house, newcomer)
    with owner.transaction() as session:
        session.execute(
            update(Invitation)
            .where(Invitation.email == newcomer)
            .values(expires_at=utc_now() - timedelta(seconds=1))
        )
    assert browser.get(link).status_code == 404
    answer = browser.post(link, NEW_PERSON)
    assert answer.status_code == 404
    assert "Ask for a new one" in answer.text
    assert role_in(owner, house, newcomer) is None


def test_an_invitation_taken_back_does_not_work(
    browser: Browser,
    signed_in: SignedIn,
    house: House,
    newcomer: str,
    invite: Callable[..., str],
    owner: Database,
) -> None:
    link = invite(house, newcomer)
    with owner.transaction() as session:
        invitation = session.scalars(select(Invitation).where(Invitation.email == newcomer)).one()
        form = {"invitation_id": str(invitation.id), "sent": invitation.sent}
    admin = signed_in(house.admin)
    form["action"] = "revoke"
    assert admin.post("/people", form).status_code == 303
    assert browser.post(link, NEW_PERSON).status_code == 404
    assert admin.post("/people", form).status_code == 404


def test_a_second_invitation_ends_the_first(
    app: Flask, house: House, newcomer: str, invite: Callable[..., str], owner: Database
) -> None:
    first, second = invite(house, newcomer), invite(house, newcomer, "manager")
    assert Browser(app).post(first, NEW_PERSON).status_code == 404
    assert Browser(app).post(second, NEW_PERSON).status_code == 303
    assert role_in(owner, house, newcomer) == "manager"


def test_a_link_from_before_a_removal_brings_nobody_back(
    signed_in: SignedIn, house: House, other_house: House, invite: Callable[..., str],
    owner: Database,
) -> None:  # fmt: skip
    person = other_house.staff
    link = invite(house, person.email, "manager")
    # The operator has given them the role meanwhile, so that nobody needed the link.
    with owner.transaction() as session:
        session.add(Membership(user_id=person.user_id, group_id=house.group_id, role="staff"))
    form = {"action": "remove", "user_id": str(person.user_id), "was": "staff"}
    assert signed_in(house.admin).post("/people", form).status_code == 303
    browser = signed_in(person)
    assert browser.get(link).status_code == 404
    assert browser.post(link).status_code == 404
    assert role_in(owner, house, person.email) is None


@pytest.mark.parametrize("action", ["remove", "manager", "staff"])
def test_an_invitation_ends_with_the_rights_of_whoever_made_it(
    signed_in: SignedIn, house: House, newcomer: str, invite: Callable[..., str], owner: Database,
    action: str,
) -> None:  # fmt: skip
    """An admin who has to go would come back by a link that they have sent to themselves."""
    link = invite(house, newcomer, "admin")
    with owner.transaction() as session:
        session.execute(
            update(Invitation)
            .where(Invitation.email == newcomer)
            .values(invited_by=house.staff.user_id)
        )
    other = invite(house, f"other-{newcomer}")
    who = {"user_id": str(house.staff.user_id), "was": "staff"}
    form = {"action": "remove"} if action == "remove" else {"action": "role", "role": action}
    assert signed_in(house.admin).post("/people", form | who).status_code == 303
    browser = Browser(signed_in(house.admin).app)
    assert browser.get(link).status_code == 404
    assert browser.post(link, NEW_PERSON).status_code == 404
    assert browser.get(other).status_code == 200


def test_who_was_removed_and_is_invited_again_comes_back_by_signing_in(
    app: Flask, owner: Database, house: House, invite: Callable[..., str], signed_in: SignedIn
) -> None:
    """Nobody is signed in who is in no restaurant, and the link asked them to sign in."""
    gone = {"action": "remove", "user_id": str(house.staff.user_id), "was": "staff"}
    assert signed_in(house.admin).post("/people", gone).status_code == 303
    browser = Browser(app)
    assert "You are not in any group now." in browser.sign_in(house.staff).text
    link = invite(house, house.staff.email, "manager")
    assert "Sign in with it" in browser.get(link).text
    wrong = browser.sign_in(house.staff, "not the password", next=link)
    assert wrong.status_code == 422
    assert role_in(owner, house, house.staff.email) is None
    assert (
        "You are not in any group now." in browser.sign_in(house.staff, next="/invitations/x").text
    )
    answer = browser.sign_in(house.staff, next=link)
    assert (answer.status_code, answer.location) == (303, "/")
    assert browser.is_signed_in()
    assert role_in(owner, house, house.staff.email) == "manager"
    assert Browser(app).get(link).status_code == 404


def test_an_invitation_for_somebody_else_lets_nobody_in_who_signs_in_by_it(
    app: Flask, owner: Database, house: House, newcomer: str, invite: Callable[..., str],
    signed_in: SignedIn,
) -> None:  # fmt: skip
    gone = {"action": "remove", "user_id": str(house.staff.user_id), "was": "staff"}
    assert signed_in(house.admin).post("/people", gone).status_code == 303
    browser = Browser(app)
    answer = browser.sign_in(house.staff, next=invite(house, newcomer, "admin"))
    assert answer.status_code == 422
    assert "You are not in any group now." in answer.text
    for email in (house.staff.email, newcomer):
        assert role_in(owner, house, email) is None
    with owner.transaction() as session:
        assert session.scalar(select(User.id).where(User.email == newcomer)) is None


def is_anybody_waiting(database: Database) -> bool:
    """Whether a statement of this role waits for another one to end."""
    with database.transaction() as session:
        return bool(session.scalar(WAITING))


def test_who_is_made_staff_in_the_same_moment_invites_nobody(
    database: Database, owner: Database, house: House, newcomer: str
) -> None:
    """They would come back as an admin, by a link that they have sent to themselves."""
    scope = Scope(house.group_id, house.admin.user_id, "admin")

    def invite() -> None:
        with database.session(scope) as session:
            people.invite(session, newcomer, "admin", str, inviter="Ana")

    own = (Membership.group_id == house.group_id, Membership.user_id == house.admin.user_id)
    with ThreadPoolExecutor(1) as pool:
        with owner.transaction() as session:
            session.execute(update(Membership).where(*own).values(role="staff"))
            inviting = pool.submit(invite)
            wait_until(lambda: inviting.done() or is_anybody_waiting(database))
        with pytest.raises(Forbidden):
            inviting.result(30)
    with owner.transaction() as session:
        assert session.scalar(select(Invitation.id).where(Invitation.email == newcomer)) is None


@pytest.mark.parametrize("token", ["x", "A" * 43, "%00", "..%2F..%2Fpeople"])
def test_a_made_up_link_does_not_work(browser: Browser, token: str) -> None:
    assert browser.get(f"/invitations/{token}").status_code == 404
    assert browser.post(f"/invitations/{token}", NEW_PERSON).status_code == 404


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"password": "short"}, "password"),
        ({"password": "Luz Ortega Luz"}, None),
        ({"password": "password1234"}, "password"),
    ],
)
def test_a_refused_form_keeps_the_link_good(
    browser: Browser,
    house: House,
    newcomer: str,
    invite: Callable[..., str],
    wrong: dict[str, str],
    field: str | None,
) -> None:
    link = invite(house, newcomer)
    answer = browser.post(link, {**NEW_PERSON, **wrong})
    if field is None:
        assert answer.status_code == 303
        return
    assert answer.status_code == 422
    assert f'id="e-{field}"' in answer.text
    assert browser.post(link, NEW_PERSON).status_code == 303


def test_somebody_with_an_account_joins_as_who_they_are(
    signed_in: SignedIn,
    house: House,
    other_house: House,
    invite: Callable[..., str],
    owner: Database,
) -> None:
    link = invite(other_house, house.staff.email, "manager")
    browser = signed_in(house.staff)
    assert "Your name" not in browser.get(link).text
    assert browser.post(link).status_code == 303
    assert role_in(owner, other_house, house.staff.email) == "manager"
    assert f"<small>{other_house.name}</small>" in browser.get("/profile").text


def test_somebody_with_an_account_must_sign_in_first(
    browser: Browser, house: House, other_house: House, invite: Callable[..., str], owner: Database
) -> None:
    link = invite(other_house, house.staff.email)
    page = browser.get(link).text
    assert f"/sign-in?next={link}" in page
    # Whoever merely holds the link cannot set a password for the account.
    answer = browser.post(link, NEW_PERSON)
    assert answer.status_code == 409
    assert role_in(owner, other_house, house.staff.email) is None
    assert browser.sign_in(house.staff, next=link).location == link


def test_nobody_accepts_for_somebody_else(
    signed_in: SignedIn,
    house: House,
    other_house: House,
    invite: Callable[..., str],
    owner: Database,
) -> None:
    link = invite(other_house, house.staff.email)
    colleague = signed_in(house.manager)
    assert f"Sign out {house.manager.name}" in colleague.get(link).text
    assert colleague.post(link, NEW_PERSON).status_code == 409
    assert role_in(owner, other_house, house.staff.email) is None
    assert role_in(owner, other_house, house.manager.email) is None


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_only_admins_invite(
    signed_in: SignedIn, house: House, newcomer: str, mail_to: MailTo, role: str
) -> None:
    form = {"action": "invite", "email": newcomer, "role": "admin"}
    assert signed_in(getattr(house, role)).post("/people", form).status_code == 403
    assert mail_to(newcomer) == []


def test_an_admin_cannot_take_back_another_houses_invitation(
    signed_in: SignedIn,
    house: House,
    other_house: House,
    newcomer: str,
    invite: Callable[..., str],
    owner: Database,
) -> None:
    invite(other_house, newcomer)
    with owner.transaction() as session:
        invitation = session.scalars(select(Invitation).where(Invitation.email == newcomer)).one()
        invitation_id, sent = invitation.id, invitation.sent
    form = {"action": "revoke", "invitation_id": str(invitation_id), "sent": sent}
    assert signed_in(house.admin).post("/people", form).status_code == 404
    with owner.transaction() as session:
        assert session.get(Invitation, invitation_id) is not None


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"email": "not an address", "role": "staff"}, "email"),
        ({"email": "", "role": "staff"}, "email"),
        ({"email": "a@b@c", "role": "staff"}, "email"),
        ({"email": "new@example.com", "role": "owner"}, "role"),
    ],
)
def test_an_invitation_that_cannot_be_sent_says_why_beside_the_field(
    signed_in: SignedIn, house: House, form: dict[str, str], field: str
) -> None:
    answer = signed_in(house.admin).post("/people", {"action": "invite", **form})
    assert answer.status_code == 422
    assert f'id="e-{field}"' in answer.text
    assert f'value="{form["email"]}"' in answer.text


def test_whoever_works_here_already_is_not_invited(signed_in: SignedIn, house: House) -> None:
    form = {"action": "invite", "email": house.staff.email, "role": "admin"}
    answer = signed_in(house.admin).post("/people", form)
    assert answer.status_code == 422
    assert "is already in this group." in answer.text


@pytest.mark.fault(67)
def test_only_so_many_are_open_and_what_expired_long_ago_is_forgotten(
    signed_in: SignedIn, house: House, newcomer: str, owner: Database
) -> None:
    def put(number: int, expires_at: datetime) -> Invitation:
        return Invitation(
            group_id=house.group_id,
            email=f"{number}-{newcomer}",
            role="staff",
            token_hash=new_id().hex,
            expires_at=expires_at,
        )

    admin, form = signed_in(house.admin), {"action": "invite", "email": newcomer, "role": "staff"}
    with owner.transaction() as session:
        session.add_all(put(n, utc_now() - timedelta(days=3)) for n in range(MOST_INVITATIONS))
    full = admin.post("/people", form)
    assert full.status_code == 422
    assert f"{MOST_INVITATIONS} invitations are open." in full.text
    assert f'value="{newcomer}"' in full.text
    # One that is open already is made anew.
    assert admin.post("/people", {**form, "email": f"0-{newcomer}"}).status_code == 303
    with owner.transaction() as session:
        long_ago = utc_now() - timedelta(days=EXPIRED_DAYS, hours=1)
        of_group = Invitation.group_id == house.group_id
        session.execute(
            update(Invitation)
            .where(of_group, Invitation.email != f"0-{newcomer}")
            .values(expires_at=long_ago)
        )
    assert admin.post("/people", form).status_code == 303
    with owner.transaction() as session:
        left = session.scalars(select(Invitation.email).where(of_group)).all()
    assert set(left) == {newcomer, f"0-{newcomer}"}


def test_the_admin_is_shown_the_link_once(
    signed_in: SignedIn, house: House, newcomer: str, mail_to: MailTo
) -> None:
    admin = signed_in(house.admin)
    admin.post("/people", {"action": "invite", "email": newcomer, "role": "staff"})
    link = link_in(mail_to(newcomer)[0])
    assert link in admin.get("/people").text
    assert link not in admin.get("/people").text


def test_invitations_are_on_the_record(
    browser: Browser, house: House, newcomer: str, invite: Callable[..., str], owner: Database
) -> None:
    browser.post(invite(house, newcomer), NEW_PERSON)
    with owner.transaction() as session:
        query = select(AuditEntry.action, AuditEntry.subject).where(
            AuditEntry.group_id == house.group_id, AuditEntry.action.like("invit%")
        )
        assert [tuple(row) for row in session.execute(query.order_by(AuditEntry.id))] == [
            ("invited", f"{newcomer} as staff"),
            ("invitation_accepted", f"{newcomer} as staff"),
        ]


def test_the_token_is_kept_as_a_hash_only(
    house: House, newcomer: str, invite: Callable[..., str], owner: Database
) -> None:
    token = invite(house, newcomer).rpartition("/")[2]
    with owner.transaction() as session:
        kept = session.scalars(
            select(Invitation.token_hash).where(Invitation.email == newcomer)
        ).one()
        rows = session.scalar(select(func.count()).where(Invitation.token_hash == token))
    assert kept != token
    assert rows == 0
