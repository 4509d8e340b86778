"""Guessing is slow, the others notice nothing, and nobody is locked out for long."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from limits import parse
from redis.exceptions import ConnectionError as RedisAway

from app.accounts import account_limits
from app.errors import TooMany
from app.extensions import client_address, limiter
from tests.accounts.conftest import Browser, House, Member

SignedIn = Callable[[Member], Browser]

ACCOUNT_TRIES = parse(account_limits.SIGN_IN_ACCOUNT).amount
ADDRESS_TRIES = 30


def guess(browser: Browser, member: Member, times: int) -> list[int]:
    return [browser.sign_in(member, "wrong").status_code for _ in range(times)]


@pytest.mark.fault(30)
def test_guessing_at_one_account_ends_with_429_and_when_to_try_again(
    browser: Browser, house: House
) -> None:
    assert guess(browser, house.staff, ACCOUNT_TRIES) == [422] * ACCOUNT_TRIES
    answer = browser.sign_in(house.staff)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 300
    assert "Too many tries. Try again in 5 minutes." in answer.text
    assert f'value="{house.staff.email}"' in answer.text


def test_another_address_does_not_help_the_guesser(app: Flask, house: House) -> None:
    for _ in range(ACCOUNT_TRIES):
        guess(Browser(app), house.staff, 1)
    assert Browser(app).sign_in(house.staff, "wrong").status_code == 429


def test_colleagues_at_the_same_address_still_get_in(app: Flask, house: House) -> None:
    address = Browser(app).address
    guess(Browser(app, address), house.staff, ACCOUNT_TRIES + 3)
    assert Browser(app, address).sign_in(house.manager).status_code == 303


def test_a_device_used_before_is_not_locked_out_by_somebody_elsewhere(
    app: Flask, signed_in: SignedIn, house: House
) -> None:
    phone = signed_in(house.staff)
    phone.post("/sign-out")
    guess(Browser(app), house.staff, ACCOUNT_TRIES + 1)
    assert phone.sign_in(house.staff).status_code == 303


def test_a_device_used_before_has_no_endless_tries_either(
    signed_in: SignedIn, house: House
) -> None:
    phone = signed_in(house.staff)
    phone.post("/sign-out")
    assert guess(phone, house.staff, ACCOUNT_TRIES + 1)[-1] == 429


@pytest.mark.parametrize("cookie", ["x", "e30.x", '["name", ["account"]]', ""])
def test_a_made_up_device_gains_nothing(app: Flask, house: House, cookie: str) -> None:
    thief = Browser(app)
    thief.client.set_cookie(account_limits.DEVICE_COOKIE, cookie)
    guess(thief, house.staff, ACCOUNT_TRIES)
    assert Browser(app).sign_in(house.staff).status_code == 429


def test_signing_in_starts_the_count_anew(browser: Browser, house: House) -> None:
    for _round in range(3):
        guess(browser, house.staff, ACCOUNT_TRIES - 1)
        assert browser.sign_in(house.staff).status_code == 303
        browser.post("/sign-out")


@pytest.mark.fault(30)
def test_many_guesses_from_one_address_end_whatever_the_account(browser: Browser) -> None:
    answers = [
        browser.post("/sign-in", {"email": f"n{n}@example.com", "password": "x"}).status_code
        for n in range(ADDRESS_TRIES + 1)
    ]
    assert answers == [422] * ADDRESS_TRIES + [429]


@pytest.mark.fault(30)
def test_a_guest_who_guesses_at_the_same_address_keeps_nobody_out_on_a_device_used_before(
    app: Flask, house: House
) -> None:
    phone = Browser(app)
    assert phone.sign_in(house.staff).status_code == 303
    phone.post("/sign-out")
    guest = Browser(app, phone.address)
    for n in range(ADDRESS_TRIES + 1):
        last = guest.post("/sign-in", {"email": f"n{n}@example.com", "password": "x"}).status_code
    assert last == 429
    # On a device that nobody knows one waits, and so does who guesses at a colleague's account.
    assert Browser(app, phone.address).sign_in(house.staff).status_code == 429
    assert phone.sign_in(house.manager).status_code == 429
    assert phone.sign_in(house.staff).status_code == 303


def test_a_whole_shift_may_sign_in_from_one_address(app: Flask, house: House) -> None:
    address = Browser(app).address
    for _ in range(ADDRESS_TRIES + 5):
        assert Browser(app, address).sign_in(house.staff).status_code == 303


@pytest.mark.fault(30)
def test_who_knows_the_password_signs_in_so_often_and_is_then_asked_to_wait(
    app: Flask, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_limits, "SIGN_INS", "3 per minute")
    for _ in range(4):
        assert Browser(app).sign_in(house.staff).status_code == 303
    assert Browser(app).sign_in(house.staff).status_code == 429
    assert Browser(app).sign_in(house.manager).status_code == 303


@pytest.mark.fault(30)
def test_guesses_at_the_same_time_are_all_counted(app: Flask, house: House) -> None:
    browsers = [Browser(app) for _ in range(ACCOUNT_TRIES * 2)]
    tokens = [browser.csrf_token() for browser in browsers]

    def attempt(browser: Browser, token: str) -> int:
        form = {"email": house.staff.email, "password": "wrong", "csrf_token": token}
        return browser.client.post("/sign-in", data=form).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(attempt, browsers, tokens))
    assert answers == [422] * ACCOUNT_TRIES + [429] * ACCOUNT_TRIES


def test_the_wait_ends_by_itself(app: Flask) -> None:
    with app.test_request_context():
        account_limits.count_try("1 per 1 second", "short", "somebody")
        with pytest.raises(TooMany) as refused:
            account_limits.count_try("1 per 1 second", "short", "somebody")
        assert refused.value.retry_after == 1
        time.sleep(1.1)
        account_limits.count_try("1 per 1 second", "short", "somebody")


def test_tries_are_counted_while_redis_is_away(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        def __getattr__(self, _name: str) -> Callable[..., int]:
            def fail(*_arguments: object, **_options: object) -> int:
                raise RedisAway

            return fail

    monkeypatch.setattr(limiter, "_storage", Away())
    with app.test_request_context():
        account_limits.count_try("2 per hour", "away", "somebody")
        account_limits.count_try("2 per hour", "away", "somebody")
        with pytest.raises(TooMany):
            account_limits.count_try("2 per hour", "away", "somebody")


def test_asking_for_new_passwords_is_limited(app: Flask, house: House) -> None:
    codes = [
        Browser(app).post("/forgot-password", {"email": house.staff.email}).status_code
        for _ in range(5)
    ]
    assert codes == [303] * 4 + [429]


def test_guessing_ones_own_password_is_limited(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.staff)
    form = {"current_password": "wrong", "new_password": "nine purple onions"}
    codes = [browser.post("/profile/password", form).status_code for _ in range(9)]
    assert codes == [422] * 8 + [429]


def test_the_wait_is_told_in_spanish_too(browser: Browser, house: House) -> None:
    browser.post("/language", {"language": "es"})
    guess(browser, house.staff, ACCOUNT_TRIES)
    assert "5 minutos" in browser.sign_in(house.staff).text


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.7"),
    ],
)
def test_whoever_has_one_address_of_a_network_has_all_of_them(
    app: Flask, address: str, counted: str
) -> None:
    with app.test_request_context("/", environ_base={"REMOTE_ADDR": address}):
        assert client_address() == counted
