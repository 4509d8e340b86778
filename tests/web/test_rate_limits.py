"""What a person may do so often a minute, they may do so often in all, wherever they do it."""

from __future__ import annotations

import logging
from uuid import uuid4

import pytest
from flask import Flask
from limits import parse, parse_many

from app.db import Database, new_id
from app.extensions import limiter
from app.skills.forms.web.fill_views import MOST_SUBMITTED
from app.skills.service_requests.web.request_views import MOST_WRITTEN
from app.web.rate_limits import MOST_BUILT
from tests.factories import CheckedClient, Member, api_token, make_user, sign_in

A_MINUTE = 60
BUTTONS_A_MINUTE = 120
SAVES_A_MINUTE = 240


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    return sign_in(app, owner, member)


def statuses_of_every_way_to_ask(app: Flask, browser: CheckedClient, token: str) -> dict[str, int]:
    """What each view that asks the assistant answers now; the requests are no good otherwise."""
    header = {"Authorization": f"Bearer {token}"}
    client = app.test_client()
    thread = new_id()
    answers = {
        "chat": browser.post(f"/chat/{thread}/messages", message=""),
        "again": browser.post(f"/chat/{thread}/messages/{new_id()}/again"),
        "form": browser.post(f"/forms/drafts/{new_id()}/ask", message="x"),
        "api": client.post("/api/ask", json={"nothing": 1}, headers=header),
        "expenses": client.post("/api/chat", json={"nothing": 1}, headers=header),
    }
    return {name: answer.status_code for name, answer in answers.items()}


