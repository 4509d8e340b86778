"""POST /api/ask: the envelope, its errors, and who may ask."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from app.accounts.models import SignIn
from app.assistant.models import Message, Prompt
from app.assistant.providers.base import ProviderError, TextDelta
from app.db import Database, new_id
from tests.assistant.answering import Answering
from tests.assistant.scripted import call, say
from tests.factories import (
    CheckedClient,
    Member,
    api_token,
    make_product,
    make_section,
    make_thread,
    make_user,
    sign_in,
)
from tests.factories.people import browser_token

KEYS = {
    *("version", "message", "answer", "language", "mode", "session_id", "sessionId", "message_id"),
    *("status", "citations", "parts", "suggestions", "actions", "usage", "degraded"),
}


@pytest.fixture
def token(owner: Database, member: Member) -> str:
    return api_token(owner, member)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A client without cookies."""
    return app.test_client(use_cookies=False)


def post(client: FlaskClient, token: str, **body: Any) -> TestResponse:
    return client.post("/api/ask", json=body, headers={"Authorization": f"Bearer {token}"})


def test_the_envelope_has_every_key_and_the_answer(
    client: FlaskClient, token: str, answering: Answering
) -> None:
    answering.script(say("Two hours."))
    response = post(client, token, message="How long can raw chicken stay out?")
    assert response.status_code == 200
    body = response.get_json()
    assert set(body) == KEYS
    assert body["version"] == "1.0"
    assert body["message"] == body["answer"] == "Two hours."
    assert (body["language"], body["mode"], body["status"]) == ("en", "search", "complete")
    assert body["session_id"] == body["sessionId"]
    assert UUID(body["message_id"])
    assert body["degraded"] is False


def test_a_question_is_another_name_for_a_message(
    client: FlaskClient, token: str, answering: Answering
) -> None:
    assert post(client, token, question="¿Cuánto tiempo?").get_json()["language"] == "es"


def test_a_session_id_goes_on_with_its_conversation(
    client: FlaskClient, token: str, answering: Answering
) -> None:
    first = post(client, token, message="First").get_json()
    provider = answering.script(say("Second."))
    second = post(client, token, message="Next", sessionId=first["sessionId"]).get_json()
    assert second["sessionId"] == first["sessionId"]
    told = [(m.role, m.text) for m in provider.requests[0].messages[1:]]
    assert told == [("user", "First"), ("assistant", "All right."), ("user", "Next")]


def test_tools_bring_citations_and_parts_into_the_envelope(
    owner: Database, member: Member, client: FlaskClient, token: str, answering: Answering
) -> None:
    make_product(owner, member.group_id)
    make_section(owner, member.group_id)
    answering.script(
        [
            call("search_dishes", '{"query": "ribeye"}', "1"),
            call("search_manual_v2", '{"query": "raw chicken hours"}', "2"),
        ],
        say("Raw chicken: two hours [2]. Not the steak."),
    )
    body = post(client, token, message="How long for the ribeye?").get_json()
    [citation] = body["citations"]
    assert (citation["number"], citation["context"]) == (2, "manual")
    assert "two hours" in citation["quote"]
    assert [part["type"] for part in body["parts"]] == ["product_card"]
    assert body["parts"][0]["name"] == "Ribeye"


def test_an_action_loads_its_row_and_answers_in_that_mode(
    owner: Database, client: FlaskClient, token: str, answering: Answering
) -> None:
    provider = answering.script(say("A red."))
    body = post(client, token, message="Pairing?", domain="dishes", action="pairing").get_json()
    assert body["mode"] == "action"
    assert "Say what to drink with this dish" in provider.requests[0].messages[0].text


def test_a_failed_model_is_a_reply_that_says_so(
    client: FlaskClient, token: str, answering: Answering
) -> None:
    answering.script([ProviderError("unreachable", "connect to 10.0.0.7:11434 refused")])
    body = post(client, token, message="Anybody?").get_json()
    assert body["status"] == "failed"
    assert "cannot be reached" in body["message"]
    assert "10.0.0.7" not in str(body)


