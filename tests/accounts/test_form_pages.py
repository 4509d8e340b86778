"""Each account page looked at as a careful reviewer would: ids, labels, nonces, actions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.db import Database
from app.notifications.mail import OutgoingMail
from tests.accounts.conftest import Browser, House, Member, found_house, link_in
from tests.factories import CheckedClient

SignedIn = Callable[[Member], Browser]
MailTo = Callable[[str], list[OutgoingMail]]

LANGUAGES = pytest.mark.parametrize("language", ["en", "es"])


@LANGUAGES
@pytest.mark.parametrize("path", ["/sign-in", "/forgot-password"])
def test_pages_before_signing_in(client: FlaskClient, path: str, language: str) -> None:
    page = CheckedClient(client).page(f"{path}?lang={language}")
    assert page.find("html").attributes["lang"] == language


@LANGUAGES
@pytest.mark.parametrize("role", ["staff", "manager", "admin"])
def test_the_profile(
    signed_in: SignedIn,
    house: House,
    other_house: House,
    join_group: Callable[[Member, House, str], None],
    role: str,
    language: str,
) -> None:
    member: Member = getattr(house, role)
    join_group(member, other_house, "staff")
    checked = CheckedClient(signed_in(member).client)
    page = checked.page(f"/profile?lang={language}")
    assert page.find("input", name="name").attributes["value"] == member.name


@LANGUAGES
def test_the_people_page_and_its_fragment(signed_in: SignedIn, house: House, language: str) -> None:
    browser = signed_in(house.admin)
    browser.post(
        "/people", {"action": "invite", "email": f"x@{house.slug}.example.com", "role": "staff"}
    )
    checked = CheckedClient(browser.client)
    checked.page(f"/people?lang={language}")
    fragment = checked.fragment("/people")
    assert [child.attributes["id"] for child in fragment.root.children] == ["people"]
    CheckedClient(signed_in(house.manager).client).page(f"/people?lang={language}")


def test_pages_after_a_refusal(client: FlaskClient, signed_in: SignedIn, house: House) -> None:
    stranger = CheckedClient(client)
    answer = stranger.post("/sign-in", email=house.staff.email, password="wrong")
    assert answer.status_code == 422
    admin = CheckedClient(signed_in(house.admin).client, house.admin)
    refused = admin.post_fragment("/people", 422, action="invite", email="x", role="staff")
    wrong = refused.find("input", name="email")
    assert wrong.attributes["aria-invalid"] == "true"
    assert "e-email" in wrong.attributes["aria-describedby"]


@LANGUAGES
def test_pages_behind_links(
    app: Flask,
    owner: Database,
    signed_in: SignedIn,
    house: House,
    mail_to: MailTo,
    language: str,
) -> None:
    newcomer = f"new-{house.slug}@example.com"
    known = found_house(owner).staff
    for email in (newcomer, known.email):
        form = {"action": "invite", "email": email, "role": "staff"}
        signed_in(house.admin).post("/people", form)
    Browser(app).post("/forgot-password", {"email": house.staff.email})
    paths = [link_in(mail_to(email)[-1]) for email in (newcomer, known.email, house.staff.email)]
    for path in paths:
        CheckedClient(app.test_client()).page(f"{path}?lang={language}")
    CheckedClient(signed_in(known).client).page(f"{paths[1]}?lang={language}")
    CheckedClient(signed_in(house.manager).client).page(f"{paths[1]}?lang={language}")
