"""Signing in and out: who gets in, what the cookie is worth, and when it is worth nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from argon2 import PasswordHasher
from flask import Flask
from sqlalchemy import select, update

from app.accounts.models import AuditEntry, Credential, Membership, SignIn, User
from app.accounts.passwords import needs_rehash
from app.accounts.sign_in import MOST_SHOWN, MOST_SIGN_INS
from app.accounts.tokens import hash_token
from app.db import Database, new_id, utc_now
from tests.accounts.conftest import PASSWORD, Browser, House, Member
from tests.html_checks import parse_html

SignedIn = Callable[[Member], Browser]


def sign_ins_of(owner: Database, member: Member) -> list[SignIn]:
    with owner.transaction() as session:
        return list(session.scalars(select(SignIn).where(SignIn.user_id == member.user_id)))


def actions_of(owner: Database, member: Member) -> list[str]:
    with owner.transaction() as session:
        query = select(AuditEntry.action).where(AuditEntry.user_id == member.user_id)
        return list(session.scalars(query.order_by(AuditEntry.id)))


def test_the_right_password_leads_to_the_house(browser: Browser, house: House) -> None:
    answer = browser.sign_in(house.staff)
    assert (answer.status_code, answer.location) == (303, "/")
    assert house.name in browser.get("/profile").text


def test_case_and_blanks_of_the_address_do_not_matter(browser: Browser, house: House) -> None:
    form = {"email": f"  {house.staff.email.upper()} ", "password": PASSWORD}
    assert browser.post("/sign-in", form).status_code == 303


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD + " ", PASSWORD.upper(), "x" * 5000])
def test_a_wrong_password_stays_outside(browser: Browser, house: House, password: str) -> None:
    form = {"email": house.staff.email, "password": password}
    assert browser.post("/sign-in", form).status_code == 422
    assert not browser.is_signed_in()


def test_an_unknown_address_and_a_wrong_password_read_the_same(
    browser: Browser, house: House
) -> None:
    wrong = browser.post("/sign-in", {"email": house.staff.email, "password": "wrong"})
    unknown = browser.post("/sign-in", {"email": "nobody@example.com", "password": "wrong"})
    assert wrong.status_code == unknown.status_code == 422
    words = "This email and password don't match."
    assert words in parse_html(wrong.text).text
    assert words in parse_html(unknown.text).text


def test_what_was_typed_is_kept_but_never_the_password(browser: Browser, house: House) -> None:
    form = {"email": house.staff.email, "password": "a secret slip"}
    page = browser.post("/sign-in", form).text
    assert f'value="{house.staff.email}"' in page
    assert "a secret slip" not in page
    assert 'aria-invalid="true"' in page


@pytest.mark.parametrize("email", ["", "\x00", "a\x00b@example.com", "' OR 1=1 --", "é" * 3000])
def test_odd_addresses_are_only_wrong(browser: Browser, email: str) -> None:
    assert browser.post("/sign-in", {"email": email, "password": "x"}).status_code == 422


def test_an_inactive_person_cannot_sign_in_nor_stay(
    browser: Browser, house: House, owner: Database
) -> None:
    browser.sign_in(house.staff)
    with owner.transaction() as session:
        session.execute(update(User).where(User.id == house.staff.user_id).values(is_active=False))
    assert not browser.is_signed_in()
    assert browser.sign_in(house.staff).status_code == 422


def test_a_person_without_a_group_is_told_what_to_do(
    browser: Browser, house: House, owner: Database
) -> None:
    with owner.transaction() as session:
        membership = session.get_one(Membership, (house.staff.user_id, house.group_id))
        session.delete(membership)
    answer = browser.sign_in(house.staff)
    assert answer.status_code == 422
    assert "Ask a manager for a new invitation" in answer.text


def test_one_goes_on_to_the_page_one_asked_for(browser: Browser, house: House) -> None:
    asked = browser.get("/people?page=2")
    assert asked.status_code == 303
    assert asked.location == "/sign-in?next=/people?page%3D2"
    assert 'name="next" value="/people?page=2"' in browser.get(asked.location).text
    assert browser.sign_in(house.admin, next="/people?page=2").location == "/people?page=2"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "evil",
        "/a\nb: c",
        "/\t/evil.example",
        "/\r/evil.example",
        "\t//evil.example",
    ],
)
def test_one_never_goes_on_to_another_site(browser: Browser, house: House, target: str) -> None:
    assert browser.sign_in(house.staff, next=target).location == "/"


def test_whoever_is_in_already_is_sent_on(signed_in: SignedIn, house: House) -> None:
    answer = signed_in(house.staff).get("/sign-in")
    assert (answer.status_code, answer.location) == (303, "/")


def test_signing_in_begins_a_new_session(app: Flask, house: House) -> None:
    browser = Browser(app)
    browser.get("/sign-in")
    before, token_before = browser.cookie(), browser.csrf_token()
    browser.sign_in(house.staff)
    assert browser.cookie() != before
    with browser.client.session_transaction() as session:
        assert set(session) == {"_user_id", "_permanent"}
    # The old page's CSRF token went with the old session.
    stale = browser.client.post("/sign-out", data={"csrf_token": token_before})
    assert stale.status_code == 400
    assert browser.is_signed_in()


def test_the_cookie_of_before_signing_in_is_worth_nothing(app: Flask, house: House) -> None:
    victim, thief = Browser(app), Browser(app)
    victim.get("/sign-in")
    thief.client.set_cookie("comanda", victim.cookie() or "")
    victim.sign_in(house.staff)
    assert not thief.is_signed_in()


def test_signing_in_again_ends_the_sign_in_before(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    browser.sign_in(house.manager)
    assert sign_ins_of(owner, house.staff) == []
    assert house.manager.name in browser.get("/profile").text


def test_only_the_hash_of_the_token_is_kept(
    browser: Browser, house: House, owner: Database
) -> None:
    browser.sign_in(house.staff)
    with browser.client.session_transaction() as session:
        token = session["_user_id"]
    (kept,) = sign_ins_of(owner, house.staff)
    assert kept.token_hash == hash_token(token) != token


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(
    browser: Browser, house: House
) -> None:
    header = browser.sign_in(house.staff).headers["Set-Cookie"]
    assert "HttpOnly" in header
    assert "SameSite=Lax" in header


def test_signing_out_kills_the_cookie_on_the_server(
    app: Flask, signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser, thief = signed_in(house.staff), Browser(app)
    thief.client.set_cookie("comanda", browser.cookie() or "")
    assert thief.is_signed_in()
    answer = browser.post("/sign-out")
    assert (answer.status_code, answer.location) == (303, "/sign-in")
    assert not thief.is_signed_in()
    assert sign_ins_of(owner, house.staff) == []


def test_signing_out_everywhere_ends_every_device(signed_in: SignedIn, house: House) -> None:
    phone, tablet = signed_in(house.staff), signed_in(house.staff)
    colleague = signed_in(house.manager)
    phone.post("/sign-out", {"everywhere": "1"})
    assert not phone.is_signed_in()
    assert not tablet.is_signed_in()
    assert colleague.is_signed_in()


def test_signing_out_twice_does_no_harm(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.staff)
    browser.post("/sign-out")
    assert browser.post("/sign-out").status_code == 303


def add_sign_ins(owner: Database, member: Member, count: int, **facts: Any) -> list[UUID]:
    """Sign-ins of other devices that were last used an hour ago or longer, the last used first."""
    ids = [new_id() for _ in range(count)]
    with owner.transaction() as session:
        for hours, sign_in_id in enumerate(ids, 1):
            session.add(
                SignIn(
                    id=sign_in_id,
                    token_hash=str(sign_in_id),
                    user_id=member.user_id,
                    group_id=member.group_id,
                    last_seen_at=utc_now() - timedelta(hours=hours),
                    expires_at=utc_now() + timedelta(days=1),
                    **facts,
                )
            )
    return ids


def ids_of(owner: Database, member: Member) -> set[UUID]:
    with owner.transaction() as session:
        return set(session.scalars(select(SignIn.id).where(SignIn.user_id == member.user_id)))


def devices_on(page: str) -> list[str]:
    devices = parse_html(page).find("section", aria_labelledby="devices")
    return [item.text for item in devices.find_all("li")]


@pytest.mark.parametrize(("language", "last"), [("en", "and 11 more"), ("es", "y 11 más")])
def test_the_profile_shows_fifty_sign_ins_and_how_many_more_there_are(
    signed_in: SignedIn, house: House, owner: Database, language: str, last: str
) -> None:
    browser = signed_in(house.staff)
    others = add_sign_ins(owner, house.staff, MOST_SHOWN + 10)
    with owner.transaction() as session:
        # A clock that is behind must not hide the device that one sits at.
        session.execute(
            update(SignIn)
            .where(SignIn.user_id == house.staff.user_id, SignIn.id.not_in(others))
            .values(last_seen_at=utc_now() - timedelta(days=300))
        )
    shown = devices_on(browser.get(f"/profile?lang={language}").text)
    assert len(shown) == MOST_SHOWN + 1
    assert sum("This device" in each or "Este dispositivo" in each for each in shown) == 1
    assert shown[-1] == last
    assert browser.post("/sign-out", {"everywhere": "1"}).status_code == 303
    assert ids_of(owner, house.staff) == set()


def test_a_profile_with_few_sign_ins_speaks_of_no_more(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    add_sign_ins(owner, house.staff, MOST_SHOWN - 1)
    shown = devices_on(browser.get("/profile").text)
    assert len(shown) == MOST_SHOWN
    assert not [each for each in shown if "more" in each]


def test_signing_in_ends_the_sign_ins_that_were_not_used_for_longest(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    tokens = add_sign_ins(owner, house.staff, 2, kind="api")
    others = add_sign_ins(owner, house.manager, 2)
    devices = add_sign_ins(owner, house.staff, MOST_SIGN_INS + 3)
    assert signed_in(house.staff).is_signed_in()
    left = ids_of(owner, house.staff)
    assert left.issuperset(tokens), "an API token is no device that somebody signs in with"
    assert left.intersection(devices) == set(devices[: MOST_SIGN_INS - 1])
    assert len(left) == MOST_SIGN_INS + len(tokens)
    assert ids_of(owner, house.manager) == set(others), "nobody else is signed out"


def test_an_expired_sign_in_is_out(signed_in: SignedIn, house: House, owner: Database) -> None:
    browser = signed_in(house.staff)
    with owner.transaction() as session:
        session.execute(
            update(SignIn)
            .where(SignIn.user_id == house.staff.user_id)
            .values(expires_at=utc_now() - timedelta(seconds=1))
        )
    assert not browser.is_signed_in()


def test_a_page_notes_that_one_was_seen_every_five_minutes_only(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    first = sign_ins_of(owner, house.staff)[0].last_seen_at
    browser.get("/profile")
    assert sign_ins_of(owner, house.staff)[0].last_seen_at == first
    with owner.transaction() as session:
        session.execute(
            update(SignIn)
            .where(SignIn.user_id == house.staff.user_id)
            .values(last_seen_at=utc_now() - timedelta(minutes=6))
        )
    browser.get("/profile")
    assert utc_now() - sign_ins_of(owner, house.staff)[0].last_seen_at < timedelta(minutes=1)


def test_a_hash_of_old_parameters_is_renewed_at_sign_in(
    browser: Browser, house: House, owner: Database
) -> None:
    old = PasswordHasher(time_cost=1, memory_cost=8 * 1024, parallelism=1).hash(PASSWORD)
    with owner.transaction() as session:
        session.get_one(Credential, house.staff.user_id).password_hash = old
    assert browser.sign_in(house.staff).status_code == 303
    with owner.transaction() as session:
        kept = session.get_one(Credential, house.staff.user_id).password_hash
    assert kept != old
    assert not needs_rehash(kept)
    assert Browser(browser.app).sign_in(house.staff).status_code == 303


def test_signing_in_and_out_is_on_the_record(
    browser: Browser, house: House, owner: Database
) -> None:
    browser.post("/sign-in", {"email": house.staff.email, "password": "wrong"})
    browser.sign_in(house.staff)
    browser.post("/sign-out")
    assert actions_of(owner, house.staff) == ["sign_in", "sign_out"]


WRITES = ["/sign-in", "/sign-out", "/profile", "/profile/password", "/language", "/theme"]
WRITES += ["/switch-group", "/people", "/forgot-password", "/invitations/x", "/reset-password/x"]


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.parametrize("verb", ["PUT", "PATCH", "DELETE"])
def test_another_verb_is_not_understood(
    signed_in: SignedIn, house: House, path: str, verb: str
) -> None:
    browser = signed_in(house.admin)
    headers = {"X-CSRFToken": browser.csrf_token()}
    answer = browser.client.open(path, method=verb, headers=headers)
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize("path", ["/sign-out", "/language", "/theme", "/switch-group"])
def test_what_changes_something_is_not_a_link(signed_in: SignedIn, house: House, path: str) -> None:
    assert signed_in(house.staff).get(path).status_code == 405