def test_a_model_that_breaks_off_leaves_its_words(
    client: FlaskClient, token: str, answering: Answering
) -> None:
    answering.script([TextDelta("Two hours"), ProviderError("interrupted")])
    body = post(client, token, message="How long?").get_json()
    assert (body["status"], body["message"]) == ("interrupted", "Two hours")
    assert body["parts"][0]["type"] == "notice"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"message": "Hi", "domain": "forms"}, "domain"),
        ({"message": "Hi", "domain": "gossip"}, "domain"),
        ({"message": "Hi", "action": "explode"}, "action"),
        ({"message": "Hi", "action": "x" * 65}, "action"),
        ({"message": "Hi", "domain": "wines", "action": "steps"}, "action"),
        ({"message": "Hi", "language": "fr"}, "language"),
        ({"message": "Hi", "user_id": "somebody"}, "user_id"),
        ({"message": "Hi", "sessionId": "no-id"}, "sessionId"),
        ({"message": ["Hi"]}, "message"),
        ({"message": 7}, "message"),
        ({"message": ""}, "message"),
        ({"message": "\ud800"}, "message"),
        ({"message": "x" * 4001}, "message"),
        ({"message": "Hi", "message_key": "short"}, "message_key"),
        ({}, "message"),
    ],
)
def test_a_wrong_field_is_422_and_named(
    client: FlaskClient, token: str, body: dict[str, Any], field: str
) -> None:
    response = post(client, token, **body)
    assert response.status_code == 422
    error = response.get_json()
    assert (error["error"], error["code"], error["field"]) == (True, "invalid", field)
    assert error["errors"] == {field: error["message"]}
    assert "pydantic" not in response.text