def test_messages_of_one_person_count_together_over_all_ways_to_ask(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    token = api_token(owner, member)
    first = statuses_of_every_way_to_ask(app, browser, token)
    assert 429 not in first.values()
    header = {"Authorization": f"Bearer {token}"}
    client = app.test_client()
    for _ in range(A_MINUTE - len(first)):
        answer = client.post("/api/ask", json={"nothing": 1}, headers=header)
        assert answer.status_code == 422
    assert set(statuses_of_every_way_to_ask(app, browser, token).values()) == {429}
    # Colleagues are not concerned.
    other = api_token(owner, make_user(owner, member.group_id))
    answer = client.post("/api/ask", json={}, headers={"Authorization": f"Bearer {other}"})
    assert answer.status_code == 422


def test_changes_to_service_requests_count_together(owner: Database, app: Flask) -> None:
    boss = sign_in(app, owner, make_user(owner, role="manager"))
    views = ("status", "priority", "assignee", "notes", "replies")
    for number in range(A_MINUTE):
        path = f"/requests/{new_id()}/{views[number % len(views)]}"
        assert boss.post(path, message_key=uuid4().hex).status_code != 429
    for view in views:
        assert boss.post(f"/requests/{new_id()}/{view}").status_code == 429


def test_nobody_hands_in_more_than_a_thousand_forms_a_day(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    path, day = f"/forms/drafts/{new_id()}", parse(MOST_SUBMITTED)
    assert browser.post(path, action="submit").status_code == 404
    # As many as the rest of the day allows.
    assert limiter.limiter.hit(day, str(member.user_id), "submissions", cost=day.amount - 1)
    answer = browser.post(path, action="submit")
    assert answer.status_code == 429 and "Too many tries" in answer.text
    # What one fills in is saved all the same.
    assert browser.post(path, action="save").status_code == 404


def test_nobody_writes_on_requests_without_an_end(member: Member, browser: CheckedClient) -> None:
    """However slowly: each reply is a letter, and a line in somebody's conversation."""
    [day] = [each for each in parse_many(MOST_WRITTEN) if each.GRANULARITY.name == "day"]
    path = f"/requests/{new_id()}/replies"
    assert browser.post(path).status_code == 404
    assert limiter.limiter.hit(day, str(member.user_id), "service requests", cost=day.amount - 1)
    answer = browser.post(path)
    assert answer.status_code == 429 and "Too many tries" in answer.text


def test_nobody_sets_up_a_restaurant_without_an_end(app: Flask, owner: Database) -> None:
    """However slowly: each save of a section keeps a version of it."""
    boss = make_user(owner, role="manager")
    browser = sign_in(app, owner, boss)
    [day] = [each for each in parse_many(MOST_BUILT) if each.GRANULARITY.name == "day"]
    path = f"/library/edit/sections/{new_id()}/withdraw"
    assert browser.post(path).status_code == 404
    assert limiter.limiter.hit(day, str(boss.user_id), "building", cost=day.amount - 1)
    assert browser.post(path).status_code == 429
    # What only shows something is not concerned.
    assert browser.post("/library/edit/sections/preview").status_code not in (404, 429)


def check_counted_together(browser: CheckedClient, paths: list[str], most: int) -> None:
    """So many posts to these in all are taken, and then none to any of them."""
    for number in range(most):
        assert browser.post(paths[number % len(paths)]).status_code not in (429, 500)
    for path in paths:
        answer = browser.post(path)
        assert answer.status_code == 429, path
        assert 0 < int(answer.headers["Retry-After"]) <= 60
        assert "Too many tries" in answer.text


def test_the_buttons_of_proposals_and_stopping_count_together(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    actions = ("confirm", "decline", "undo", "bring-back")
    paths = [f"/proposals/{new_id()}/{action}" for action in actions]
    check_counted_together(browser, [*paths, f"/chat/{new_id()}/stop"], BUTTONS_A_MINUTE)
    header = {"Authorization": f"Bearer {api_token(owner, member)}"}
    answer = app.test_client().post(f"/api/proposals/{new_id()}/confirm", headers=header)
    assert answer.status_code == 429
    assert answer.get_json()["message"]
    # What only reads is not concerned, nor are messages and colleagues.
    assert browser.get(f"/proposals/{new_id()}").status_code == 404
    assert browser.post(f"/chat/{new_id()}/messages", message="").status_code == 422
    other = sign_in(app, owner, make_user(owner, member.group_id))
    assert other.post(paths[0]).status_code == 404


def test_changes_to_chats_count_together(
    app: Flask, owner: Database, browser: CheckedClient
) -> None:
    paths = [f"/chats/{new_id()}/rename", f"/chats/{new_id()}/delete", f"/chat/{new_id()}/branch"]
    check_counted_together(browser, paths, BUTTONS_A_MINUTE)
    assert browser.get("/chats").status_code == 200


def test_saving_a_draft_and_taking_back_a_field_count_together(browser: CheckedClient) -> None:
    """Both write all that was typed."""
    draft = f"/forms/drafts/{new_id()}"
    for number in range(SAVES_A_MINUTE):
        path = draft if number % 2 else f"{draft}/undo/name"
        assert browser.post(path, name="x").status_code == 404
    assert browser.post(draft, name="x").status_code == 429
    assert browser.post(f"{draft}/undo/name", name="x").status_code == 429


def test_previews_of_sections_are_limited(owner: Database, app: Flask) -> None:
    boss = sign_in(app, owner, make_user(owner, role="manager"))
    check_counted_together(boss, ["/library/edit/sections/preview"], BUTTONS_A_MINUTE)


def test_whoever_is_not_signed_in_is_counted_by_address_without_an_error_in_the_log(
    app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = f"10.9.{uuid4().int % 250}.{uuid4().int % 250}"
    header = {"Authorization": "Bearer comanda_nobody"}
    paths = ("/api/ask", "/api/chat", "/files", "/forms/x/open")
    with caplog.at_level(logging.WARNING):
        for path in paths:
            answer = client.post(path, json={}, headers=header)
            assert answer.status_code in (303, 401, 404), path
        assert client.get("/chats?q=x").status_code == 303
        assert client.get("/chats/export.zip").status_code == 303
    lines = [record.getMessage() for record in caplog.records]
    assert [line for line in lines if "limit" in line.lower()] == []
