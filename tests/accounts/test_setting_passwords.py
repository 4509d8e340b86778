"""A password is set in one way, whoever sets it: whatever let somebody in before is over."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import select, text

from app.accounts.models import Credential, Invitation, PasswordReset, SignIn
from app.accounts.sign_in import Device, issue_api_token
from app.accounts.sign_in import sign_in as sign_in_again
from app.accounts.tokens import hash_token, new_token
from app.db import Database, ScopedSession, new_id, utc_now
from app.errors import InvalidInput
from app.notifications.mail import OutgoingMail
from tests.accounts.conftest import Browser, House, Member, link_in

SignedIn = Callable[[Member], Browser]
MailTo = Callable[[str], list[OutgoingMail]]

NEW, DAY = "nine purple onions", timedelta(days=1)
WAYS = ("own change", "reset link", "command line")


@dataclass
class Person:
    """Somebody with every way in that there is, and the browser they work in now."""

    member: Member
    here: Browser
    elsewhere: Browser
    api_token: str
    links: list[str]


@pytest.fixture
def person(
    app: Flask, house: House, owner: Database, signed_in: SignedIn, mail_to: MailTo
) -> Person:
    member = house.staff
    for _ in range(3):
        Browser(app).post("/forgot-password", {"email": member.email})
    with owner.transaction() as session:
        token = issue_api_token(session, member.user_id, member.group_id)
    links = [link_in(mail) for mail in mail_to(member.email)]
    assert len(links) == 3
    return Person(member, signed_in(member), signed_in(member), token, links)


@pytest.fixture
def set_password(app: Flask, cli: FlaskCliRunner, person: Person) -> Callable[[str], None]:
    """Sets the person's password to NEW in one of the ways; the first link may be used up."""

    def set_(way: str) -> None:
        if way == "own change":
            form = {"current_password": person.member.password, "new_password": NEW}
            assert person.here.post("/profile/password", form).status_code == 303
        elif way == "reset link":
            assert Browser(app).post(person.links[0], {"password": NEW}).status_code == 303
        else:
            arguments = ["users", "password", person.member.email]
            result = cli.invoke(args=arguments, input=f"{NEW}\n{NEW}\n")
            assert result.exit_code == 0, result.output

    return set_