@pytest.mark.parametrize("body", ["", "[]", "null", '"x"', "{", "\x00", "[" * 100_000])
def test_a_body_that_is_no_object_is_422(client: FlaskClient, token: str, body: str) -> None:
    response = client.post(
        "/api/ask",
        data=body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert response.status_code == 422
    assert response.get_json()["error"] is True


def test_a_body_of_megabytes_is_413(client: FlaskClient, token: str) -> None:
    assert post(client, token, message="x" * 3_000_000).status_code == 413


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_only_posting_is_answered(client: FlaskClient, token: str, method: str) -> None:
    response = getattr(client, method)("/api/ask", headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 405
    assert response.get_json()["error"] is True
    assert "POST" in response.headers["Allow"]


def test_a_prompt_row_makes_an_action_known(
    owner: Database, member: Member, client: FlaskClient, token: str, answering: Answering
) -> None:
    row = Prompt(
        group_id=member.group_id,
        slug="action-wines-steps",
        category="action",
        domain="wines",
        prompt_en="Decant it.",
        prompt_es="Decántalo.",
    )
    with owner.transaction() as session:
        session.add(row)
    provider = answering.script(say("Ok."))
    response = post(client, token, message="Hi", domain="wines", action="steps", language="es")
    assert response.status_code == 200
    assert "Decántalo." in provider.requests[0].messages[0].text


# The same message twice


def test_the_same_key_is_one_turn_and_one_answer(
    database: Database, member: Member, client: FlaskClient, token: str, answering: Answering
) -> None:
    body = {"message": "Once", "message_key": "key-of-a-client"}
    first, again = (post(client, token, **body).get_json() for _ in range(2))
    assert first == again
    with database.transaction(member.scope) as session:
        query = select(func.count()).where(Message.thread_id == UUID(first["sessionId"]))
        assert session.execute(query).scalar_one() == 2


@pytest.mark.fault(16)
def test_the_same_key_with_another_body_is_422(
    client: FlaskClient, token: str, answering: Answering
) -> None:
    place = {"message_key": "key-of-a-client"}
    assert post(client, token, message="Once", **place).status_code == 200
    response = post(client, token, message="Twice", **place)
    assert (response.status_code, response.get_json()["field"]) == (422, "message_key")


# Who may ask


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Bearer "}]
)
def test_without_a_sign_in_it_is_401_in_json(client: FlaskClient, headers: dict[str, str]) -> None:
    response = client.post("/api/ask", json={"message": "Hi"}, headers=headers)
    assert response.status_code == 401
    assert response.get_json()["code"] == "not_signed_in"


def test_a_token_that_was_taken_back_or_expired_is_401(
    owner: Database, member: Member, client: FlaskClient, token: str
) -> None:
    with owner.transaction() as session:
        session.execute(
            update(SignIn)
            .where(SignIn.user_id == member.user_id)
            .values(expires_at=func.clock_timestamp())
        )
    assert post(client, token, message="Hi").status_code == 401


def test_a_browsers_cookie_needs_the_csrf_token_in_the_header(
    app: Flask, owner: Database, member: Member, answering: Answering
) -> None:
    browser = sign_in(app, owner, member)
    for headers in ({}, {"X-CSRFToken": "wrong"}):
        refused = browser.client.post("/api/ask", json={"message": "Hi"}, headers=headers)
        assert (refused.status_code, refused.get_json()["code"]) == (400, "csrf")
        assert "X-CSRFToken header" in refused.get_json()["message"]
        assert "bearer token" in refused.get_json()["message"]
    good = browser.client.post(
        "/api/ask", json={"message": "Hi"}, headers={"X-CSRFToken": browser.csrf_token}
    )
    assert good.status_code == 200


def test_a_browser_may_send_as_much_json_as_a_program(
    app: Flask, owner: Database, member: Member, answering: Answering
) -> None:
    """Looking for the form's token in it once left 8 KB of the body to be read."""
    browser = sign_in(app, owner, member)
    long = {"message": "hello", "question": "how long " * 1_000}
    sent = browser.client.post("/api/ask", json=long, headers={"X-CSRFToken": browser.csrf_token})
    assert sent.status_code == 200


def test_a_browsers_token_is_no_bearer_token(
    app: Flask, owner: Database, member: Member, client: FlaskClient
) -> None:
    assert post(client, browser_token(owner, member), message="Hi").status_code == 401


def test_a_conversation_of_somebody_else_is_404(
    owner: Database, database: Database, member: Member, client: FlaskClient
) -> None:
    thread_id = make_thread(database, member)
    for other in (make_user(owner), make_user(owner, member.group_id, "admin")):
        response = post(client, api_token(owner, other), message="Hi", sessionId=str(thread_id))
        assert response.status_code == 404


def test_errors_speak_the_persons_language(owner: Database, client: FlaskClient) -> None:
    token = api_token(owner, make_user(owner, language="es"))
    response = post(client, token, message="")
    assert response.status_code == 422
    assert "Escribe" in response.get_json()["message"]


# Fault 28: a page's token is missing or stale


@pytest.mark.fault(28)
@pytest.mark.parametrize("token", ["missing", "stale", "somebody else's"])
@pytest.mark.parametrize("verb", ["post", "put", "patch", "delete"])
def test_each_verb_without_a_valid_token_is_400(
    app: Flask, owner: Database, browser: CheckedClient, verb: str, token: str
) -> None:
    path = f"/chat/{new_id()}/messages"
    headers = {}
    if token == "stale":
        headers["X-CSRFToken"] = browser.csrf_token
        with browser.client.session_transaction() as session:
            session.pop("csrf_token")
    elif token == "somebody else's":
        headers["X-CSRFToken"] = sign_in(app, owner, make_user(owner)).csrf_token
    response = getattr(browser.client, verb)(path, data={"message": "Hi"}, headers=headers)
    # An address without that verb says so; none of them does anything.
    assert response.status_code == (400 if verb == "post" else 405)
    assert browser.get(path.removesuffix("/messages")).status_code == 404


@pytest.mark.fault(28)
@pytest.mark.parametrize(
    "path", ["/chat/{id}/messages", "/chat/{id}/stop", "/sign-out", "/language", "/theme"]
)
def test_each_form_without_its_token_is_400(
    database: Database, member: Member, browser: CheckedClient, path: str
) -> None:
    address = path.replace("{id}", str(make_thread(database, member)))
    response = browser.post(address, token=False, message="Hi")
    assert response.status_code == 400
    assert "Reload it and try again" in response.text
    assert browser.post(address, htmx=True, token=False).status_code == 400


def test_the_token_of_an_idle_page_still_works(
    browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = browser.csrf_token
    later = time.time() + 5 * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    response = browser.post("/language", token=False, csrf_token=token, language="es")
    assert response.status_code == 303
