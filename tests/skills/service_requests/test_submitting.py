"""Filing a request: all that belongs to it in one transaction, once, or nothing of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete, func, select, text, update
from werkzeug.test import TestResponse

from app.accounts.models import AuditEntry, User
from app.assistant.models import Message, Proposal, Thread
from app.assistant.proposals.proposals import lock_thread, set_aside
from app.assistant.threads.threads import accept_message, show_branch
from app.assistant.tools.tool import ToolFailure
from app.db import Database, new_id, utc_now
from app.errors import Conflict
from app.files.models import StoredFile
from app.notifications.services import Notification
from app.skills.service_requests.models import (
    RequestCounter,
    RequestType,
    RequestUpdate,
    ServiceRequest,
    TeamMember,
)
from app.skills.service_requests.services.submit import digest_of_state, file_request
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.skills.service_requests.building import (
    Talk,
    id_in,
    id_of,
    make_file,
    make_type,
    ready_talk,
    short_fields,
    start_talk,
)
from tests.skills.service_requests.failing import BREAK_OFF, FAIL, failing


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    """The browser of whoever asks for something."""
    return sign_in(app, owner, member)


def act(browser: CheckedClient, proposal_id: UUID, action: str = "confirm") -> TestResponse:
    headers = {"X-CSRFToken": browser.csrf_token}
    return browser.client.post(f"/api/proposals/{proposal_id}/{action}", headers=headers)


def requests_of(owner: Database, group_id: UUID) -> Sequence[ServiceRequest]:
    with owner.session() as session:
        mine = ServiceRequest.group_id == group_id
        query = select(ServiceRequest).where(mine).order_by(ServiceRequest.number)
        return session.scalars(query).all()


def traces(owner: Database, group_id: UUID) -> dict[str, Any]:
    """All that filing a request leaves behind."""
    with owner.session() as session:

        def count(model: Any, *where: Any) -> int:
            query = select(func.count()).select_from(model).where(model.group_id == group_id)
            return session.scalar(query.where(*where)) or 0

        last = select(RequestCounter.last).where(RequestCounter.group_id == group_id)
        steps = select(Message.internal_content).where(
            Message.group_id == group_id, Message.internal_content.is_not(None)
        )
        return {
            "requests": count(ServiceRequest),
            "updates": count(RequestUpdate),
            "number": session.scalar(last) or 0,
            "audit": count(AuditEntry, AuditEntry.action.like("%service_request%")),
            "told": count(Notification),
            "kept files": count(StoredFile, StoredFile.owner_id.is_not(None)),
            "done": count(Proposal, Proposal.state == "confirmed"),
            "steps": sum("request_submitted" in str(each) for each in session.scalars(steps)),
        }


NOTHING = {
    "requests": 0, "updates": 0, "number": 0, "audit": 0, "told": 0, "kept files": 0, "done": 0,
    "steps": 0,
}  # fmt: skip
# With two answers and one file; the audit has what was done, and by which tool.
ALL = {**dict.fromkeys(NOTHING, 1), "updates": 2, "audit": 2}


@pytest.fixture
def talk(owner: Database, database: Database, member: Member, short: RequestType) -> Talk:
    """A conversation about a request with a file that can be filed."""
    talk = start_talk(database, member, short)
    photo = {"id": str(id_in(make_file(owner, member))), "name": "leak.jpg", "size": 10}
    talk.tell(title="Oven", priority="high", photos=[photo])
    talk.finish("It is cold", "Since noon")
    return talk


def test_everything_of_a_request_is_written_and_its_assignee_is_told(
    app: Flask, owner: Database, browser: CheckedClient, talk: Talk, technician: Member
) -> None:
    begun_at = talk.state().begun_at
    answered = act(browser, talk.propose(app))
    assert answered.status_code == 200, answered.text
    assert traces(owner, talk.who.group_id) == ALL
    [request] = requests_of(owner, talk.who.group_id)
    assert request.reference == f"SR-{utc_now().year}-000001"
    assert (request.title, request.priority, request.status) == ("Oven", "high", "new")
    # One step above the type's usual priority: half of its 24 hours.
    assert talk.kind.priority == "normal"
    assert request.due_at - request.submitted_at == timedelta(hours=12)
    assert request.values[id_of(talk.kind, "title")] == "Oven"
    assert (request.assignee_id, request.team_id) == (technician.user_id, talk.kind.team_id)
    assert (str(request.begun_at), request.thread_id) == (begun_at, talk.thread_id)
    assert (request.is_ai_resolution_attempted, request.ai_resolution_confidence_score) == (
        False, None,
    )  # fmt: skip
    assert request.reference in answered.get_json()["part"]["summary"]["en"]
    state = talk.state()
    assert not state.is_open and state.submitted == request.reference


def test_a_second_yes_returns_the_first_result(
    app: Flask, owner: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    first, second = act(browser, proposal_id), act(browser, proposal_id)
    assert first.get_json()["part"] == second.get_json()["part"]
    assert traces(owner, talk.who.group_id) == ALL


def test_the_same_step_of_a_conversation_is_filed_once(
    owner: Database, database: Database, talk: Talk
) -> None:
    state = talk.state()
    ids = set()
    for _ in range(2):
        with database.transaction(talk.who.scope) as session:
            begun_at = UUID(state.begun_at)
            filed = file_request(session, talk.thread_id, begun_at, state.by_id, "en")
            ids.add(filed.request.id)
    assert len(ids) == 1 and len(requests_of(owner, talk.who.group_id)) == 1


def test_what_was_filed_is_not_filed_in_other_words_as_if_it_were_the_same(
    owner: Database, database: Database, talk: Talk
) -> None:
    state = talk.state()
    begun_at = UUID(state.begun_at)
    with database.transaction(talk.who.scope) as session:
        shown = digest_of_state(state)
        file_request(session, talk.thread_id, begun_at, state.by_id, "en", shown)
    other = {**state.by_id, next(iter(state.by_id)): "Something else"}
    with database.transaction(talk.who.scope) as session, pytest.raises(Conflict):
        file_request(session, talk.thread_id, begun_at, other, "en")
    assert len(requests_of(owner, talk.who.group_id)) == 1


def test_what_says_something_else_than_was_shown_is_not_filed(
    owner: Database, database: Database, talk: Talk
) -> None:
    state = talk.state()
    shown = digest_of_state(replace(state, answers=(("Since when?", "Never"),)))
    begun_at = UUID(state.begun_at)
    with database.transaction(talk.who.scope) as session, pytest.raises(Conflict):
        file_request(session, talk.thread_id, begun_at, state.by_id, "en", shown)
    assert not requests_of(owner, talk.who.group_id)


def test_what_stands_in_another_category_by_now_is_shown_again_before_it_is_filed(
    app: Flask, owner: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    with owner.transaction() as session:
        pay = RequestType(
            group_id=talk.who.group_id, slug=new_id().hex, name_en="Pay", is_submittable=False
        )
        session.add(pay)
        session.flush()
        session.get_one(RequestType, talk.kind.id).parent_id = pay.id
    refused = act(browser, proposal_id)
    assert (
        refused.status_code == 409
        and "The request has changed since you saw it. Check it and answer again." in refused.text
    )
    assert not requests_of(owner, talk.who.group_id)


@pytest.mark.parametrize(
    ("table", "event", "when"),
    [
        ("service_request_counters", "INSERT", "true"),
        ("service_requests", "INSERT", "true"),
        ("files", "UPDATE", "true"),
        ("service_request_updates", "INSERT", "NEW.body = 'Since noon'"),
        ("notifications", "INSERT", "true"),
        ("audit_log", "INSERT", "NEW.action LIKE 'tool.%'"),
        ("messages", "UPDATE", "NEW.internal_content IS NOT NULL"),
        ("proposals", "UPDATE", "NEW.state = 'confirmed'"),
    ],
)
@pytest.mark.parametrize("by", [FAIL, BREAK_OFF], ids=["an error", "a lost connection"])
def test_whatever_fails_nothing_is_left_and_the_number_is_given_back(
    app: Flask,
    owner: Database,
    browser: CheckedClient,
    talk: Talk,
    table: str,
    event: str,
    when: str,
    by: str,
) -> None:
    proposal_id, group_id = talk.propose(app), talk.who.group_id
    assert browser.csrf_token
    with failing(owner, table, event, group_id, when=when, by=by):
        assert act(browser, proposal_id).status_code >= 500
    assert traces(owner, group_id) == NOTHING
    assert talk.state().is_open
    assert act(browser, proposal_id).status_code == 200
    assert traces(owner, group_id) == ALL


def test_a_commit_that_fails_leaves_nothing_either(
    app: Flask, owner: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id, group_id = talk.propose(app), talk.who.group_id
    with failing(owner, "service_requests", "INSERT", group_id, at_commit=True):
        assert act(browser, proposal_id).status_code >= 500
    assert traces(owner, group_id) == NOTHING
    assert act(browser, proposal_id).status_code == 200


def test_what_was_cancelled_or_says_something_else_by_now_is_not_filed(
    app: Flask, owner: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    talk.tell(priority="low")
    assert "has changed" in act(browser, proposal_id).get_json()["message"]
    talk.add({"type": "request_cancelled"})
    assert "was canceled" in act(browser, proposal_id).get_json()["message"]
    talk.begin()
    assert act(browser, proposal_id).status_code == 409
    assert traces(owner, talk.who.group_id) == NOTHING


def test_a_deleted_conversation_files_nothing(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, talk: Talk
) -> None:
    state, proposal_id = talk.state(), talk.propose(app)
    with database.transaction(talk.who.scope) as session:
        session.execute(
            update(Thread).where(Thread.id == talk.thread_id).values(deleted_at=utc_now())
        )
    assert act(browser, proposal_id).status_code == 404
    with pytest.raises(Conflict), database.transaction(talk.who.scope) as session:
        file_request(session, talk.thread_id, UUID(state.begun_at), state.by_id, "en")
    assert traces(owner, talk.who.group_id) == NOTHING


def test_nobody_else_files_it(
    app: Flask, owner: Database, database: Database, talk: Talk, technician: Member
) -> None:
    state, proposal_id = talk.state(), talk.propose(app)
    assert act(sign_in(app, owner, technician), proposal_id).status_code == 404
    with pytest.raises(Conflict), database.transaction(technician.scope) as session:
        file_request(session, talk.thread_id, UUID(state.begun_at), state.by_id, "en")
    assert traces(owner, talk.who.group_id) == NOTHING


def test_an_earlier_message_in_other_words_forgets_what_followed_it(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    first, last = talk.messages()[0], talk.messages()[-1]
    with database.session(talk.who.scope) as session:
        accept_message(
            session,
            thread_id=talk.thread_id,
            may_begin=False,
            message="Something else",
            language="en",
            instead_of=first.id,
        )
    assert not talk.state().is_open
    assert act(browser, proposal_id).status_code == 409
    with database.session(talk.who.scope) as session:
        show_branch(session, talk.thread_id, last.id)
    assert talk.state().values["title"] == "Oven"
    assert act(browser, proposal_id, "bring-back").status_code == 200
    assert act(browser, proposal_id).status_code == 200
    assert traces(owner, talk.who.group_id) == ALL


def test_what_says_something_else_than_what_was_filed_is_not_taken_for_it(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, member: Member,
    short: RequestType,
) -> None:  # fmt: skip
    """An earlier answer was changed after filing: "filed" was said of what nobody had written."""
    talk = start_talk(database, member, short)
    told = talk.tell(title="Oven", priority="high")
    talk.finish("It is cold", "Since noon")
    assert act(browser, talk.propose(app)).status_code == 200
    before = traces(owner, member.group_id)
    for answers in (("It is warm", "Since noon"), ("It is cold", "Since noon")):
        with owner.transaction() as session:
            session.execute(update(Thread).where(Thread.id == talk.thread_id).values(head_id=told))
        talk.finish(*answers)
        # Not even a card is shown for it.
        with pytest.raises(ToolFailure, match="filed already as SR-"):
            talk.propose(app)
    [request] = requests_of(owner, member.group_id)
    with owner.session() as session:
        query = select(RequestUpdate.body).where(RequestUpdate.request_id == request.id)
        assert "It is cold" in session.scalars(query).all()
    assert traces(owner, member.group_id)["updates"] == before["updates"]


def test_a_card_of_another_branch_is_not_called_filed_where_it_says_something_else(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, member: Member,
    short: RequestType,
) -> None:  # fmt: skip
    talk = start_talk(database, member, short)
    told = talk.tell(title="Oven", priority="high")
    talk.finish("It is cold", "Since noon")
    card = talk.propose(app)
    with owner.transaction() as session:
        session.execute(update(Thread).where(Thread.id == talk.thread_id).values(head_id=told))
    talk.finish("It is warm", "Since last week")
    assert act(browser, talk.propose(app)).status_code == 200
    assert not talk.state().is_open
    act(browser, card, "bring-back")
    answer = act(browser, card)
    assert answer.status_code == 409
    assert "Your request is filed" not in answer.text
    [request] = requests_of(owner, member.group_id)
    with owner.session() as session:
        query = select(RequestUpdate.body).where(RequestUpdate.request_id == request.id)
        assert "Since last week" in session.scalars(query).all()


def test_nothing_that_was_filed_is_taken_back_by_a_button(
    app: Flask, owner: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    assert act(browser, proposal_id, "undo").status_code == 409
    assert act(browser, proposal_id).status_code == 200
    assert act(browser, proposal_id, "undo").status_code == 409
    assert traces(owner, talk.who.group_id) == ALL


def test_what_was_solved_is_filed_closed_and_given_to_nobody(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, talk: Talk
) -> None:
    solved = ready_talk(database, talk.who, talk.kind)
    shown = {"type": "resolution_shown", "confidence_score": 91, "proposed_answer": "Reset it."}
    solved.add(shown, {"type": "resolution", "user_accepted": True})
    assert act(browser, solved.propose(app)).status_code == 200
    [request] = requests_of(owner, talk.who.group_id)
    assert (request.status, request.assignee_id) == ("closed", None)
    assert request.closed_at and request.resolved_at
    assert request.is_ai_resolution_attempted and request.is_ai_resolution_successful
    assert request.ai_resolution_confidence_score == 91
    assert traces(owner, talk.who.group_id)["told"] == 0


@pytest.mark.parametrize(
    ("before", "meanwhile"),
    [
        ([False], [True]),
        ([], [None]),
    ],
    ids=["what was declined is accepted elsewhere", "a solution that no card showed"],
)
def test_a_card_files_no_other_solution_than_it_showed(
    app: Flask,
    owner: Database,
    database: Database,
    browser: CheckedClient,
    talk: Talk,
    before: list[bool | None],
    meanwhile: list[bool | None],
) -> None:
    """Another tab has shown another branch, and the card was brought back from this one."""
    shown = {"type": "resolution_shown", "confidence_score": 91, "proposed_answer": "Reset it."}
    solved = ready_talk(database, talk.who, talk.kind)
    for said in before:
        solved.add(shown, {"type": "resolution", "user_accepted": said})
    card = solved.propose(app)
    for said in meanwhile:
        more = [{"type": "resolution", "user_accepted": said}] if said is not None else [shown]
        solved.add(*more)
    assert act(browser, card).status_code == 409
    assert requests_of(owner, talk.who.group_id) == []


def test_the_numbers_of_a_house_are_its_own(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, talk: Talk
) -> None:
    elsewhere = make_user(owner)
    other = ready_talk(database, elsewhere, make_type(owner, elsewhere.group_id, short_fields()))
    assert act(browser, talk.propose(app)).status_code == 200
    assert act(sign_in(app, owner, elsewhere), other.propose(app)).status_code == 200
    again = ready_talk(database, talk.who, talk.kind)
    assert act(browser, again.propose(app)).status_code == 200
    assert [each.number for each in requests_of(owner, talk.who.group_id)] == [1, 2]
    [theirs] = requests_of(owner, elsewhere.group_id)
    # Their type has no team: it waits until somebody takes it.
    assert (theirs.number, theirs.assignee_id, theirs.team_id) == (1, None, None)


# Files


def photo_of(talk: Talk) -> UUID:
    [photo] = talk.state().values["photos"]
    return UUID(photo["id"])


def test_a_file_that_is_gone_is_asked_for_again_and_nothing_is_filed(
    app: Flask, owner: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    with owner.transaction() as session:
        session.execute(delete(StoredFile).where(StoredFile.id == photo_of(talk)))
    answer = act(browser, proposal_id)
    assert answer.status_code == 422 and "Photos" in answer.get_json()["message"]
    assert traces(owner, talk.who.group_id) == NOTHING
    assert set(talk.state().problems) == {"photos"}
    assert talk.state().values["title"] == "Oven"


def test_a_file_belongs_to_one_request_however_many_are_filed_at_once(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, talk: Talk
) -> None:
    other = ready_talk(database, talk.who, talk.kind)
    other.tell(photos=[{"id": str(photo_of(talk))}])
    proposed = [talk.propose(app), other.propose(app)]
    browsers = [browser, sign_in(app, owner, talk.who)]
    assert all(each.csrf_token for each in browsers)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(act, browsers, proposed))
    assert traces(owner, talk.who.group_id)["kept files"] == 1
    refused = [each for each in answers if each.status_code != 200]
    lost = [each for each in answers if "could not be attached" in each.text]
    # The later one is either asked for another file, or told which one it has not got.
    assert len(refused) + len(lost) == 1
    assert [each.status_code for each in refused] in ([], [422])


def test_a_request_and_its_files_are_seen_by_its_requester_its_team_and_the_editors(
    app: Flask,
    owner: Database,
    database: Database,
    browser: CheckedClient,
    talk: Talk,
    technician: Member,
    colleague: Member,
    boss: Member,
    stranger: Member,
) -> None:
    photo, proposal_id = photo_of(talk), talk.propose(app)
    with owner.transaction() as session:
        app.extensions["comanda"].files.put(session.get_one(StoredFile, photo).key, b"A leak")
    assert not sees(database, technician, StoredFile, photo), "it is still a draft's"
    assert act(browser, proposal_id).status_code == 200
    [request] = requests_of(owner, talk.who.group_id)
    for who, may in (
        (talk.who, True), (technician, True), (boss, True), (colleague, False), (stranger, False),
    ):  # fmt: skip
        assert sees(database, who, StoredFile, photo) is may
        assert sees(database, who, ServiceRequest, request.id) is may
        assert sees(database, who, RequestUpdate, None) is may
        download = sign_in(app, owner, who).get(f"/requests/{request.id}/files/{photo}")
        assert download.status_code == (200 if may else 404)
        if may:
            assert download.headers["Content-Disposition"].startswith("attachment")
    with owner.transaction() as session:
        session.execute(delete(TeamMember).where(TeamMember.user_id == technician.user_id))
    assert not sees(database, technician, ServiceRequest, request.id)


def sees(database: Database, who: Member, model: Any, row_id: UUID | None) -> bool:
    """Whether a query without any predicate finds the row (any, where none is named)."""
    with database.transaction(who.scope) as session:
        query = select(model.id)
        return bool(
            session.scalars(query if row_id is None else query.where(model.id == row_id)).all()
        )


# Whom it is given to


def test_whoever_looks_after_their_own_request_is_told_so(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, member: Member
) -> None:
    kind = make_type(owner, member.group_id, short_fields(), team=[member])
    answered = act(browser, ready_talk(database, member, kind).propose(app))
    told = answered.get_json()["part"]["summary"]
    assert told["en"].endswith(". It is assigned to you.")
    assert told["es"].endswith(". Está asignada a ti.")


def test_whoever_of_the_team_has_least_to_do_is_given_it_if_they_are_still_there(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, member: Member
) -> None:
    team = [make_user(owner, member.group_id) for _ in range(3)]
    kind = make_type(owner, member.group_id, short_fields(), team=team)
    for _ in range(6):
        assert act(browser, ready_talk(database, member, kind).propose(app)).status_code == 200
    given = [each.assignee_id for each in requests_of(owner, member.group_id)]
    assert sorted(given, key=str) == sorted([each.user_id for each in team] * 2, key=str)
    with owner.transaction() as session:
        session.execute(update(User).where(User.id == team[0].user_id).values(is_active=False))
        session.execute(
            update(ServiceRequest)
            .where(ServiceRequest.assignee_id == team[1].user_id)
            .values(status="closed")
        )
    for _ in range(2):
        assert act(browser, ready_talk(database, member, kind).propose(app)).status_code == 200
    later = [each.assignee_id for each in requests_of(owner, member.group_id)][6:]
    assert later == [team[1].user_id] * 2


def test_the_team_of_another_house_tells_nobodys_name(
    owner: Database, database: Database, short: RequestType, stranger: Member
) -> None:
    with database.transaction(stranger.scope) as session:
        found = session.scalar(text("SELECT least_busy_member(:id)"), {"id": short.team_id})
    assert found is None


# At once


def test_confirming_and_going_on_at_the_same_time_do_not_wait_for_each_other(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    assert browser.csrf_token
    holds, answers = threading.Event(), []

    def go_on() -> None:
        with database.transaction(talk.who.scope) as session:
            lock_thread(session, talk.thread_id)
            holds.set()
            # As long as it takes the other one to come as far as it can.
            session.execute(text("SELECT pg_sleep(0.5)"))
            set_aside(session, talk.thread_id)

    def confirm() -> None:
        holds.wait(5)
        answers.append(act(browser, proposal_id).status_code)

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(go_on), pool.submit(confirm)]:
            each.result()
    assert answers == [409]
    assert traces(owner, talk.who.group_id) == NOTHING


def test_an_answer_that_comes_while_it_is_filed_changes_nothing_of_it(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, talk: Talk
) -> None:
    proposal_id = talk.propose(app)
    browsers = [browser, sign_in(app, owner, talk.who)]
    assert all(each.csrf_token for each in browsers)
    step = {"type": "request_cancelled"}
    path, headers = f"/chat/{talk.thread_id}/messages", {"X-CSRFToken": browsers[1].csrf_token}

    def cancel() -> int:
        body = {"internal_content": step, "message_key": new_id().hex}
        return browsers[1].client.post(path, json=body, headers=headers).status_code

    with ThreadPoolExecutor(2) as pool:
        filed, cancelled = pool.submit(act, browser, proposal_id), pool.submit(cancel)
        statuses = (filed.result().status_code, cancelled.result())
    assert statuses in ((200, 409), (409, 200)), statuses
    assert len(requests_of(owner, talk.who.group_id)) == (statuses[0] == 200)
