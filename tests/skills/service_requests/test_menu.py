"""The menu's way to the queue: who is led there, and how much it says is open."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.db import Database
from app.web import navigation
from tests.factories import CheckedClient, Member
from tests.factories.service_requests import make_request


def entry(client: CheckedClient) -> tuple[str, str]:
    """Where the menu's place of the requests leads, and what it says."""
    page = client.page("/forms/")
    links = page.find("nav", **{"class": "rail-places"}).find_all("a")
    found = next(each for each in links if each.text.startswith("Requests"))
    return found.attributes["href"], found.text


def test_who_asks_is_led_to_the_own_requests(
    owner: Database, browser: CheckedClient, member: Member
) -> None:
    make_request(owner, member)
    assert entry(browser) == ("/requests", "Requests")


def test_who_looks_after_requests_is_led_to_the_queue_and_told_how_many_are_open(
    owner: Database, member: Member, manager: CheckedClient, at_work: CheckedClient, team: UUID
) -> None:
    assert entry(manager) == ("/requests/queue", "Requests")
    make_request(owner, member, team_id=team)
    make_request(owner, member)
    make_request(owner, member, status="closed")
    assert entry(manager) == ("/requests/queue", "Requests2, 2 open requests")
    assert entry(at_work) == ("/requests/queue", "Requests1, 1 open request")


def test_what_another_group_has_open_is_not_counted(
    owner: Database, stranger: Member, manager: CheckedClient
) -> None:
    make_request(owner, stranger)
    assert entry(manager) == ("/requests/queue", "Requests")


def test_many_are_counted_up_to_a_bound(
    owner: Database, member: Member, manager: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(navigation, "MOST_COUNTED", 2)
    for _each in range(3):
        make_request(owner, member)
    assert entry(manager)[1] == "Requests2+, 2+ open requests"


def test_a_manager_begins_at_the_queue_and_staff_in_the_chat(
    manager: CheckedClient, at_work: CheckedClient, browser: CheckedClient
) -> None:
    begins = [client.get("/").headers["Location"] for client in (manager, at_work, browser)]
    assert begins == ["/requests/queue", "/chat", "/chat"]


def test_the_page_of_an_error_counts_nothing(
    owner: Database, member: Member, manager: CheckedClient
) -> None:
    make_request(owner, member)
    menu = manager.page("/forms/nowhere", status=404).find("nav", **{"class": "rail-places"})
    assert "open request" not in menu.text
