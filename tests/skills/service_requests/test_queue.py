"""The queue: whose it is, what it is narrowed to, and in which order it comes."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import inspect

from app.db import Database, utc_now
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.services.queue import (
    Filters,
    find_queue,
    list_types,
    read_filters,
)
from app.skills.service_requests.services.requests import list_own
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.service_requests import make_request, make_team, make_type

ASKED = {"q": "warm", "status": "waiting", "assignee": "me", "priority": "high", "overdue": "1"}


@pytest.fixture
def requests(
    owner: Database, member: Member, boss: Member, technician: Member, team: UUID
) -> dict[str, ServiceRequest]:
    """One of each kind that the queue can be narrowed to."""
    now, kind = utc_now(), make_type(owner, member.group_id, name_en="Plumbing")
    bar = make_team(owner, member.group_id, name="Bar team")
    late = {"due_at": now - timedelta(hours=3)}
    soon = {"due_at": now + timedelta(hours=1)}
    return {
        "late": make_request(owner, member, "Late one", team_id=team, **late),
        "mine": make_request(owner, member, "Tap drips", assignee_id=boss.user_id, type_id=kind.id),
        "urgent": make_request(owner, member, "No water", priority="urgent", team_id=bar, **soon),
        "waiting": make_request(owner, member, "Needs a part", status="waiting", team_id=team),
        "done": make_request(owner, member, "Door fixed", status="resolved", resolved_at=now),
    }  # fmt: skip


def listed(client: CheckedClient, **arguments: str) -> list[str]:
    page = client.fragment("/requests/queue?" + "&".join(f"{k}={v}" for k, v in arguments.items()))
    return [cell.find("a").text for cell in page.find_all("td", **{"class": "queue-title"})]


def test_who_looks_after_nothing_has_no_queue(browser: CheckedClient) -> None:
    browser.page("/requests/queue", status=404)
    assert "Queue" not in browser.page("/requests").text


def test_a_team_sees_its_requests_and_editors_all(
    at_work: CheckedClient, manager: CheckedClient, requests: dict[str, ServiceRequest]
) -> None:
    assert listed(at_work) == ["Late one", "Needs a part"]
    assert listed(manager) == ["Late one", "No water", "Tap drips", "Needs a part"]
    assert listed(at_work, status="all", q="drips") == []


@pytest.mark.fault(67)
def test_what_a_list_does_not_show_is_not_read(
    database: Database, member: Member, boss: Member, requests: dict[str, ServiceRequest]
) -> None:
    with database.session(boss.scope) as session:
        found, _has_more = find_queue(session, Filters(), utc_now())
        types = list_types(session)
    with database.session(member.scope) as session:
        own, _has_more = list_own(session)
    assert found and types and own
    for request in (*found, *own):
        assert {"form", "values", "origins"} <= inspect(request).unloaded
        assert "head" not in inspect(request).unloaded
    for each in types:
        assert {"fields", "questions", "words"} <= inspect(each).unloaded


def test_another_house_sees_nothing_of_it(
    app: Flask, owner: Database, stranger: Member, requests: dict[str, ServiceRequest]
) -> None:
    theirs = sign_in(app, owner, stranger)
    page = theirs.page("/requests/queue?status=all")
    assert page.find_all("td", **{"class": "queue-title"}) == []
    assert "No requests are open." in theirs.page("/requests/queue").text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"overdue": "1"}, ["Late one"]),
        ({"status": "waiting"}, ["Needs a part"]),
        ({"status": "resolved"}, ["Door fixed"]),
        ({"status": "all", "q": "door"}, ["Door fixed"]),
        ({"priority": "urgent"}, ["No water"]),
        ({"assignee": "me"}, ["Tap drips"]),
        ({"assignee": "nobody", "q": "wat"}, ["No water"]),
        ({"q": "TÁP drips"}, ["Tap drips"]),
        ({"q": "SR"}, []),
        ({"status": "everything", "team": "x", "priority": "no"}, None),
    ],
)
def test_it_is_narrowed_down(
    manager: CheckedClient,
    requests: dict[str, ServiceRequest],
    arguments: dict[str, str],
    expected: list[str] | None,
) -> None:
    assert listed(manager, **arguments) == (listed(manager) if expected is None else expected)


def test_it_is_narrowed_by_team_type_person_number_and_requester(
    owner: Database, manager: CheckedClient, boss: Member, member: Member,
    requests: dict[str, ServiceRequest],
) -> None:  # fmt: skip
    late, mine = requests["late"], requests["mine"]
    assert listed(manager, team=str(late.team_id)) == ["Late one", "Needs a part"]
    assert listed(manager, type=str(mine.type_id)) == ["Tap drips"]
    assert listed(manager, assignee=str(boss.user_id)) == ["Tap drips"]
    for typed in (mine.reference, mine.reference.lower(), f"{mine.number:06}"):
        assert listed(manager, q=typed) == ["Tap drips"], typed
    assert "Tap drips" in listed(manager, q=str(mine.number))
    someone = make_user(owner, member.group_id, name="Zoë Quijote")
    make_request(owner, someone, "Hers")
    assert listed(manager, q="zoe") == ["Hers"]


def test_a_long_queue_is_turned_page_by_page(
    owner: Database, manager: CheckedClient, member: Member
) -> None:
    now = utc_now()
    for number in range(27):
        make_request(owner, member, f"N{number}", due_at=now + timedelta(hours=number + 1))
    assert listed(manager) == [f"N{number}" for number in range(25)]
    assert listed(manager, page="2") == ["N25", "N26"]
    first = manager.page("/requests/queue?priority=normal")
    [later] = first.find_all("a", rel="next")
    assert "priority=normal" in later.attributes["href"]
    assert "There are no more." in manager.page("/requests/queue?page=4").text


def test_what_is_asked_for_in_an_address_is_asked_for_again_in_those_of_its_pages() -> None:
    read = read_filters(ASKED)
    assert read.arguments == ASKED
    assert read_filters(read.arguments) == read
    assert not read_filters({"status": "open", "assignee": "x"}).is_narrow
    assert read_filters({}) == Filters()


def test_nothing_that_fits_is_said_with_a_way_back(manager: CheckedClient) -> None:
    assert "No requests match these filters." in manager.page("/requests/queue?q=zebra").text


def test_the_countdown_is_right_before_any_script_runs(
    manager: CheckedClient, requests: dict[str, ServiceRequest]
) -> None:
    text = manager.page("/requests/queue").text
    assert "3 h overdue" in text
    assert "59 min left" in text or "1 h left" in text
