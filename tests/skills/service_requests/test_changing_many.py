"""Several requests of the queue at once: each by itself, at the version that its list showed."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from flask import Flask

from app.db import Database
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.services.queue import PAGE
from tests.factories import CheckedClient, Member, sign_in
from tests.factories.service_requests import make_request, read_request, read_updates

QUEUE = "/requests/queue"


@pytest.fixture
def three(owner: Database, member: Member, team: UUID) -> list[ServiceRequest]:
    return [make_request(owner, member, title, team_id=team) for title in ("One", "Two", "Three")]


def ticks(client: CheckedClient) -> dict[str, str]:
    """What the list's boxes would send, by title; and when the list was drawn."""
    page = client.page(QUEUE)
    rows = page.find_all("tr", **{"class": "queue-row"})
    found = {
        row.find("a").text: row.find("input", type="checkbox").attributes["value"] for row in rows
    }
    return found | {"last": page.find("input", name="last").attributes["value"]}


def change(client: CheckedClient, boxes: list[str], **fields: str) -> str:
    """What the page that follows says."""
    response = client.post(QUEUE, request=boxes, **fields)
    assert response.status_code == 303
    page = client.page(response.location)
    return page.text


def test_they_are_given_to_somebody_together(
    owner: Database, manager: CheckedClient, technician: Member, three: list[ServiceRequest]
) -> None:
    shown = ticks(manager)
    said = change(
        manager, [shown["One"], shown["Two"]], act="assign", assignee=str(technician.user_id)
    )
    assert "2 requests changed." in said
    assignees = [read_request(owner, each).assignee_id for each in three]
    assert assignees == [technician.user_id, technician.user_id, None]
    # The same list sent once more changes nothing, and fails in nothing.
    before = [len(read_updates(owner, each)) for each in three]
    said = change(
        manager, [shown["One"], shown["Two"]], act="assign", assignee=str(technician.user_id)
    )
    assert "not changed" not in said
    assert [len(read_updates(owner, each)) for each in three] == before


def test_they_are_moved_on_and_given_to_nobody(
    owner: Database, manager: CheckedClient, boss: Member, three: list[ServiceRequest]
) -> None:
    shown = ticks(manager)
    boxes = [shown[each.title] for each in three]
    change(manager, boxes, act="assign", assignee=str(boss.user_id))
    shown = ticks(manager)
    boxes = [shown[each.title] for each in three]
    said = change(manager, boxes, act="move", status="in_progress", last=shown["last"])
    assert "3 requests changed." in said
    shown = ticks(manager)
    change(manager, [shown["One"]], act="assign", assignee="nobody")
    found = [read_request(owner, each) for each in three]
    assert [each.status for each in found] == ["in_progress"] * 3
    assert [each.assignee_id for each in found] == [None, boss.user_id, boss.user_id]


def test_what_somebody_changed_meanwhile_is_left_and_named(
    owner: Database, manager: CheckedClient, at_work: CheckedClient, three: list[ServiceRequest]
) -> None:
    shown = ticks(manager)
    at_work.post(f"/requests/{three[1].id}/priority", priority="urgent", version="1")
    boxes = [shown[each.title] for each in three]
    said = change(manager, boxes, act="move", status="resolved", last=shown["last"])
    assert "2 requests changed." in said
    assert f"{three[1].reference} was not changed." in said and "in the meantime" in said
    states = [read_request(owner, each).status for each in three]
    assert states == ["resolved", "new", "resolved"]


def test_what_was_written_meanwhile_is_read_first(
    owner: Database, manager: CheckedClient, browser: CheckedClient, three: list[ServiceRequest]
) -> None:
    shown = ticks(manager)
    words = {"words": "It is smoking now", "message_key": "k"}
    assert browser.post(f"/requests/{three[0].id}/replies", **words).status_code == 303
    said = change(manager, [shown["One"]], act="move", status="closed", last=shown["last"])
    assert "wrote something in the meantime" in said
    assert read_request(owner, three[0]).status == "new"
    # The list drawn anew shows no words either: it ends nothing that nobody has answered.
    shown = ticks(manager)
    said = change(manager, [shown["One"]], act="move", status="resolved", last=shown["last"])
    assert "wrote something in the meantime" in said
    said = change(manager, [shown["One"]], act="move", status="in_progress", last=shown["last"])
    assert "1 request changed." in said
    shown = ticks(manager)
    said = change(manager, [shown["One"]], act="move", status="closed", last=shown["last"])
    assert "wrote something in the meantime" in said
    answer = {"words": "On my way", "message_key": "a"}
    assert manager.post(f"/requests/{three[0].id}/replies", **answer).status_code == 303
    shown = ticks(manager)
    said = change(manager, [shown["One"]], act="move", status="closed", last=shown["last"])
    assert "1 request changed." in said


