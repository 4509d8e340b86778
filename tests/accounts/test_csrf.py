"""No other site can make a person's browser change anything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.accounts.conftest import Browser, House, Member

SignedIn = Callable[[Member], Browser]

WRITES = [
    "/sign-in",
    "/sign-out",
    "/profile",
    "/profile/password",
    "/language",
    "/theme",
    "/switch-group",
    "/people",
    "/invitations/some-token",
    "/forgot-password",
    "/reset-password/some-token",
]


def send(browser: Browser, path: str, token: str | None) -> TestResponse:
    form = {} if token is None else {"csrf_token": token}
    return browser.client.post(path, data=form)


@pytest.mark.fault(28)
@pytest.mark.parametrize("path", WRITES)
def test_a_post_without_a_token_is_refused(signed_in: SignedIn, house: House, path: str) -> None:
    browser = signed_in(house.admin)
    assert send(browser, path, None).status_code == 400
    assert browser.is_signed_in()


@pytest.mark.parametrize("path", WRITES)
def test_a_post_with_somebody_elses_token_is_refused(
    app: Flask, signed_in: SignedIn, house: House, path: str
) -> None:
    browser = signed_in(house.admin)
    assert send(browser, path, Browser(app).csrf_token()).status_code == 400
    assert browser.is_signed_in()


@pytest.mark.parametrize("token", ["", "x", "null", "0190a2b4-0000-7000-8000-000000000000"])
def test_a_made_up_token_is_refused(signed_in: SignedIn, house: House, token: str) -> None:
    assert send(signed_in(house.staff), "/sign-out", token).status_code == 400


@pytest.mark.parametrize("verb", ["POST", "PUT", "PATCH", "DELETE"])
def test_every_verb_that_writes_asks_for_the_token(
    app: Flask, signed_in: SignedIn, house: House, verb: str
) -> None:
    browser = signed_in(house.admin)
    answer = browser.client.open("/profile", method=verb)
    # A verb that the page does not know is refused as such, and does nothing either.
    assert answer.status_code == (400 if verb == "POST" else 405)


def test_the_header_that_scripts_send_counts_too(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.staff)
    headers = {"X-CSRFToken": browser.csrf_token()}
    assert browser.client.post("/sign-out", headers=headers).status_code == 303


def test_the_refusal_says_what_to_do(signed_in: SignedIn, house: House) -> None:
    answer = send(signed_in(house.staff), "/theme", None)
    assert "Reload it and try again" in answer.text


def test_an_idle_page_works_for_as_long_as_its_session(
    app: Flask, signed_in: SignedIn, house: House
) -> None:
    assert app.config["WTF_CSRF_TIME_LIMIT"] is None
    browser = signed_in(house.staff)
    token = browser.csrf_token()
    for _page in range(3):
        browser.get("/profile")
    assert send(browser, "/sign-out", token).status_code == 303
