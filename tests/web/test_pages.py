"""What every page has in common: headers, errors, languages, addresses and the session."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urljoin

import psycopg
import pytest
from flask import Flask, g
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import PoolProxiedConnection

from app import create_app, errors
from app.config import Settings
from app.db import NOBODY, Database, ScopedSession
from app.extensions import client_address
from app.web.pages import csp_nonce, db_session, next_page, release_session
from app.web.static_files import version_of
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.people import PASSWORD
from tests.html_checks import parse_html

FAILURES = {
    "invalid": errors.InvalidInput("Choose from the list.", field="color"),
    "forbidden": errors.Forbidden("Your role in this group does not allow that. Ask a manager."),
    "missing": errors.NotFound("This page does not exist, or you don't have access to it."),
    "conflict": errors.Conflict("There is a group %(slug)s already.", slug="<b>alamo</b>"),
    "many": errors.TooMany("Too many tries. Wait a minute and try again.", retry_after=7),
    "away": errors.Unavailable("The answer is taking longer than usual."),
    "pool": PoolTimeout("QueuePool limit of size 10"),
    "database": OperationalError("SELECT secret", {}, Exception("connection refused")),
    "bug": ZeroDivisionError("secret detail"),
}


@pytest.fixture(scope="module")
def failing_app(settings: Settings) -> Flask:
    """The app with an address for each way to fail."""
    app = create_app(settings)

    def fail(kind: str) -> str:
        raise FAILURES[kind]

    app.add_url_rule("/fail/<kind>", view_func=fail)
    app.add_url_rule("/api/fail/<kind>", "api_fail", view_func=fail)
    return app


@pytest.fixture
def failing(failing_app: Flask) -> FlaskClient:
    return failing_app.test_client()


# Errors


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("invalid", 422, "invalid"),
        ("forbidden", 403, "forbidden"),
        ("missing", 404, "not_found"),
        ("conflict", 409, "conflict"),
        ("many", 429, "too_many"),
        ("away", 503, "unavailable"),
        ("pool", 503, "unavailable"),
        ("database", 503, "unavailable"),
        ("bug", 500, "error"),
    ],
)
def test_an_error_is_a_page_a_fragment_or_json_and_leaks_nothing(
    failing: FlaskClient, kind: str, status: int, code: str
) -> None:
    CheckedClient(failing).page(f"/fail/{kind}", status)
    fragment = CheckedClient(failing).fragment(f"/fail/{kind}", status)
    [notice] = [each for each in fragment.root if each.attributes.get("role") == "alert"]
    assert notice.attributes["data-code"] == code
    assert fragment.find_all("html") == []
    response = failing.get(f"/api/fail/{kind}")
    assert (response.status_code, response.get_json()["code"]) == (status, code)
    for text in (failing.get(f"/fail/{kind}").text, fragment.text, response.text):
        assert "secret" not in text
        assert "Traceback" not in text
        assert "QueuePool" not in text


def test_an_error_names_its_field_and_when_to_come_back(failing: FlaskClient) -> None:
    body = failing.get("/api/fail/invalid").get_json()
    assert body["errors"] == {"color": "Choose from the list."}
    assert failing.get("/fail/many").headers["Retry-After"] == "7"


def test_what_fills_a_message_is_escaped(failing: FlaskClient) -> None:
    page = CheckedClient(failing).page("/fail/conflict", 409)
    assert page.find_all("b") == []
    assert "<b>alamo</b>" in page.find("h1").text


def test_an_error_is_told_in_the_readers_language(failing: FlaskClient) -> None:
    page = CheckedClient(failing).page("/fail/missing?lang=es", 404)
    assert page.find("html").attributes["lang"] == "es"
    assert "página" in page.find("h1").text


@pytest.mark.parametrize("path", ["/nowhere", "/chat/none/at/all", "/%ff"])
def test_an_unknown_address_is_404(client: FlaskClient, path: str) -> None:
    CheckedClient(client).page(path, 404)


@pytest.mark.fault(63)
@pytest.mark.parametrize("path", ["/static/js/none.js", "/metrics"])
def test_what_programs_ask_for_again_and_again_is_refused_in_words_alone(
    client: FlaskClient, path: str
) -> None:
    answer = client.get(path, headers={"Accept-Language": "es"})
    assert (answer.status_code, answer.mimetype) == (404, "text/plain")
    assert "página" in answer.text


def test_a_wrong_method_says_which_are_right(browser: CheckedClient) -> None:
    response = browser.client.post("/healthz", data={"csrf_token": browser.csrf_token})
    assert response.status_code == 405
    assert "GET" in response.headers["Allow"]


def test_what_a_proxy_or_a_browser_added_is_never_echoed(client: FlaskClient) -> None:
    for path in ("/", "/sign-in", "/healthz", "/static/css/base.css", "/api/ask"):
        answer = client.open(path, method="TRACE", headers={"X-Secret": "parsley"})
        assert answer.status_code == 405
        assert "parsley" not in answer.text


@pytest.mark.fault(18)
def test_a_full_pool_is_503_within_some_seconds(settings: Settings) -> None:
    """And the next request, when there is room again, is served."""
    app = create_app(settings.model_copy(update={"database_pool_size": 1}))
    database = app.extensions["comanda"].database
    held = [database.engine.connect()]
    client = app.test_client()
    with client.session_transaction() as session:
        session["_user_id"] = "a token"
    try:
        began = time.monotonic()
        CheckedClient(client).page("/chat", 503)
        assert time.monotonic() - began < 6
    finally:
        for connection in held:
            connection.close()
    assert client.get("/chat").status_code == 303
    database.engine.dispose()


def test_a_database_that_is_away_is_503_even_for_somebody_with_a_cookie(
    settings: Settings,
) -> None:
    nowhere = settings.model_copy(update={"database_url": "postgresql+psycopg://a:b@127.0.0.1:1/c"})
    client = create_app(nowhere).test_client()
    with client.session_transaction() as session:
        session["_user_id"] = "a token"
    page = CheckedClient(client).page("/chat", 503)
    assert "Try again in a moment" in page.text
    api = client.post("/api/ask", json={"message": "Hi"}, headers={"Authorization": "Bearer x"})
    assert (api.status_code, api.get_json()["code"]) == (503, "unavailable")
    assert client.get("/healthz").status_code == 200


# Headers


def test_every_response_carries_the_headers_of_a_closed_house(client: FlaskClient) -> None:
    for path in ("/sign-in", "/nowhere", "/static/css/base.css", "/healthz", "/chat"):
        headers = client.get(path).headers
        directives = headers["Content-Security-Policy"].split(";")
        policy = dict(directive.strip().split(" ", 1) for directive in directives)
        assert policy["default-src"] == "'none'"
        for name in ("base-uri", "frame-ancestors"):
            assert policy[name] == "'none'"
        assert policy["connect-src"] == policy["form-action"] == "'self'"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert "http" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_the_nonce_is_another_one_for_each_response(client: FlaskClient) -> None:
    def nonce() -> str:
        found = re.search(
            r"'nonce-([^']+)'", client.get("/sign-in").headers["Content-Security-Policy"]
        )
        assert found
        return found[1]

    assert len({nonce() for _ in range(5)}) == 5


def test_the_nonce_is_one_within_a_response(app: Flask) -> None:
    with app.test_request_context("/"):
        assert csp_nonce() == csp_nonce()
        assert len(csp_nonce()) >= 22


def test_pages_are_kept_by_nobody_and_versioned_files_for_ever(client: FlaskClient) -> None:
    page = client.get("/sign-in")
    assert page.headers["Cache-Control"] == "no-store"
    assert "HX-Request" in page.headers["Vary"]
    [style] = re.findall(r'href="(/static/at-[0-9a-f]{8}/css/base.css)"', page.text)
    assert "immutable" in client.get(style).headers["Cache-Control"]
    for other in ("/static/css/base.css", "/static/at-01234567/css/base.css"):
        response = client.get(other)
        assert response.status_code == 200
        assert response.headers["Cache-Control"] == "no-cache"
    assert client.get("/static/at-01234567/css/none.css").status_code == 404


def test_modules_import_each_other_at_the_version_of_the_page(client: FlaskClient) -> None:
    page = client.get("/sign-in").text
    [main] = re.findall(r'src="(/static/at-[0-9a-f]{8}/js/main.js)"', page)
    wanted = [main]
    for address in wanted:
        script = client.get(address)
        assert "immutable" in script.headers["Cache-Control"]
        imported = re.findall(r'(?:from|import|import\() ?"(.+?)"', script.text)
        wanted += {urljoin(address, each) for each in imported} - {*wanted}
    assert len(wanted) > 5


def test_the_version_is_another_with_another_file_and_the_same_with_the_same(
    tmp_path: Path,
) -> None:
    found = []
    for name, content in (("x.css", "a"), ("x.css", "b"), ("y.css", "b"), ("x.css", "a")):
        for file in tmp_path.iterdir():
            file.unlink()
        (tmp_path / name).write_text(content)
        found.append(version_of(tmp_path))
    assert len(set(found)) == 3 and found[0] == found[3]


def test_cookies_are_kept_from_scripts_and_other_sites(
    settings: Settings, owner: Database, member: Member
) -> None:
    secure = create_app(settings.model_copy(update={"secure_cookies": True}))
    response = secure.test_client().get("/sign-in")
    cookie = response.headers["Set-Cookie"]
    for attribute in ("HttpOnly", "SameSite=Lax", "Secure", "Path=/"):
        assert attribute in cookie
    policy = response.headers["Strict-Transport-Security"]
    assert policy == "max-age=31536000; includeSubDomains"


def test_over_https_every_cookie_is_this_hosts_alone_and_still_read(
    settings: Settings, member: Member
) -> None:
    browser = create_app(settings.model_copy(update={"secure_cookies": True})).test_client()
    over_https = {"base_url": "https://localhost"}

    def post(path: str, **form: str) -> list[str]:
        page = browser.get("/sign-in", **over_https).text
        [token] = re.findall(r'name="csrf-token" content="([^"]+)"', page)
        answer = browser.post(path, data={"csrf_token": token, **form}, **over_https)
        return answer.headers.getlist("Set-Cookie")

    set_cookies = post("/theme", theme="dark") + post("/language", language="es")
    page = browser.get("/sign-in", **over_https).text
    assert ('lang="es"' in page, 'data-theme="dark"' in page) == (True, True)
    set_cookies += post("/sign-in", email=member.email, password=PASSWORD)
    assert browser.get("/chat", **over_https).status_code == 200
    assert len(set_cookies) == 4
    for header in set_cookies:
        assert header.startswith("__Host-")
        assert all(part in header for part in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"))
        assert "Domain" not in header


@pytest.mark.parametrize(
    ("proxies", "address"), [(0, "127.0.0.1"), (1, "203.0.113.9"), (2, "198.51.100.7")]
)
def test_only_the_trusted_proxies_say_who_is_asking(
    settings: Settings, proxies: int, address: str
) -> None:
    app = create_app(settings.model_copy(update={"trusted_proxies": proxies}))
    app.add_url_rule("/who", view_func=client_address)
    # The first is what the client made up; each proxy adds whom it heard.
    claims = {"X-Forwarded-For": "192.0.2.1, 198.51.100.7, 203.0.113.9"}
    assert app.test_client().get("/who", headers=claims).text == address


def test_plain_http_promises_no_https(client: FlaskClient) -> None:
    assert "Strict-Transport-Security" not in client.get("/sign-in").headers


# Languages


@pytest.mark.parametrize(
    ("path", "cookie", "accepted", "language"),
    [
        ("/sign-in", "", "", "en"),
        ("/sign-in", "", "es-MX,es;q=0.9,en;q=0.5", "es"),
        ("/sign-in", "", "fr,de", "en"),
        ("/sign-in", "en", "es", "en"),
        ("/sign-in", "xx", "es", "es"),
        ("/sign-in?lang=es", "en", "en", "es"),
        ("/sign-in?lang=xx", "", "es", "es"),
    ],
)
def test_a_page_is_in_the_language_of_the_link_the_cookie_or_the_browser(
    client: FlaskClient, path: str, cookie: str, accepted: str, language: str
) -> None:
    if cookie:
        client.set_cookie("language", cookie)
    page = CheckedClient(client).page(path, headers={"Accept-Language": accepted})
    assert page.find("html").attributes["lang"] == language


def test_a_signed_in_person_has_their_own_language(app: Flask, owner: Database) -> None:
    browser = sign_in(app, owner, make_user(owner, language="es"))
    page = browser.page("/chat", headers={"Accept-Language": "en"})
    assert page.find("html").attributes["lang"] == "es"


# Where to go next


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "///evil.example",
        "javascript:alert(1)",
        "\\\\evil.example",
        "/chat\r\nLocation: //evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "chat",
        "",
    ],
)
def test_nobody_is_led_to_another_site(app: Flask, target: str) -> None:
    with app.test_request_context("/sign-in", query_string={"next": target}):
        assert next_page("/home") == "/home"


@pytest.mark.parametrize("target", ["/", "/chat", "/chat/1?after=2#m", "/library/manual/é"])
def test_ones_own_pages_are_led_back_to(app: Flask, target: str) -> None:
    with app.test_request_context("/sign-in", query_string={"next": target}):
        assert next_page("/home") == target


# The session


@pytest.fixture
def request_context(app: Flask) -> Iterator[None]:
    with app.test_request_context("/"):
        yield


def test_a_request_has_one_session_that_serves_nobody_unless_signed_in(
    request_context: None,
) -> None:
    session = db_session()
    assert session is db_session()
    assert session.scope == NOBODY
    release_session()
    assert "db" not in g
    assert db_session() is not session


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_a_session_that_cannot_be_closed_does_not_spoil_the_answer(
    app: Flask, caplog: pytest.LogCaptureFixture, kind: type[DBAPIError]
) -> None:
    class Broken(ScopedSession):
        def close(self) -> None:
            raise kind("ROLLBACK", {}, Exception("secret address"))

    left: list[str] = []
    with app.test_request_context("/"):
        g.db = Broken()
        g.lanes = ExitStack()
        g.lanes.callback(left.append, "lane")
    assert left == ["lane"], "others of the same person need not wait"
    [told] = [each for each in caplog.records if "could not be closed" in each.getMessage()]
    assert told.levelname == "WARNING"
    assert kind.__name__ in told.getMessage()
    assert "secret address" not in caplog.text


@pytest.mark.parametrize(("asks_again", "status"), [(True, 503), (False, 200)])
def test_a_database_that_goes_away_under_a_page_costs_no_more_than_that_page(
    settings: Settings, database: Database, asks_again: bool, status: int
) -> None:
    app = create_app(settings)
    pool = app.extensions["comanda"].database.engine.pool

    def lose_the_database() -> str:
        session = db_session()
        killed = session.scalar(select(func.pg_backend_pid()))
        with database.engine.begin() as connection:
            connection.execute(select(func.pg_terminate_backend(killed, 5000)))
        return str(session.scalar(select(1))) if asks_again else "all of the page"

    app.add_url_rule("/lose", view_func=lose_the_database)
    answer = app.test_client().get("/lose")
    assert answer.status_code == status
    told = "Comanda can't reach its database right now. Try again in a moment."
    assert (told in parse_html(answer.text).text) == asks_again
    assert pool.checkedout() == 0
    assert app.test_client().get("/sign-in").status_code == 200


@pytest.mark.parametrize("kind", [psycopg.OperationalError, psycopg.InterfaceError])
def test_a_connection_that_could_not_be_rolled_back_is_not_used_again(
    app: Flask, monkeypatch: pytest.MonkeyPatch, kind: type[psycopg.Error]
) -> None:
    engine = app.extensions["comanda"].database.engine
    pool, roll_back = engine.pool, engine.dialect.do_rollback
    before = pool.checkedout()
    failures = [kind("secret address")]

    def fail_once(connection: PoolProxiedConnection) -> None:
        if failures:
            raise failures.pop()
        roll_back(connection)

    backend = select(func.pg_backend_pid())
    with app.test_request_context("/"):
        first = db_session().scalar(backend)
        monkeypatch.setattr(engine.dialect, "do_rollback", fail_once)
        release_session()
        assert not failures
        assert pool.checkedout() == before
        others = [app.extensions["comanda"].database.session() for _ in range(pool.size())]
        try:
            assert first not in [each.scalar(backend) for each in others]
        finally:
            for each in others:
                each.close()


def test_connections_come_back_after_each_request(app: Flask, browser: CheckedClient) -> None:
    pool = app.extensions["comanda"].database.engine.pool
    before = pool.checkedout()
    for path in ("/chat", "/library/", "/nowhere", "/chat/history"):
        browser.get(path)
    assert pool.checkedout() == before


def test_a_browser_that_asks_for_an_icon_by_its_old_name_gets_one(client: FlaskClient) -> None:
    icon = client.get("/favicon.ico", follow_redirects=True)
    assert (icon.status_code, icon.mimetype) == (200, "image/png")


# Health


@pytest.mark.usefixtures("nobody_waits")
def test_it_says_that_it_is_alive_and_ready(client: FlaskClient) -> None:
    assert client.get("/healthz").get_json() == {"status": "ok"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.get_json()["database"] == ready.get_json()["redis"] == "ok"


def test_it_says_what_is_missing(settings: Settings) -> None:
    app = create_app(settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"}))
    ready = app.test_client().get("/readyz")
    assert ready.status_code == 503
    assert (ready.get_json()["database"], ready.get_json()["redis"]) == ("ok", "away")
