"""Changing requests: who may, from where to where, once however often, and told to whom."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete, select, update

from app.accounts.models import AuditEntry, Membership, User
from app.config import Settings
from app.db import Database
from app.notifications.mail import OutgoingMail
from app.notifications.services import Notification, notify
from app.skills.service_requests.models import STATUSES, ServiceRequest
from app.skills.service_requests.services.lifecycle import TRANSITIONS, may_become
from tests.assistant.processes import running
from tests.assistant.web_client import WebClient
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.service_requests import (
    leave_the_house,
    make_request,
    read_request,
    read_updates,
)

WRITES = {
    "status": {"status": "in_progress", "version": "1"},
    "priority": {"priority": "high", "version": "1"},
    "assignee": {"assignee": "", "version": "1"},
    "notes": {"words": "The fan is loose", "message_key": "k"},
    "replies": {"words": "On my way", "message_key": "k"},
}
FOR_AGENTS = ("priority", "assignee", "notes")


@pytest.fixture
def request_(owner: Database, member: Member, team: UUID) -> ServiceRequest:
    """A request of the member's that the technician's team looks after."""
    return make_request(owner, member, team_id=team)


def at(request: ServiceRequest, what: str = "") -> str:
    return f"/requests/{request.id}" + (f"/{what}" if what else "")


def told(owner: Database, person: Member) -> list[str]:
    with owner.session() as session:
        query = select(Notification).where(Notification.user_id == person.user_id)
        return [each.text_en for each in session.scalars(query.order_by(Notification.id))]


def mailed(owner: Database, person: Member) -> list[OutgoingMail]:
    with owner.session() as session:
        query = select(OutgoingMail).where(OutgoingMail.to_address == person.email)
        return list(session.scalars(query.order_by(OutgoingMail.id)))


def noted(owner: Database, person: Member) -> list[str]:
    with owner.session() as session:
        query = select(AuditEntry.action).where(AuditEntry.user_id == person.user_id)
        return list(session.scalars(query.order_by(AuditEntry.id)))


@pytest.mark.parametrize("what", WRITES)
def test_who_looks_after_a_request_can_do_it(
    owner: Database, at_work: CheckedClient, request_: ServiceRequest, what: str
) -> None:
    response = at_work.post(at(request_, what), **WRITES[what])
    assert (response.status_code, response.location) == (303, at(request_))
    assert at_work.page(at(request_)).status == 200


@pytest.mark.parametrize("what", WRITES)
def test_a_request_of_another_house_or_team_is_not_there(
    app: Flask,
    owner: Database,
    stranger: Member,
    colleague: Member,
    request_: ServiceRequest,
    what: str,
) -> None:
    for other in (stranger, colleague):
        browser = sign_in(app, owner, other)
        assert browser.post(at(request_, what), **WRITES[what]).status_code == 404
        assert browser.get(at(request_)).status_code == 404
    assert read_request(owner, request_).version == 1
    assert read_updates(owner, request_) == []


@pytest.mark.parametrize("what", FOR_AGENTS)
def test_whoever_asked_does_not_work_on_it(
    browser: CheckedClient, owner: Database, request_: ServiceRequest, what: str
) -> None:
    assert browser.post(at(request_, what), **WRITES[what]).status_code == 403
    assert read_updates(owner, request_) == []


@pytest.mark.parametrize("what", WRITES)
def test_nothing_is_changed_by_looking_without_a_token_or_signed_out(
    app: Flask, manager: CheckedClient, request_: ServiceRequest, what: str
) -> None:
    assert manager.get(at(request_, what)).status_code == 405
    assert manager.post(at(request_, what), token=False, **WRITES[what]).status_code == 400
    nobody = app.test_client().post(at(request_, what), data=WRITES[what])
    assert nobody.status_code == 303
    assert nobody.location.startswith("/sign-in")


@pytest.mark.parametrize("before", STATUSES)
@pytest.mark.parametrize("after", STATUSES)
def test_a_request_goes_only_where_it_may(
    owner: Database, manager: CheckedClient, member: Member, before: str, after: str
) -> None:
    found = make_request(owner, member, status=before)
    response = manager.post(at(found, "status"), status=after, version="1")
    allowed = after in TRANSITIONS[before] or before == after
    assert response.status_code == (303 if allowed else 422)
    assert read_request(owner, found).status == (after if allowed else before)


def test_whoever_asked_says_whether_it_is_solved_and_nothing_else() -> None:
    own = {status: may_become(status, is_agent=False) for status in STATUSES}
    assert own.pop("resolved") == ("closed", "in_progress")
    assert set(own.values()) == {()}


def test_when_it_was_answered_resolved_and_closed_is_kept(
    owner: Database, manager: CheckedClient, browser: CheckedClient, request_: ServiceRequest
) -> None:
    manager.post(at(request_, "status"), status="resolved", version="1")
    found = read_request(owner, request_)
    first = found.responded_at
    assert first and found.resolved_at and found.closed_at is None
    browser.post(at(request_, "status"), status="in_progress", version="2")
    found = read_request(owner, request_)
    assert (found.resolved_at, found.closed_at, found.responded_at) == (None, None, first)
    manager.post(at(request_, "status"), status="closed", version="3")
    found = read_request(owner, request_)
    assert found.closed_at and found.resolved_at is None
    assert [(each.kind, each.before, each.after) for each in read_updates(owner, request_)] == [
        ("status", "new", "resolved"),
        ("status", "resolved", "in_progress"),
        ("status", "in_progress", "closed"),
    ]


def test_a_stale_change_is_told_who_did_what(
    owner: Database, manager: CheckedClient, at_work: CheckedClient, request_: ServiceRequest
) -> None:
    at_work.post(at(request_, "status"), status="waiting", version="1")
    response = manager.post(at(request_, "priority"), priority="urgent", version="1")
    assert response.status_code == 409
    assert "Tina Tech changed this in the meantime: Waiting." in response.text
    assert read_request(owner, request_).priority == "normal"
    # What is shown is how it stands now: pressed again, it holds.
    assert 'name="version" value="2"' in response.text


def test_another_priority_moves_when_it_is_due_and_its_place_in_the_queue(
    owner: Database, manager: CheckedClient, member: Member, request_: ServiceRequest
) -> None:
    other = make_request(owner, member, "Due before", due_at=request_.due_at - timedelta(hours=1))
    manager.post(at(request_, "priority"), priority="urgent", version="1")
    moved = read_request(owner, request_)
    was = request_.due_at - request_.submitted_at
    assert moved.due_at - moved.submitted_at == was / 4
    titles = [each.text for each in manager.page("/requests/queue").find_all("a")]
    assert titles.index(request_.title) < titles.index(other.title)
    # Whether what is over was done in time is settled.
    manager.post(at(request_, "status"), status="resolved", version="2")
    manager.post(at(request_, "priority"), priority="low", version="3")
    assert read_request(owner, request_).due_at == moved.due_at


def test_the_same_change_by_two_is_made_by_one(
    owner: Database, manager: CheckedClient, at_work: CheckedClient, request_: ServiceRequest
) -> None:
    change = {"status": "resolved", "version": "1"}
    assert at_work.post(at(request_, "status"), **change).status_code == 303
    assert manager.post(at(request_, "status"), **change).status_code == 409
    # A button pressed twice by one person is one change, and no mistake.
    assert at_work.post(at(request_, "status"), **change).status_code == 303
    assert len(read_updates(owner, request_)) == 1
    assert read_request(owner, request_).version == 2


def test_every_change_stands_in_the_audit_log(
    owner: Database, manager: CheckedClient, boss: Member, request_: ServiceRequest
) -> None:
    manager.post(at(request_, "assignee"), assignee=str(boss.user_id), version="1")
    manager.post(at(request_, "priority"), priority="high", version="2")
    manager.post(at(request_, "status"), status="in_progress", version="3")
    manager.post(at(request_, "notes"), words="Fan", message_key="a")
    manager.post(at(request_, "replies"), words="Soon", message_key="b")
    assert noted(owner, boss) == [
        f"service_request.{kind}" for kind in ("assignment", "priority", "status", "note", "reply")
    ]


def test_whoever_is_given_a_request_is_told_by_bell_and_mail_in_their_language(
    app: Flask, owner: Database, manager: CheckedClient, boss: Member, request_: ServiceRequest
) -> None:
    ana = make_user(owner, boss.group_id, "manager", language="es", name="Ana")
    manager.post(at(request_, "assignee"), assignee=str(ana.user_id), version="1")
    assert told(owner, ana) == [f"{request_.reference} is now assigned to you: The walk-in is warm"]
    [letter] = mailed(owner, ana)
    assert request_.reference in letter.subject
    assert at(request_) in letter.body
    # One's own doing is no news.
    manager.post(at(request_, "assignee"), assignee=str(boss.user_id), version="2")
    assert told(owner, boss) == []


def test_only_who_is_an_agent_of_it_can_be_given_a_request(
    owner: Database, manager: CheckedClient, colleague: Member, stranger: Member,
    technician: Member, request_: ServiceRequest,
) -> None:  # fmt: skip
    for other in (str(colleague.user_id), str(stranger.user_id), "everybody"):
        response = manager.post(at(request_, "assignee"), assignee=other, version="1")
        assert response.status_code == 422
    assert read_request(owner, request_).assignee_id is None
    manager.post(at(request_, "assignee"), assignee=str(technician.user_id), version="1")
    assert read_request(owner, request_).assignee_id == technician.user_id


def test_the_requester_is_told_of_the_end_and_of_replies_and_never_what_they_say(
    owner: Database, manager: CheckedClient, member: Member, request_: ServiceRequest
) -> None:
    manager.post(at(request_, "replies"), words="The code is 4711", message_key="a")
    manager.post(at(request_, "notes"), words="Cheap part", message_key="b")
    manager.post(at(request_, "status"), status="waiting", version="1")
    manager.post(at(request_, "status"), status="resolved", version="2")
    manager.post(at(request_, "status"), status="closed", version="3")
    reference = request_.reference
    assert told(owner, member) == [
        f"A reply to {reference}: The walk-in is warm",
        f"{reference} is resolved: The walk-in is warm",
        f"{reference} is closed: The walk-in is warm",
    ]
    assert "4711" not in "".join(each.subject + each.body for each in mailed(owner, member))


def test_an_answer_reaches_whoever_has_the_request_else_the_team(
    owner: Database, browser: CheckedClient, manager: CheckedClient, boss: Member,
    technician: Member, member: Member, request_: ServiceRequest,
) -> None:  # fmt: skip
    browser.post(at(request_, "replies"), words="It drips now", message_key="a")
    assert len(told(owner, technician)) == 1
    assert told(owner, boss) == []
    manager.post(at(request_, "assignee"), assignee=str(boss.user_id), version="1")
    browser.post(at(request_, "replies"), words="More", message_key="b")
    assert told(owner, boss) == [f"An answer to {request_.reference}: The walk-in is warm"]
    assert len(told(owner, technician)) == 1
    assert told(owner, member) == []
    assert read_request(owner, request_).responded_at is not None


def test_a_notice_of_a_reply_opens_the_page_at_it_and_is_read_by_that(
    owner: Database, browser: CheckedClient, manager: CheckedClient, member: Member,
    request_: ServiceRequest,
) -> None:  # fmt: skip
    manager.post(at(request_, "replies"), words="On my way", message_key="a")
    [reply] = read_updates(owner, request_)
    [line] = browser.page("/notifications").find_all("a", **{"class": "notification is-unread"})
    leads = browser.get(line.attributes["href"]).location
    assert leads == f"{at(request_)}#event-{reply.id}"
    page = browser.page(at(request_))
    assert "On my way" in page.find("li", id=f"event-{reply.id}").text
    assert "is-unread" not in browser.page("/notifications").response.text
    browser.post(at(request_, "replies"), words="Thank you", message_key="b")
    answer = read_updates(owner, request_)[-1]
    [letter] = mailed(owner, member)
    assert f"{at(request_)}#event-{reply.id}" in letter.body
    assert f"event-{answer.id}" in manager.page(at(request_)).response.text


def test_what_is_sent_twice_is_said_once(
    owner: Database, browser: CheckedClient, manager: CheckedClient, request_: ServiceRequest
) -> None:
    for client in (browser, browser, manager, manager):
        sent = client.post(at(request_, "replies"), words="Hello", message_key="same")
        assert sent.status_code == 303
    manager.post(at(request_, "notes"), words="Note", message_key="n")
    manager.post(at(request_, "notes"), words="Note", message_key="n")
    assert [each.kind for each in read_updates(owner, request_)] == ["reply", "reply", "note"]


def test_what_is_written_on_a_form_that_has_arrived_is_said_too(
    owner: Database, manager: CheckedClient, request_: ServiceRequest
) -> None:
    for words in ("A fan comes at 3.", "A fan comes at 4.", "A fan comes at 3."):
        manager.post(at(request_, "replies"), words=words, message_key="same")
    said = [each.body for each in read_updates(owner, request_)]
    assert said == ["A fan comes at 3.", "A fan comes at 4."]


def test_the_same_words_and_key_are_a_reply_and_a_note(
    owner: Database, manager: CheckedClient, request_: ServiceRequest
) -> None:
    for what in ("notes", "replies"):
        manager.post(at(request_, what), words="A fan comes at 3.", message_key="same")
    assert [each.kind for each in read_updates(owner, request_)] == ["note", "reply"]


@pytest.mark.parametrize("words", ["", "   ", "x" * 4001])
def test_nothing_and_too_much_are_refused_beside_the_words(
    owner: Database, manager: CheckedClient, request_: ServiceRequest, words: str
) -> None:
    for what in ("replies", "notes"):
        response = manager.post(at(request_, what), words=words, message_key="k")
        assert response.status_code == 422
        assert "data-first-error" in response.text
    assert read_updates(owner, request_) == []


def test_whoever_has_left_is_shown_as_such_and_told_nothing(
    app: Flask, owner: Database, manager: CheckedClient, request_: ServiceRequest,
    technician: Member, member: Member,
) -> None:  # fmt: skip
    manager.post(at(request_, "assignee"), assignee=str(technician.user_id), version="1")
    with owner.transaction() as session:
        found = session.get(Membership, (technician.user_id, technician.group_id))
        session.delete(found)
    page = manager.page(at(request_))
    assert "Former colleague (no longer works here)" in page.text
    before = len(told(owner, technician))
    sign_in(app, owner, member).post(at(request_, "replies"), words="Hello?", message_key="k")
    assert len(told(owner, technician)) == before
    leave_the_house(owner, technician)
    assert "Unassigned" in manager.page(at(request_)).text


def leave(owner: Database, person: Member) -> None:
    with owner.transaction() as session:
        session.execute(delete(Membership).where(Membership.user_id == person.user_id))


def change_role(owner: Database, person: Member, role: str) -> None:
    with owner.transaction() as session:
        mine = Membership.user_id == person.user_id
        session.execute(update(Membership).where(mine).values(role=role))


def demote(owner: Database, person: Member) -> None:
    change_role(owner, person, "staff")


def deactivate(owner: Database, person: Member) -> None:
    with owner.transaction() as session:
        session.execute(update(User).where(User.id == person.user_id).values(is_active=False))


LOSSES = pytest.mark.parametrize("lose", [leave, demote, deactivate])


@LOSSES
def test_whoever_had_a_request_and_may_not_open_it_any_more_is_told_nothing_but_the_team_is(
    owner: Database, browser: CheckedClient, boss: Member, technician: Member, team: UUID,
    member: Member, lose: Callable[[Database, Member], None],
) -> None:  # fmt: skip
    ana = make_user(owner, boss.group_id, "manager", name="Ana")
    found = make_request(owner, member, team_id=team, assignee_id=ana.user_id)
    lose(owner, ana)
    browser.post(at(found, "replies"), words="It leaks now", message_key="a")
    assert told(owner, technician) == [f"An answer to {found.reference}: The walk-in is warm"]
    assert len(mailed(owner, technician)) == 1
    assert told(owner, ana) == [] and mailed(owner, ana) == []
    assert told(owner, boss) == []


@LOSSES
def test_without_a_team_the_editors_are_told_in_place_of_whoever_lost_the_request(
    owner: Database, browser: CheckedClient, boss: Member, technician: Member, member: Member,
    lose: Callable[[Database, Member], None],
) -> None:  # fmt: skip
    ana = make_user(owner, boss.group_id, "manager", name="Ana")
    found = make_request(owner, member, status="resolved", assignee_id=ana.user_id)
    lose(owner, ana)
    browser.post(at(found, "status"), status="in_progress", version="1")
    assert told(owner, boss) == [f"{found.reference} is open again: The walk-in is warm"]
    assert told(owner, ana) == told(owner, technician) == []


@pytest.mark.parametrize("lose", [leave, deactivate])
def test_where_nobody_of_a_team_is_left_the_editors_are_told(
    owner: Database, browser: CheckedClient, boss: Member, technician: Member,
    request_: ServiceRequest, lose: Callable[[Database, Member], None],
) -> None:  # fmt: skip
    lose(owner, technician)
    browser.post(at(request_, "replies"), words="It leaks now", message_key="a")
    assert told(owner, boss) == [f"An answer to {request_.reference}: The walk-in is warm"]
    assert told(owner, technician) == []


def test_the_page_of_a_request_still_says_who_had_it(
    owner: Database, manager: CheckedClient, boss: Member, team: UUID, member: Member
) -> None:
    ana = make_user(owner, boss.group_id, "manager", name="Ana Assignee")
    found = make_request(owner, member, team_id=team, assignee_id=ana.user_id)
    demote(owner, ana)
    assert "Ana Assignee" in manager.page(at(found)).text
    leave(owner, ana)
    assert "Former colleague (no longer works here)" in manager.page(at(found)).text


def test_the_bell_names_no_request_that_its_person_may_not_open_any_more(
    owner: Database, database: Database, browser: CheckedClient, manager: CheckedClient,
    boss: Member, request_: ServiceRequest,
) -> None:  # fmt: skip
    manager.post(at(request_, "assignee"), assignee=str(boss.user_id), version="1")
    own = make_request(owner, boss, "The lamp flickers")
    browser.post(at(request_, "replies"), words="It leaks now", message_key="a")
    with database.transaction(boss.scope) as session:
        for url, line in ((at(own), "The lamp is fixed"), ("/chats", "The export is ready")):
            notify(session, boss.user_id, {"en": line, "es": line}, url)
        hidden = {"en": "The walk-in again", "es": "La cámara otra vez"}
        for place in ("", "#answer", "?page=2", "?page=2#answer"):
            notify(session, boss.user_id, hidden, at(request_) + place)
    line = f"An answer to {request_.reference}: The walk-in is warm"
    others = ("The lamp is fixed", "The export is ready")
    page = manager.page("/notifications")
    assert all(each in page.text for each in (line, *others))
    [link] = [each for each in page.find_all("a") if line in each.text]
    demote(owner, boss)
    assert manager.get(at(request_)).status_code == 404
    page = manager.page("/notifications")
    assert "walk-in" not in page.text and request_.reference not in page.text
    assert hidden["en"] not in page.text, "an address that leads to a place on the page"
    assert all(each in page.text for each in others)
    assert page.find("span", **{"class": "bell-count"}).text == "2"
    assert manager.get(link.attributes["href"]).status_code == 404
    # What is hidden is not read by reading all: it is new to whoever has the right again.
    manager.press(page, "/notifications/read")
    change_role(owner, boss, "manager")
    page = manager.page("/notifications")
    assert line in page.text
    assert page.find("span", **{"class": "bell-count"}).text == "5"


@pytest.fixture
def port(settings: Settings, tmp_path: Path) -> Iterator[int]:
    """A web server with two workers; no model is asked for anything."""
    with running(settings, tmp_path, "http://127.0.0.1:9/v1") as processes:
        program, port = processes.start_web()
        yield port
        program.kill()


def everything_for(client: WebClient) -> list[tuple[WebClient, str, dict[str, str]]]:
    """Replies that are each sent twice, and changes of versions that others change, too."""
    replies = [("replies", {"words": f"Reply {n}", "message_key": f"r{n}"}) for n in range(4)]
    changes = [
        ("status", {"status": status, "version": str(version), "last": str(UUID(int=2**128 - 1))})
        for version in (1, 2, 3)
        for status in ("in_progress", "waiting")
    ]
    return [(client, what, form) for what, form in [*replies, *replies, *changes]]


def test_two_agents_at_once_lose_nothing_and_do_nothing_twice(
    app: Flask, owner: Database, port: int, boss: Member, technician: Member,
    request_: ServiceRequest,
) -> None:  # fmt: skip
    clients = [WebClient(app, owner, each, port) for each in (boss, technician)]
    assert all(client.csrf_token for client in clients)
    posts = [post for client in clients for post in everything_for(client)]
    random.Random(7).shuffle(posts)
    with ThreadPoolExecutor(6) as pool:
        sent = pool.map(lambda post: post[0].post(at(request_, post[1]), **post[2]), posts)
        answers = {each.status for each in sent}
    assert answers <= {303, 409, 422}
    found, updates = read_request(owner, request_), read_updates(owner, request_)
    replies = [(each.author, each.body) for each in updates if each.kind == "reply"]
    assert len(replies) == len(set(replies)) == 8
    changes = [each for each in updates if each.kind == "status"]
    assert len(changes) == found.version - 1 >= 1
    assert [each.after for each in changes[:-1]] == [each.before for each in changes[1:]]
    assert (changes[0].before, changes[-1].after) == ("new", found.status)