def api_status(app: Flask, token: str) -> int:
    answer = app.test_client().get("/chat", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


@pytest.mark.parametrize("way", WAYS)
def test_every_open_reset_link_ends_with_a_new_password(
    app: Flask, person: Person, set_password: Callable[[str], None], way: str
) -> None:
    assert {Browser(app).get(link).status_code for link in person.links} == {200}
    set_password(way)
    for link in person.links:
        assert Browser(app).get(link).status_code == 404
        assert Browser(app).post(link, {"password": "eleven brown lentils"}).status_code == 404
    assert Browser(app).sign_in(person.member, NEW).status_code == 303


@pytest.mark.parametrize("way", WAYS)
def test_every_other_sign_in_and_api_token_ends_with_a_new_password(
    app: Flask, person: Person, set_password: Callable[[str], None], way: str
) -> None:
    assert api_status(app, person.api_token) == 200
    set_password(way)
    assert api_status(app, person.api_token) == 303
    assert not person.elsewhere.is_signed_in()
    assert person.here.is_signed_in() == (way == "own change")


@pytest.mark.parametrize("way", WAYS)
def test_an_invitation_that_was_made_with_the_former_password_ends(
    owner: Database, person: Person, set_password: Callable[[str], None], way: str
) -> None:
    """Somebody else may have used the sign-in, and made themselves a way in."""
    facts = {"group_id": person.member.group_id, "role": "admin", "expires_at": utc_now() + DAY}
    by_whom = {"open": None, "used": utc_now()}
    with owner.transaction() as session:
        for name, used in by_whom.items():
            made = {"email": f"{name}-{new_id()}@example.com", "token_hash": str(new_id())}
            session.add(
                Invitation(**facts, **made, invited_by=person.member.user_id, accepted_at=used)
            )
    set_password(way)
    with owner.transaction() as session:
        query = select(Invitation.email).where(Invitation.invited_by == person.member.user_id)
        assert [email[:4] for email in session.scalars(query)] == ["used"]


def test_the_browser_in_which_it_was_changed_goes_on_with_a_new_cookie(
    app: Flask, person: Person, set_password: Callable[[str], None]
) -> None:
    stolen = Browser(app)
    stolen.client.set_cookie("comanda", person.here.cookie() or "")
    assert stolen.is_signed_in()
    set_password("own change")
    assert person.here.is_signed_in()
    assert not stolen.is_signed_in()
    assert person.here.post("/language", {"language": "es"}).status_code == 303


def test_what_is_another_persons_stays(
    app: Flask, house: House, signed_in: SignedIn, mail_to: MailTo, person: Person,
    set_password: Callable[[str], None],
) -> None:  # fmt: skip
    other = signed_in(house.admin)
    Browser(app).post("/forgot-password", {"email": house.admin.email})
    set_password("own change")
    assert other.is_signed_in()
    assert Browser(app).get(link_in(mail_to(house.admin.email)[-1])).status_code == 200


def test_the_account_of_an_invitation_has_one_sign_in_and_its_password_is_set_once(
    app: Flask, house: House, owner: Database, signed_in: SignedIn, mail_to: MailTo
) -> None:
    address = f"luz-{house.slug}@example.com"
    form = {"action": "invite", "email": address, "role": "staff"}
    signed_in(house.admin).post("/people", form)
    link = link_in(mail_to(address)[-1])
    joined = Browser(app)
    assert joined.post(link, {"name": "Luz", "password": NEW}).status_code == 303
    assert joined.is_signed_in()
    assert Browser(app).post(link, {"name": "Eve", "password": "x" * 20}).status_code == 404
    with owner.transaction() as session:
        query = select(SignIn.id).where(SignIn.token_hash.is_not(None))
        user_id = session.scalar(
            text("SELECT id FROM users WHERE email = :email"), {"email": address}
        )
        assert len(session.scalars(query.where(SignIn.user_id == user_id)).all()) == 1


def test_a_sign_in_with_the_password_of_before_does_not_slip_in_beside_a_new_one(
    database: Database, owner: Database, house: House
) -> None:
    """The sign-in holds the person's credentials until it is there, and then ends with them."""
    member, confirm = house.staff, text("SELECT confirm_credentials(:known, NULL)")
    with owner.transaction() as session:
        known = session.get_one(Credential, member.user_id).password_hash

    def set_new() -> None:
        with owner.transaction() as session:
            parameters = {"user_id": member.user_id, "hash": "another"}
            session.execute(text("SELECT write_password(:user_id, :hash)"), parameters)

    setting = threading.Thread(target=set_new)
    with database.transaction(member.scope) as session:
        assert session.scalar(confirm, {"known": known})
        setting.start()
        session.add(
            SignIn(
                token_hash=hash_token(new_token()),
                user_id=member.user_id,
                group_id=member.group_id,
                expires_at=utc_now() + timedelta(days=1),
            )
        )
        session.flush()
        setting.join(0.3)
        assert setting.is_alive()
    setting.join(10)
    with database.transaction(member.scope) as session:
        assert session.scalars(select(SignIn)).all() == []
        assert not session.scalar(confirm, {"known": known})


# Who waits for this transaction, and who waits for those.
WAITING = text(
    """
    WITH RECURSIVE held(pid) AS (
      SELECT pg_backend_pid()
      UNION
      SELECT l.pid FROM pg_locks l, held
       WHERE NOT l.granted AND held.pid = ANY (pg_blocking_pids(l.pid))
    )
    SELECT count(*) - 1 FROM held
    """
)
START_RESET = text("SELECT * FROM start_password_reset(:id, :email, :token_hash, :expires)")
FINISH_RESET = text("SELECT finish_password_reset(:token_hash, 'another')")


def wait_for_waiting(session: ScopedSession, count: int) -> None:
    """Return once so many transactions wait for that of `session`."""
    deadline = time.monotonic() + 20
    while session.scalar(WAITING) != count:
        assert time.monotonic() < deadline, f"{session.scalar(WAITING)} wait"
        time.sleep(0.02)


@contextmanager
def locked_credentials(owner: Database, member: Member) -> Iterator[ScopedSession]:
    """Nobody sets or confirms the person's password within this block."""
    with owner.transaction() as session:
        session.get_one(Credential, member.user_id, with_for_update=True)
        yield session


def start_reset(session: ScopedSession, member: Member) -> str:
    """The hash of a new link's token."""
    token_hash = hash_token(new_token())
    expires = utc_now() + timedelta(hours=1)
    facts = {"id": new_id(), "email": member.email, "token_hash": token_hash, "expires": expires}
    assert session.execute(START_RESET, facts).one().name == member.name
    return token_hash


@pytest.mark.parametrize("what", ["reset link", "API token"])
def test_what_is_being_made_while_a_password_is_set_ends_with_it(
    database: Database, owner: Database, house: House, what: str
) -> None:
    """Whichever comes first, the other waits for it."""
    member = house.staff
    issuing = database if what == "reset link" else owner

    def set_new() -> None:
        with owner.transaction() as session:
            parameters = {"user_id": member.user_id, "hash": "another"}
            session.execute(text("SELECT write_password(:user_id, :hash)"), parameters)

    with ThreadPoolExecutor(1) as pool:
        with issuing.transaction() as session:
            if what == "reset link":
                start_reset(session, member)
            else:
                issue_api_token(session, member.user_id, member.group_id)
            setting = pool.submit(set_new)
            wait_for_waiting(session, 1)
        setting.result(20)
    with owner.transaction() as session:
        for table in (PasswordReset, SignIn):
            rows = session.scalars(select(table).where(table.user_id == member.user_id))
            assert rows.all() == []


def test_a_reset_of_nobody_locks_nothing_and_tells_nothing(
    database: Database, owner: Database, house: House
) -> None:
    facts = {"id": new_id(), "email": "nobody@example.com", "token_hash": "x", "expires": utc_now()}
    with locked_credentials(owner, house.staff), database.transaction() as session:
        assert session.execute(START_RESET, facts).all() == []


def test_of_two_reset_links_used_at_once_one_sets_the_password(
    database: Database, owner: Database, house: House
) -> None:
    """Each needs what the other one ends; they take it in the same order."""
    with database.transaction() as session:
        links = [start_reset(session, house.staff) for _ in range(2)]

    def finish(token_hash: str) -> UUID | None:
        with database.transaction() as session:
            return session.scalar(FINISH_RESET, {"token_hash": token_hash})

    with ThreadPoolExecutor(2) as pool:
        with locked_credentials(owner, house.staff) as session:
            finishing = [pool.submit(finish, link) for link in links]
            wait_for_waiting(session, 2)
        found = {each.result(20) for each in finishing}
    assert found == {house.staff.user_id, None}
    with database.transaction() as session:
        assert {session.scalar(FINISH_RESET, {"token_hash": link}) for link in links} == {None}


def test_a_link_used_while_a_password_is_set_is_over_and_holds_nobody_up(
    database: Database, owner: Database, house: House
) -> None:
    with database.transaction() as session:
        link = start_reset(session, house.staff)

    def finish() -> UUID | None:
        with database.transaction() as session:
            return session.scalar(FINISH_RESET, {"token_hash": link})

    with ThreadPoolExecutor(1) as pool:
        with locked_credentials(owner, house.staff) as session:
            finishing = pool.submit(finish)
            wait_for_waiting(session, 1)
            parameters = {"user_id": house.staff.user_id, "hash": "a third one"}
            session.execute(text("SELECT write_password(:user_id, :hash)"), parameters)
        assert finishing.result(20) is None
    with owner.transaction() as session:
        assert session.get_one(Credential, house.staff.user_id).password_hash == "a third one"


def test_signing_in_again_while_a_password_is_set_waits_and_is_refused(
    app: Flask, database: Database, owner: Database, house: House, signed_in: SignedIn
) -> None:
    """The browser's sign-in before is ended by both; neither waits for ever for the other."""
    member = house.staff
    signed_in(member)
    with owner.transaction() as session:
        mine = select(SignIn.id).where(SignIn.user_id == member.user_id)
        replaced = session.scalars(mine).one()

    def set_new() -> None:
        with owner.transaction() as session:
            parameters = {"user_id": member.user_id, "hash": "another"}
            session.execute(text("SELECT write_password(:user_id, :hash)"), parameters)

    def sign_in() -> None:
        with database.session(member.scope) as session:
            device = Device("a browser", 1)
            sign_in_again(session, member.email, member.password, device, replaces=replaced)

    with ThreadPoolExecutor(2) as pool:
        with locked_credentials(owner, member) as session:
            setting = pool.submit(set_new)
            wait_for_waiting(session, 1)
            entering = pool.submit(sign_in)
            wait_for_waiting(session, 2)
        setting.result(20)
        with pytest.raises(InvalidInput, match="This email and password don't match\\."):
            entering.result(20)
    with owner.transaction() as session:
        assert session.scalars(mine).all() == []


@pytest.mark.usefixtures("real_passwords")
def test_an_old_hash_made_anew_ends_nothing(
    app: Flask, house: House, owner: Database, signed_in: SignedIn
) -> None:
    """Signing in may write the same password's hash with today's parameters."""
    from argon2 import PasswordHasher

    before = signed_in(house.staff)
    weak = PasswordHasher(time_cost=1, memory_cost=8 * 1024, parallelism=1)
    with owner.transaction() as session:
        kept = session.get_one(Credential, house.staff.user_id)
        kept.password_hash = weak.hash(house.staff.password)
        session.add(
            PasswordReset(
                user_id=house.staff.user_id,
                token_hash=str(new_id()),
                expires_at=utc_now() + timedelta(hours=1),
            )
        )
    signed_in(house.staff)
    assert before.is_signed_in()
    with owner.transaction() as session:
        kept = session.get_one(Credential, house.staff.user_id)
        assert "m=19456,t=2" in kept.password_hash
        query = select(PasswordReset).where(PasswordReset.user_id == house.staff.user_id)
        assert len(session.scalars(query).all()) == 1


def test_one_function_of_the_database_sets_passwords(owner: Database) -> None:
    writes = re.compile(
        r"(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO)\s+credentials\b", re.I
    )
    with owner.transaction() as session:
        rows = session.execute(
            text(
                "SELECT proname, prosrc FROM pg_proc"
                " WHERE pronamespace = 'public'::regnamespace AND prosrc ILIKE '%credentials%'"
            )
        ).all()
    writers = {row.proname: row.prosrc for row in rows if writes.search(row.prosrc)}
    # The second keeps another hash of the password that is there, and only of that one.
    assert set(writers) == {"write_password", "confirm_credentials"}
    assert "AND password_hash = p_password_hash" in writers["confirm_credentials"]
