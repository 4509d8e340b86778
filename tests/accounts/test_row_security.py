"""The second lock: what the app's role can see and do when a query forgets its predicate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError, ProgrammingError

from app.accounts.models import (
    AuditEntry,
    Group,
    Invitation,
    Membership,
    SignIn,
    User,
    UserProfile,
)
from app.accounts.profile import update_profile
from app.db import NOBODY, Database, Scope, utc_now
from app.notifications.mail import queue_mail
from tests.accounts.conftest import Browser, House, Member

SignedIn = Callable[[Member], Browser]


@pytest.fixture
def busy(signed_in: SignedIn, house: House, other_house: House) -> None:
    """Both houses have rows in every table."""
    for each in (house, other_house):
        for member in (each.staff, each.manager, each.admin):
            signed_in(member).post("/theme", {"theme": "dark"})
        form = {"action": "invite", "email": f"x-{each.slug}@example.com", "role": "staff"}
        signed_in(each.admin).post("/people", form)


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("role", ["staff", "manager", "admin"])
def test_without_a_predicate_only_ones_own_rows_are_seen(
    database: Database, house: House, role: str
) -> None:
    member: Member = getattr(house, role)
    mine, ours = {member.user_id}, {house.group_id}
    colleagues = {house.staff.user_id, house.manager.user_id, house.admin.user_id}
    with database.transaction(member.scope) as session:
        assert set(session.scalars(select(Group.id))) == ours
        assert set(session.scalars(select(User.id))) == colleagues
        assert set(session.scalars(select(Membership.user_id))) == colleagues
        assert set(session.scalars(select(UserProfile.user_id))) == mine
        assert set(session.scalars(select(SignIn.user_id))) == mine
        seen = set(session.scalars(select(AuditEntry.group_id)))
        assert seen == ours
        invitations = set(session.scalars(select(Invitation.group_id)))
        assert invitations == (ours if role == "admin" else set())


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    "model", [Group, User, Membership, UserProfile, SignIn, AuditEntry, Invitation]
)
def test_nobody_sees_nothing(database: Database, model: Any) -> None:
    with database.transaction(NOBODY) as session:
        assert session.scalar(select(func.count()).select_from(model)) == 0


def test_a_role_that_is_only_claimed_opens_no_other_house(
    database: Database, house: House, other_house: House
) -> None:
    """Even a scope that lies about the role stays within its group."""
    with database.transaction(Scope(house.group_id, house.staff.user_id, "admin")) as session:
        changed = session.execute(text("UPDATE memberships SET role = 'admin'")).rowcount  # type: ignore[attr-defined]
        assert changed == 3
        session.rollback()


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_only_admins_can_write_memberships(database: Database, house: House, role: str) -> None:
    with database.transaction(getattr(house, role).scope) as session:
        changed = session.execute(text("UPDATE memberships SET role = 'admin'")).rowcount  # type: ignore[attr-defined]
        assert changed == 0
        removed = session.execute(text("DELETE FROM memberships")).rowcount  # type: ignore[attr-defined]
        assert removed == 0


FORBIDDEN = [
    "SELECT * FROM credentials",
    "INSERT INTO credentials VALUES (gen_random_uuid(), 'x', now())",
    "UPDATE credentials SET password_hash = 'x'",
    "DELETE FROM credentials",
    "SELECT * FROM password_resets",
    "UPDATE password_resets SET used_at = NULL",
    "UPDATE audit_log SET action = 'nothing'",
    "DELETE FROM audit_log",
    "TRUNCATE audit_log",
    "INSERT INTO users VALUES (gen_random_uuid(), 'a@example.com', 'A', true, now())",
    "DELETE FROM users",
    "INSERT INTO groups VALUES (gen_random_uuid(), 'x', 'X', 'UTC', 'USD', 'en', now())",
    "DELETE FROM groups",
    "SELECT * FROM outgoing_mail",
    "UPDATE outgoing_mail SET to_address = 'thief@example.com'",
    "DELETE FROM outgoing_mail",
    "ALTER TABLE users DISABLE ROW LEVEL SECURITY",
    "CREATE TABLE mine (id integer)",
    "SET ROLE comanda_owner",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_app_may_not(database: Database, house: House, statement: str) -> None:
    with database.session(house.admin.scope) as session, pytest.raises(ProgrammingError) as no:
        session.execute(text(statement))
    assert no.value.orig is not None
    assert getattr(no.value.orig, "sqlstate", "") == "42501", str(no.value)


def test_nobody_writes_the_record_in_somebody_elses_name(
    database: Database, house: House, other_house: House
) -> None:
    for user_id, group_id in (
        (house.admin.user_id, house.group_id),
        (house.staff.user_id, other_house.group_id),
    ):
        with database.session(house.staff.scope) as session:
            session.add(AuditEntry(user_id=user_id, group_id=group_id, action="lie"))
            with pytest.raises(ProgrammingError):
                session.flush()


def test_a_sign_in_for_somebody_else_cannot_be_made_or_moved(
    signed_in: SignedIn, database: Database, house: House
) -> None:
    signed_in(house.staff)
    with database.session(house.staff.scope) as session:
        session.execute(
            text("UPDATE sign_ins SET expires_at = now() WHERE user_id <> :me"),
            {"me": house.staff.user_id},
        )
        with pytest.raises(ProgrammingError):
            session.execute(
                text("UPDATE sign_ins SET user_id = :them"), {"them": house.admin.user_id}
            )


def test_nobody_is_signed_in_to_a_group_they_are_not_in(
    database: Database, house: House, other_house: House
) -> None:
    with database.session(house.staff.scope) as session:
        session.add(
            SignIn(
                token_hash=f"x-{house.slug}",
                user_id=house.staff.user_id,
                group_id=other_house.group_id,
                expires_at=utc_now(),
            )
        )
        with pytest.raises(IntegrityError, match="fk_sign_ins_membership"):
            session.flush()


def test_a_profile_is_written_for_oneself_alone(database: Database, house: House) -> None:
    with database.session(house.staff.scope) as session:
        update_profile(session, units="metric")
        session.add(UserProfile(user_id=house.manager.user_id))
        with pytest.raises(ProgrammingError):
            session.flush()


def test_the_outbox_takes_and_gives_nothing_back(
    database: Database, owner: Database, house: House
) -> None:
    with database.transaction(house.staff.scope) as session:
        queue_mail(session, house.staff.email, "Subject\nBcc: x", "Body")
    with owner.transaction() as session:
        found = session.execute(
            text("SELECT subject FROM outgoing_mail WHERE to_address = :to"),
            {"to": house.staff.email},
        ).scalars()
        assert list(found) == ["Subject Bcc: x"]
