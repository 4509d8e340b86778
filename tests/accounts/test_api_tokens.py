"""API clients: a bearer token instead of a cookie, and no CSRF token with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app.accounts.models import SignIn, User
from app.accounts.people import invite, join_as_known_person
from app.accounts.sign_in import issue_api_token, switch_group
from app.accounts.tokens import hash_token
from app.db import Database
from tests.accounts.conftest import PASSWORD, Browser, House, Member

SignedIn = Callable[[Member], Browser]
Join = Callable[[Member, House, str], None]
# A page of the group's, open to everybody in it.
OPEN = "/chat"

# What a program may do with its token among the pages of accounts. Whoever adds a route decides:
# what is not here is a person's own, and asks for a browser.
FOR_TOKENS = {"POST /sign-out"}
BROWSERS_ALONE = {
    "GET /people",
    "POST /people",
    "GET /sign-in",
    "POST /sign-in",
    "GET /profile",
    "POST /profile",
    "POST /profile/password",
    "POST /language",
    "POST /theme",
    "POST /switch-group",
    "GET /invitations/<token>",
    "POST /invitations/<token>",
    "GET /forgot-password",
    "POST /forgot-password",
    "GET /reset-password/<token>",
    "POST /reset-password/<token>",
}
REFUSED = "An API token cannot open this page. Sign in with a browser to use it."


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
    answer = client.get(OPEN, headers=bearer(token, scheme))
    assert answer.status_code == 200
    assert house.staff.name in answer.text


def test_a_token_is_recognisable_and_long(token: str) -> None:
    assert token.startswith("comanda_")
    assert len(token) > 45


def test_a_post_with_a_token_needs_no_csrf_token(
    client: FlaskClient, house: House, signed_in: SignedIn, token: str
) -> None:
    """And signing out with it ends it alone."""
    browser = signed_in(house.staff)
    answer = client.post("/sign-out", headers=bearer(token))
    assert answer.status_code == 303
    assert client.get(OPEN, headers=bearer(token)).status_code == 303
    assert browser.is_signed_in()


@pytest.mark.parametrize("wrong", ["", "x", "comanda_" + "A" * 43, "é", "a b c"])
def test_a_wrong_token_is_nobody(client: FlaskClient, wrong: str) -> None:
    answer = client.get(OPEN, headers=bearer(wrong))
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
    assert client.get(OPEN, headers=bearer(stolen)).status_code == 303


def test_a_bearer_token_is_no_cookie(app: Flask, token: str) -> None:
    browser = Browser(app)
    with browser.client.session_transaction() as session:
        session["_user_id"] = token
    assert not browser.is_signed_in()


def test_signing_out_everywhere_ends_tokens_too(
    signed_in: SignedIn, client: FlaskClient, house: House, token: str
) -> None:
    signed_in(house.staff).post("/sign-out", {"everywhere": "1"})
    assert client.get(OPEN, headers=bearer(token)).status_code == 303


def test_a_token_has_the_persons_role_and_no_more(
    client: FlaskClient, house: House, token: str
) -> None:
    form = {"action": "role", "user_id": str(house.staff.user_id), "role": "admin"}
    assert client.post("/people", data=form, headers=bearer(token)).status_code == 403


def routes_of_accounts(app: Flask) -> dict[str, str]:
    """Method and rule of each page of accounts, and its address for nobody in particular."""
    found = {}
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("accounts."):
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                found[f"{method} {rule.rule}"] = rule.rule.replace("<token>", "x" * 43)
    return found


def test_each_page_of_accounts_is_for_browsers_alone_or_says_that_it_is_open_to_tokens(
    app: Flask, client: FlaskClient, owner: Database, house: House
) -> None:
    with owner.transaction() as session:
        token = issue_api_token(session, house.admin.user_id, house.group_id)
    routes = routes_of_accounts(app)
    assert set(routes) == FOR_TOKENS | BROWSERS_ALONE
    # Signing out comes last, since the token is worth nothing after it.
    for name in sorted(routes, key=lambda name: (name == "POST /sign-out", name)):
        method = name.split()[0]
        answer = client.open(routes[name], method=method, headers=bearer(token))
        assert (answer.status_code == 403) == (name in BROWSERS_ALONE), name
        assert (REFUSED in answer.text) == (name in BROWSERS_ALONE), name


def test_a_token_is_refused_in_its_readers_language_and_as_json_where_that_was_sent(
    client: FlaskClient, token: str, signed_in: SignedIn, house: House
) -> None:
    answer = client.post("/profile", json={"name": "By token"}, headers=bearer(token))
    assert answer.status_code == 403
    assert answer.json == {"error": True, "code": "forbidden", "message": REFUSED}
    signed_in(house.staff).post("/language", {"language": "es"})
    answer = client.get("/profile", headers=bearer(token))
    assert answer.status_code == 403
    assert "Un token de API no puede abrir esta página." in answer.text


def test_a_token_stays_in_the_group_that_it_was_made_for(
    client: FlaskClient,
    owner: Database,
    house: House,
    other_house: House,
    join_group: Join,
    token: str,
) -> None:
    join_group(house.staff, other_house, "admin")
    form = {"group_id": str(other_house.group_id)}
    assert client.post("/switch-group", data=form, headers=bearer(token)).status_code == 403
    assert client.get("/people", headers=bearer(token)).status_code == 403
    assert group_of(owner, token) == house.group_id


def test_no_service_moves_a_token_either(
    database: Database, owner: Database, house: House, other_house: House, token: str
) -> None:
    """A route that forgets the rule would still move nothing."""
    with database.session(other_house.admin.scope) as session:
        link = invite(session, house.staff.email, "staff", lambda token: token, inviter="Ana")
    sign_in_id = sign_in_of(owner, token).id
    with database.session(house.staff.scope) as session:
        join_as_known_person(session, link, house.staff.email, sign_in_id)
    assert group_of(owner, token) == house.group_id
    with database.session(house.staff.scope) as session:
        switch_group(session, sign_in_id, other_house.group_id)
    assert group_of(owner, token) == house.group_id


def test_accepting_an_invitation_is_for_browsers_alone(
    client: FlaskClient,
    database: Database,
    owner: Database,
    house: House,
    other_house: House,
    token: str,
) -> None:
    with database.session(other_house.admin.scope) as session:
        link = invite(session, house.staff.email, "staff", lambda token: token, inviter="Ana")
    assert client.post(f"/invitations/{link}", headers=bearer(token)).status_code == 403
    assert group_of(owner, token) == house.group_id
    # The link works as before for whoever comes with a browser.
    assert client.get(f"/invitations/{link}").status_code == 200


def test_a_token_changes_neither_its_person_nor_their_password_nor_their_sign_ins(
    client: FlaskClient, owner: Database, house: House, signed_in: SignedIn, token: str
) -> None:
    browser = signed_in(house.staff)
    new = {"current_password": PASSWORD, "new_password": "eleven ripe mangoes"}
    for path, form in (
        ("/profile", {"name": "By token"}),
        ("/profile/password", new),
        ("/sign-out", {"everywhere": "1"}),
        ("/language", {"language": "es"}),
        ("/sign-in", {"email": house.staff.email, "password": PASSWORD}),
    ):
        assert client.post(path, data=form, headers=bearer(token)).status_code == 403, path
    assert browser.is_signed_in()
    assert client.get(OPEN, headers=bearer(token)).status_code == 200
    with owner.transaction() as session:
        assert session.get_one(User, house.staff.user_id).name == house.staff.name
    assert Browser(browser.app).sign_in(house.staff).status_code == 303


def sign_in_of(owner: Database, token: str) -> SignIn:
    with owner.transaction() as session:
        return session.scalars(select(SignIn).where(SignIn.token_hash == hash_token(token))).one()


def group_of(owner: Database, token: str) -> object:
    return sign_in_of(owner, token).group_id
