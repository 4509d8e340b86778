"""API clients: a bearer token instead of a cookie, and no CSRF token with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.accounts.sign_in import issue_api_token
from app.db import Database
from tests.accounts.conftest import Browser, House, Member

SignedIn = Callable[[Member], Browser]


@pytest.fixture
def token(house: House, owner: Database) -> str:
    with owner.transaction() as session:
        return issue_api_token(session, house.staff.user_id, house.group_id)


def bearer(token: str, scheme: str = "Bearer") -> dict[str, str]:
    return {"Authorization": f"{scheme} {token}"}


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_token_speaks_for_its_person(
    client: FlaskClient, house: House, token: str, scheme: str
) -> None:
    answer = client.get("/profile", headers=bearer(token, scheme))
    assert answer.status_code == 200
    assert house.staff.email in answer.text


def test_a_token_is_recognisable_and_long(token: str) -> None:
    assert token.startswith("comanda_")
    assert len(token) > 45


def test_a_post_with_a_token_needs_no_csrf_token(
    client: FlaskClient, house: House, token: str
) -> None:
    answer = client.post("/language", data={"language": "es"}, headers=bearer(token))
    assert answer.status_code == 303
    assert '<html lang="es"' in client.get("/profile", headers=bearer(token)).text


@pytest.mark.parametrize("wrong", ["", "x", "comanda_" + "A" * 43, "é", "a b c"])
def test_a_wrong_token_is_nobody(client: FlaskClient, wrong: str) -> None:
    answer = client.get("/profile", headers=bearer(wrong))
    assert answer.status_code == 303
    assert answer.location.startswith("/sign-in")


@pytest.mark.parametrize("wrong", ["", "x", "comanda_" + "A" * 43])
def test_a_wrong_token_beside_a_good_cookie_is_nobody_too(
    signed_in: SignedIn, house: House, wrong: str
) -> None:
    """Else a header that anybody can make up would switch off the CSRF check."""
    browser = signed_in(house.staff)
    answer = browser.client.post("/language", data={"language": "es"}, headers=bearer(wrong))
    assert answer.status_code == 303
    assert '<html lang="en"' in browser.get("/profile").text


def test_a_cookies_token_is_no_bearer_token(
    signed_in: SignedIn, client: FlaskClient, house: House
) -> None:
    browser = signed_in(house.staff)
    with browser.client.session_transaction() as session:
        stolen = session["_user_id"]
    assert client.get("/profile", headers=bearer(stolen)).status_code == 303


def test_a_bearer_token_is_no_cookie(app: Flask, token: str) -> None:
    browser = Browser(app)
    with browser.client.session_transaction() as session:
        session["_user_id"] = token
    assert not browser.is_signed_in()


def test_signing_out_everywhere_ends_tokens_too(
    signed_in: SignedIn, client: FlaskClient, house: House, token: str
) -> None:
    signed_in(house.staff).post("/sign-out", {"everywhere": "1"})
    assert client.get("/profile", headers=bearer(token)).status_code == 303


def test_a_token_has_the_persons_role_and_no_more(
    client: FlaskClient, house: House, token: str
) -> None:
    form = {"action": "role", "user_id": str(house.staff.user_id), "role": "admin"}
    assert client.post("/people", data=form, headers=bearer(token)).status_code == 403
