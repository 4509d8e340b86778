"""Filters of the queue that a person keeps under a name."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import select

from app.db import Database
from app.skills.service_requests.models import QueueView
from app.skills.service_requests.services.queue import LONGEST_NAME, MOST_VIEWS
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.browser import Page

QUEUE = "/requests/queue"
LATE = {"assignee": "nobody", "overdue": "1"}


def save(client: CheckedClient, name: str, **filters: str) -> Page:
    response = client.post(f"{QUEUE}/views?{urlencode(filters)}", name=name)
    assert response.status_code == 303
    return client.page(response.location)


def views(client: CheckedClient, **filters: str) -> list[str]:
    page = client.page(f"{QUEUE}?{urlencode(filters)}")
    return [each.text for each in page.find("nav", **{"class": "range quick"}).find_all("a")][4:]


def kept(owner: Database) -> list[QueueView]:
    with owner.session() as session:
        return list(session.scalars(select(QueueView).order_by(QueueView.id)))


def test_filters_are_saved_found_again_and_removed(manager: CheckedClient) -> None:
    page = save(manager, "  Late and\nunassigned ", **LATE)
    assert "Filters saved." in page.text
    [pill] = [each for each in page.find_all("a") if each.text == "Late and unassigned"]
    assert pill.attributes["aria-current"] == "true"
    found = manager.page(pill.attributes["href"])
    assert found.find("input", name="overdue").attributes.get("checked") is not None
    [form] = [each for each in found.find_all("form") if "Remove saved filters" in each.text]
    page = manager.page(manager.press(found, form.attributes["action"]).location)
    assert "Saved filters removed." in page.text and views(manager) == []


def test_the_same_name_keeps_the_newer_filters(owner: Database, manager: CheckedClient) -> None:
    save(manager, "Mine", assignee="me")
    save(manager, "Mine", assignee="me", priority="urgent")
    assert [each.arguments for each in kept(owner) if each.name == "Mine"][-1] == {
        "assignee": "me",
        "priority": "urgent",
    }
    assert views(manager) == ["Mine"]


def test_only_filters_that_are_no_view_yet_are_offered_to_be_saved(manager: CheckedClient) -> None:
    def offers(**filters: str) -> bool:
        return "Save filters" in manager.page(f"{QUEUE}?{urlencode(filters)}").text

    assert not offers() and not offers(assignee="me")
    assert offers(assignee="me", priority="high")
    save(manager, "Mine", assignee="me", priority="high")
    assert not offers(assignee="me", priority="high")


@pytest.mark.parametrize(
    ("name", "filters", "said"),
    [
        ("", LATE, "Name these filters"),
        (" \t", LATE, "Name these filters"),
        ("All", {}, "Choose at least one filter first."),
        ("All", {"status": "nonsense"}, "Choose at least one filter first."),
    ],
)
def test_what_cannot_be_saved_is_told(
    manager: CheckedClient, name: str, filters: dict[str, str], said: str
) -> None:
    assert said in save(manager, name, **filters).text
    assert views(manager) == []


def test_there_are_so_many_and_names_are_so_long(manager: CheckedClient) -> None:
    for number in range(MOST_VIEWS):
        save(manager, f"{number}" * 100, q=f"word{number}")
    assert "You have 10 saved filters." in save(manager, "More", **LATE).text
    assert views(manager) == [f"{number}" * LONGEST_NAME for number in range(MOST_VIEWS)]
    # The one that has the name already may be saved anew.
    assert "Filters saved." in save(manager, "0" * LONGEST_NAME, **LATE).text


def test_they_are_their_persons_alone(
    app: Flask, owner: Database, manager: CheckedClient, browser: CheckedClient, boss: Member
) -> None:
    save(manager, "<b>Mine</b>", **LATE)
    other = sign_in(app, owner, make_user(owner, boss.group_id, "manager"))
    assert views(other) == [] and views(manager) == ["<b>Mine</b>"]
    [view] = [each for each in kept(owner) if each.user_id == boss.user_id]
    for view_id in (view.id, uuid4()):
        assert other.post(f"{QUEUE}/views/{view_id}/remove").status_code == 303
    assert views(manager) == ["<b>Mine</b>"]
    assert browser.post(f"{QUEUE}/views?overdue=1", name="Late").status_code == 404


def test_what_is_kept_is_read_as_carefully_as_an_address(
    owner: Database, manager: CheckedClient, boss: Member
) -> None:
    with owner.transaction() as session:
        session.add(
            QueueView(
                group_id=boss.group_id,
                user_id=boss.user_id,
                name="Old",
                arguments={"status": "gone", "team": "x", "priority": "high"},
            )
        )
    assert views(manager) == ["Old"]
    [pill] = [each for each in manager.page(QUEUE).find_all("a") if each.text == "Old"]
    assert pill.attributes["href"].endswith("?priority=high")
