"""A new password by a link: the same answer for everybody, and a link that works once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from app.accounts.models import AuditEntry, PasswordReset
from app.config import Settings
from app.db import Database, utc_now
from app.notifications.mail import OutgoingMail
from tests.accounts.conftest import Browser, House, Member, link_in

SignedIn = Callable[[Member], Browser]
MailTo = Callable[[str], list[OutgoingMail]]

NEW = "nine purple onions"


@pytest.fixture
def ask_for_link(app: Flask, mail_to: MailTo) -> Callable[[Member], str]:
    def ask(member: Member) -> str:
        answer = Browser(app).post("/forgot-password", {"email": member.email})
        assert answer.status_code == 303
        return link_in(mail_to(member.email)[-1])

    return ask


def test_a_link_sets_a_new_password_and_signs_out_everywhere(
    browser: Browser,
    signed_in: SignedIn,
    house: House,
    ask_for_link: Callable[[Member], str],
    owner: Database,
) -> None:
    phone = signed_in(house.staff)
    link = ask_for_link(house.staff)
    assert browser.get(link).status_code == 200
    answer = browser.post(link, {"password": NEW})
    assert (answer.status_code, answer.location) == (303, "/sign-in")
    assert "Your new password is set." in browser.get("/sign-in").text
    assert not phone.is_signed_in()
    assert browser.sign_in(house.staff).status_code == 422
    assert browser.sign_in(house.staff, NEW).status_code == 303
    with owner.transaction() as session:
        query = select(AuditEntry.action).where(AuditEntry.user_id == house.staff.user_id)
        assert "password_reset" in session.scalars(query).all()


def test_the_person_is_told_that_their_password_changed(
    browser: Browser, house: House, ask_for_link: Callable[[Member], str], mail_to: MailTo
) -> None:
    browser.post(ask_for_link(house.staff), {"password": NEW})
    assert mail_to(house.staff.email)[-1].subject == "Your Comanda password was changed"


def test_an_unknown_address_gets_the_same_answer_and_no_mail(
    app: Flask, house: House, owner: Database, mail_to: MailTo
) -> None:
    known, unknown = Browser(app), Browser(app)
    first = known.post("/forgot-password", {"email": house.staff.email})
    second = unknown.post("/forgot-password", {"email": f"nobody-{house.slug}@example.com"})
    assert (first.status_code, first.location) == (second.status_code, second.location)
    words = "If there is an account with that address"
    assert words in known.get("/sign-in").text
    assert words in unknown.get("/sign-in").text
    assert mail_to(f"nobody-{house.slug}@example.com") == []
    # The same message is made for nobody, so that the time does not tell either.
    with owner.transaction() as session:
        query = select(func.count()).where(
            OutgoingMail.to_address == "", OutgoingMail.subject == "A new password for Comanda"
        )
        assert (session.scalar(query) or 0) >= 1


def test_a_link_works_once(
    browser: Browser, house: House, ask_for_link: Callable[[Member], str]
) -> None:
    link = ask_for_link(house.staff)
    assert browser.post(link, {"password": NEW}).status_code == 303
    assert browser.get(link).status_code == 404
    assert browser.post(link, {"password": "eleven brown lentils"}).status_code == 404
    assert browser.sign_in(house.staff, NEW).status_code == 303


def test_an_expired_link_does_not_work(
    browser: Browser, house: House, ask_for_link: Callable[[Member], str], owner: Database
) -> None:
    link = ask_for_link(house.staff)
    with owner.transaction() as session:
        session.execute(
            update(PasswordReset)
            .where(PasswordReset.user_id == house.staff.user_id)
            .values(expires_at=utc_now() - timedelta(seconds=1))
        )
    page = browser.get(link)
    assert page.status_code == 404
    # It leads on to another link.
    assert 'action="/forgot-password"' in page.text
    assert browser.post(link, {"password": NEW}).status_code == 404
    assert browser.sign_in(house.staff).status_code == 303


@pytest.mark.parametrize("token", ["x", "A" * 43, "%00"])
def test_a_made_up_link_does_not_work(browser: Browser, token: str) -> None:
    assert browser.get(f"/reset-password/{token}").status_code == 404
    assert browser.post(f"/reset-password/{token}", {"password": NEW}).status_code == 404


def test_an_invitations_link_is_not_a_resets_link(
    browser: Browser, house: House, ask_for_link: Callable[[Member], str]
) -> None:
    token = ask_for_link(house.staff).rpartition("/")[2]
    assert browser.get(f"/invitations/{token}").status_code == 404


@pytest.mark.parametrize("words", ["short", "password1234", "own e-mail"])
def test_a_refused_password_keeps_the_link_good(
    browser: Browser, house: House, ask_for_link: Callable[[Member], str], words: str
) -> None:
    link = ask_for_link(house.staff)
    password = house.staff.email if words == "own e-mail" else words
    answer = browser.post(link, {"password": password})
    assert answer.status_code == 422
    assert 'id="e-password"' in answer.text
    assert browser.post(link, {"password": NEW}).status_code == 303


def test_the_link_changes_nobody_elses_password(
    browser: Browser, house: House, ask_for_link: Callable[[Member], str]
) -> None:
    link = ask_for_link(house.staff)
    browser.post(link, {"password": NEW, "email": house.admin.email})
    assert browser.sign_in(house.admin, NEW).status_code == 422
    assert browser.sign_in(house.admin).status_code == 303


def test_something_that_is_no_address_is_said_to_be_none(browser: Browser) -> None:
    answer = browser.post("/forgot-password", {"email": "nobody"})
    assert answer.status_code == 422
    assert 'id="e-email"' in answer.text


def test_the_link_leads_to_this_server_whatever_the_request_claims(
    app: Flask, house: House, mail_to: MailTo, settings: Settings
) -> None:
    client, elsewhere = app.test_client(), "http://evil.example"
    page = client.get("/forgot-password", base_url=elsewhere).text
    token = page.partition('name="csrf-token" content="')[2].partition('"')[0]
    form = {"email": house.staff.email, "csrf_token": token}
    assert client.post("/forgot-password", data=form, base_url=elsewhere).status_code == 303
    (mail,) = mail_to(house.staff.email)
    assert "evil.example" not in mail.body
    assert f"{settings.base_url}/reset-password/" in mail.body


def test_a_new_password_opens_the_door_although_somebody_keeps_guessing(
    app: Flask, house: House, ask_for_link: Callable[[Member], str]
) -> None:
    guesser = Browser(app)
    while guesser.sign_in(house.staff, "wrong").status_code != 429:
        pass
    browser = Browser(app)
    browser.post(ask_for_link(house.staff), {"password": NEW})
    assert browser.sign_in(house.staff, NEW).status_code == 303


def test_the_mail_is_in_the_readers_language(
    browser: Browser, house: House, signed_in: SignedIn, mail_to: MailTo
) -> None:
    signed_in(house.staff).post("/language", {"language": "es"})
    browser.post("/forgot-password", {"email": house.staff.email})
    assert mail_to(house.staff.email)[-1].subject == "Una contraseña nueva para Comanda"