def test_what_is_so_already_is_not_counted(
    manager: CheckedClient, boss: Member, three: list[ServiceRequest]
) -> None:
    for said in ("2 requests changed.", "They are so already: nothing had to be changed."):
        shown = ticks(manager)
        boxes = [shown["One"], shown["Two"], shown["Two"]]
        assert said in change(manager, boxes, act="assign", assignee=str(boss.user_id))


def test_many_that_could_not_be_changed_are_counted(
    owner: Database, manager: CheckedClient, member: Member, team: UUID
) -> None:
    made = [make_request(owner, member, f"No {n}", team_id=team) for n in range(5)]
    boxes = [f"{each.id}:9" for each in made]
    said = change(manager, boxes, act="move", status="closed")
    assert said.count("was not changed.") == 3 and "2 more were not changed" in said
    assert "requests changed" not in said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"act": "move", "status": "closed"}, "Select at least one request."),
        ({"request": "x:1", "act": "move", "status": "closed"}, "Select at least one request."),
        ({"request": "{id}:1", "act": "move", "status": ""}, "Choose a status for them."),
        ({"request": "{id}:1", "act": "move", "status": "gone"}, "Choose a status for them."),
        ({"request": "{id}:1", "act": "assign", "assignee": ""}, "Choose who should have them."),
        ({"request": "{id}:1", "act": "assign", "assignee": "x"}, "can't be assigned"),
        ({"request": "{id}", "act": "move", "status": "closed"}, "was not changed."),
        ({"request": "{id}:99999999999", "act": "move", "status": "closed"}, "was not changed."),
        ({"request": f"{uuid4()}:1", "act": "move", "status": "closed"}, "was not changed."),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    owner: Database, manager: CheckedClient, three: list[ServiceRequest],
    fields: dict[str, str], said: str,
) -> None:  # fmt: skip
    sent = {name: value.format(id=three[0].id) for name, value in fields.items()}
    response = manager.post(QUEUE, **sent)
    assert response.status_code == 303
    assert said in manager.page(response.location).text
    assert read_request(owner, three[0]).version == 1


def test_only_who_looks_after_them_can(
    app: Flask, owner: Database, browser: CheckedClient, at_work: CheckedClient,
    stranger: Member, member: Member, three: list[ServiceRequest],
) -> None:  # fmt: skip
    sent = {"request": f"{three[0].id}:1", "act": "move", "status": "closed"}
    assert browser.post(QUEUE, **sent).status_code == 404
    theirs = sign_in(app, owner, stranger)
    assert "was not changed." in theirs.page(theirs.post(QUEUE, **sent).location).text
    elsewhere = make_request(owner, member, "Of nobody's team")
    sent["request"] = f"{elsewhere.id}:1"
    assert "was not changed." in at_work.page(at_work.post(QUEUE, **sent).location).text
    for each in (three[0], elsewhere):
        assert read_request(owner, each).status == "new"


def test_it_goes_back_to_the_list_as_it_was_narrowed(
    manager: CheckedClient, three: list[ServiceRequest]
) -> None:
    page = manager.page(f"{QUEUE}?q=one&assignee=nobody")
    leads = [each.attributes["action"] for each in page.find_all("form", method="post")]
    [here] = [each for each in leads if each.startswith(f"{QUEUE}?") and "q=one" in each]
    response = manager.post(here, act="move", status="closed")
    assert "q=one" in response.location and "assignee=nobody" in response.location


def test_no_more_than_a_page_is_changed_at_once(
    owner: Database, manager: CheckedClient, member: Member, team: UUID
) -> None:
    made = [make_request(owner, member, f"No {n}", team_id=team) for n in range(PAGE + 1)]
    boxes = [f"{each.id}:1" for each in made]
    assert f"{PAGE} requests changed." in change(manager, boxes, act="move", status="closed")
    assert [read_request(owner, each).status for each in made].count("closed") == PAGE


def test_how_often_is_limited(manager: CheckedClient, three: list[ServiceRequest]) -> None:
    sent = {"request": f"{three[0].id}:1", "act": "move", "status": "in_progress"}
    codes = [manager.post(QUEUE, **sent).status_code for _n in range(11)]
    assert codes == [303] * 10 + [429]
