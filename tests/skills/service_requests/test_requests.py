"""One's own requests and the page of one: what is shown to whom, in which language, with files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from flask import Flask

from app.db import Database, new_id, utc_now
from app.extensions import Services
from app.files.models import StoredFile
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.services.deadline import (
    due_at_priority,
    due_from,
    ended_at,
    span,
    standing,
)
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.service_requests import (
    PHOTO,
    PRIORITY_ID,
    TITLE_ID,
    WHEN,
    WHERE,
    leave_the_house,
    make_request,
    make_update,
    read_request,
)

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("usual", "priority", "hours"),
    [
        ("normal", "normal", 8),
        ("normal", "high", 4),
        ("normal", "urgent", 2),
        ("normal", "low", 16),
        ("urgent", "low", 64),
        ("low", "urgent", 1),
    ],
)
def test_priority_decides_how_soon_it_is_due(usual: str, priority: str, hours: int) -> None:
    due = NOON + timedelta(hours=hours)
    assert due_from(NOON, 8, usual, priority) == due
    assert due_at_priority(NOON, due, priority, usual) == NOON + timedelta(hours=8)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 min"),
        (59, "1 min"),
        (720, "12 min"),
        (3600, "1 h"),
        (5 * 3600 + 600, "5 h 10 min"),
        (47 * 3600, "47 h"),
        (76 * 3600 + 59, "3 d 4 h"),
    ],
)
def test_a_length_of_time_is_said_in_two_units_at_most(seconds: int, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(
    ("hours_left", "ended", "state"),
    [(5, None, "due"), (1, None, "soon"), (-1, None, "overdue"), (5, 0, "met"), (-1, 0, "missed")],
)
def test_a_request_stands_to_its_due_time(hours_left: int, ended: int | None, state: str) -> None:
    end = None if ended is None else NOON + timedelta(hours=ended)
    found = standing(NOON + timedelta(hours=hours_left), end, NOON)
    assert (found.state, found.seconds) == (state, abs(hours_left) * 3600)


def test_the_clock_stops_with_the_solution_and_goes_on_when_it_is_opened_again() -> None:
    assert ended_at("in_progress", NOON, NOON) is None
    assert ended_at("resolved", NOON, None) == NOON
    assert ended_at("closed", NOON, NOON + timedelta(days=3)) == NOON
    assert ended_at("closed", None, NOON) == NOON


def test_who_has_asked_for_nothing_is_shown_the_way_to_the_chat(browser: CheckedClient) -> None:
    page = browser.page("/requests")
    assert "You have not filed any requests yet." in page.text
    assert page.find_all("a", href="/chat")
    assert "You have no open requests." in browser.page("/requests?state=open").text
    assert "None of your requests is finished yet." in browser.page("/requests?state=closed").text
    assert "There are no more." in browser.page("/requests?page=9").text


def test_ones_own_requests_are_listed_newest_first_and_nobody_elses(
    owner: Database, browser: CheckedClient, member: Member, colleague: Member
) -> None:
    make_request(owner, member, "Older", submitted_at=utc_now() - timedelta(days=3))
    make_request(owner, member, "Solved one", status="closed", closed_at=utc_now())
    make_request(owner, member, "Newest", priority="urgent")
    make_request(owner, colleague, "Not mine")
    text = browser.page("/requests").text
    assert text.index("Newest") < text.index("Solved one") < text.index("Older")
    assert "Not mine" not in text
    assert "Urgent" in text
    assert "overdue" in text
    open_ones = browser.page("/requests?state=open").text
    assert "Newest" in open_ones and "Solved one" not in open_ones
    assert "Newest" not in browser.page("/requests?state=closed").text


def test_a_long_list_is_turned_page_by_page(
    owner: Database, browser: CheckedClient, member: Member
) -> None:
    for number in range(23):
        make_request(owner, member, f"Thing {number}")
    first, second = browser.page("/requests"), browser.page("/requests?page=2")
    assert "Thing 22" in first.text and "Thing 2 " not in first.text
    assert "Thing 1" in second.text
    assert first.find_all("a", rel="next") and not first.find_all("a", rel="prev")
    assert second.find_all("a", rel="prev") and not second.find_all("a", rel="next")


@pytest.fixture
def full(owner: Database, member: Member, team: UUID) -> ServiceRequest:
    """A request with all that one can have."""
    return make_request(
        owner,
        member,
        team_id=team,
        values={
            str(TITLE_ID): "The walk-in is warm",
            str(PRIORITY_ID): "high",
            str(WHERE): "bar",
            str(WHEN): "2026-11-20",
        },
        origins={str(WHERE): {"by": "said", "words": "the one behind the bar"}},
    )


def test_what_was_asked_for_is_shown_in_the_readers_language_with_the_words_it_came_from(
    app: Flask, owner: Database, browser: CheckedClient, member: Member, full: ServiceRequest
) -> None:
    text = browser.page(f"/requests/{full.id}").text
    for words in (full.reference, "Maintenance › Cooling", "Where is it?", "Bar",
                  "original words: “the one behind the bar”", "November 20, 2026",
                  "High"):  # fmt: skip
        assert words in text
    spanish = sign_in(app, owner, make_user(owner, member.group_id, "manager", language="es"))
    text = spanish.page(f"/requests/{full.id}").text
    for words in ("Mantenimiento › Refrigeración", "¿Dónde está?", "Barra", "20 de noviembre"):
        assert words in text


def test_the_story_has_questions_solution_replies_and_notes_for_agents_alone(
    owner: Database, browser: CheckedClient, at_work: CheckedClient, member: Member,
    technician: Member, full: ServiceRequest,
) -> None:  # fmt: skip
    make_update(owner, full, member, "answer", question="Does the fan turn?", body="No")
    tried = {"body": "Switch it **off and on** [1]", "after": "declined"}
    make_update(owner, full, member, "resolution", **tried)
    make_update(owner, full, technician, "note", body="Old compressor", is_internal=True)
    make_update(owner, full, technician, "reply", body="<b>Coming</b>\nsoon")
    make_update(owner, full, technician, "status", before="new", after="in_progress")
    own, agents = (each.page(f"/requests/{full.id}") for each in (browser, at_work))
    for page in (own, agents):
        for words in ("Does the fan turn?", "Switch it off and on", "<b>Coming</b>", "In progress"):
            assert words in page.text
    assert "Old compressor" in agents.text
    assert "Old compressor" not in own.text
    assert own.find_all("aside", **{"class": "work no-print"}) == []
    assert agents.find_all("aside", **{"class": "work no-print"})


def test_a_request_whose_requester_and_type_are_gone_can_still_be_read(
    owner: Database, manager: CheckedClient, colleague: Member
) -> None:
    found = make_request(owner, colleague)
    leave_the_house(owner, colleague)
    page = manager.page(f"/requests/{found.id}")
    assert "Carl Colleague" in page.text
    sent = manager.post(f"/requests/{found.id}/replies", words="Hi", message_key="k")
    assert sent.status_code == 303


def attach(app: Flask, owner: Database, request: ServiceRequest, member: Member) -> UUID:
    services: Services = app.extensions["comanda"]
    file_id, key = new_id(), f"{new_id().hex}"
    services.files.put(key, b"a receipt")
    with owner.transaction() as session:
        session.add(
            StoredFile(
                id=file_id, group_id=request.group_id, user_id=member.user_id, key=key,
                name="fan.txt", kind="text", media_type="text/plain", size=9, sha256="0" * 64,
                state="kept", owner_kind="service_request", owner_id=request.id,
            )
        )  # fmt: skip
        stored = session.get(ServiceRequest, request.id)
        assert stored is not None
        stored.values = {
            **stored.values, str(PHOTO): [{"id": str(file_id), "name": "fan.txt", "size": 9}]
        }  # fmt: skip
    return file_id


def test_its_files_come_to_whoever_sees_the_request_and_to_nobody_else(
    app: Flask, owner: Database, browser: CheckedClient, at_work: CheckedClient, member: Member,
    colleague: Member, stranger: Member, full: ServiceRequest,
) -> None:  # fmt: skip
    address = f"/requests/{full.id}/files/{attach(app, owner, full, member)}"
    for reader in (browser, at_work):
        assert "fan.txt" in reader.page(f"/requests/{full.id}").text
        response = reader.get(address)
        assert (response.status_code, response.data) == (200, b"a receipt")
        assert response.headers["Content-Disposition"].startswith("attachment")
        assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    lost = make_request(owner, member, values=read_request(owner, full).values)
    page = browser.page(f"/requests/{lost.id}")
    assert "fan.txt could not be attached" in page.text
    assert page.find_all("a", download="") == []
    for other in (colleague, stranger):
        assert sign_in(app, owner, other).get(address).status_code == 404
    assert browser.get(f"/requests/{full.id}/files/{new_id()}").status_code == 404
    another = make_request(owner, member)
    wrong = address.replace(str(full.id), str(another.id))
    assert browser.get(wrong).status_code == 404


def test_nobody_reads_requests_signed_out(app: Flask, full: ServiceRequest) -> None:
    for path in ("/requests", f"/requests/{full.id}", "/requests/queue", "/notifications"):
        response = app.test_client().get(path)
        assert response.status_code == 303
        assert response.location.startswith("/sign-in")
