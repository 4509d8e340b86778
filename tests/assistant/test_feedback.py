"""Thumbs under a reply: one row a person and reply, changed, taken back, read by admins."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import insert, select, update
from sqlalchemy.exc import DBAPIError

from app.assistant.feedback.feedback import RATEABLE, REASONS, load_reply, rate_reply
from app.assistant.feedback.inbox import PAGE_FEEDBACK, received_feedback
from app.assistant.models import Message, MessageFeedback, Thread
from app.assistant.threads.threads import latest_messages
from app.db import Database, new_id, utc_now
from app.errors import Forbidden
from tests.factories import CheckedClient, Member, make_thread, make_user, sign_in


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    return make_thread(database, member, "How long?", reply="Two hours. **At most.**")


@pytest.fixture
def reply(database: Database, member: Member, thread_id: UUID) -> Message:
    return reply_in(database, member, thread_id)


@pytest.fixture
def address(reply: Message) -> str:
    return f"/chat/{reply.thread_id}/messages/{reply.id}/feedback"


def reply_in(database: Database, member: Member, thread_id: UUID) -> Message:
    with database.transaction(member.scope) as session:
        return latest_messages(session, thread_id)[-1]


def given(owner: Database, reply: Message) -> list[tuple[str, str, str]]:
    with owner.transaction() as session:
        rows = session.scalars(
            select(MessageFeedback).where(MessageFeedback.message_id == reply.id)
        ).all()
    return [(row.rating, row.reason, row.comment) for row in rows]


def pressed(page: Any, name: str) -> str:
    [button] = page.find_all("button", aria_label=name)
    return str(button.attributes["aria-pressed"])


def test_a_good_answer_is_noted_at_once(
    browser: CheckedClient, owner: Database, reply: Message, address: str
) -> None:
    fragment = browser.post_fragment(address, rating="up")
    assert given(owner, reply) == [("up", "", "")]
    assert pressed(fragment, "Good answer") == "true"
    assert pressed(fragment, "Bad answer") == "false"
    assert "Thank you" in fragment.text
    page = browser.page(f"/chat/{reply.thread_id}")
    assert pressed(page, "Good answer") == "true"


def test_a_bad_one_is_asked_about_before_anything_is_stored(
    browser: CheckedClient, owner: Database, reply: Message, address: str
) -> None:
    fragment = browser.fragment(address)
    assert "What is wrong with this answer?" in fragment.text
    reasons = [radio.attributes["value"] for radio in fragment.find_all("input", type="radio")]
    assert tuple(reasons) == REASONS
    assert "hx-morph-skip" in fragment.find_all("div")[0].attributes
    assert given(owner, reply) == []
    closed = browser.fragment(f"{address}?closed")
    assert not closed.find_all("input", type="radio")
    assert given(owner, reply) == []


@pytest.mark.parametrize("reason", ["", *REASONS])
def test_the_reason_and_a_remark_go_along(
    browser: CheckedClient, owner: Database, reply: Message, address: str, reason: str
) -> None:
    fragment = browser.post_fragment(
        address, rating="down", reason=reason, comment="  It is\none hour\0 "
    )
    assert given(owner, reply) == [("down", reason, "It is one hour")]
    assert pressed(fragment, "Bad answer") == "true"
    assert not fragment.find_all("input", type="radio"), "the form stays open"


def test_a_mind_can_be_changed_and_taken_back(
    browser: CheckedClient, owner: Database, reply: Message, address: str
) -> None:
    browser.post(address, htmx=True, rating="down", reason="wrong", comment="No")
    form = browser.fragment(address)
    checked = [r for r in form.find_all("input", type="radio") if "checked" in r.attributes]
    assert [radio.attributes["value"] for radio in checked] == ["wrong"]
    assert form.find("input", name="comment").attributes["value"] == "No"
    browser.post(address, htmx=True, rating="up", reason="wrong", comment="ignored")
    assert given(owner, reply) == [("up", "", "")]
    browser.post(address, htmx=True, rating="none")
    assert given(owner, reply) == []
    browser.post(address, htmx=True, rating="none")
    assert given(owner, reply) == []


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"rating": "down", "comment": "x" * 501}, "That is 501 characters"),
        ({"rating": "down", "reason": "ugly"}, "Choose one of the options."),
        ({"rating": "sideways"}, "Choose one of the options."),
        ({}, "Choose one of the options."),
    ],
)
@pytest.mark.parametrize("htmx", [True, False], ids=["htmx", "plain"])
def test_what_cannot_be_taken_comes_back_with_the_reason(
    browser: CheckedClient,
    owner: Database,
    reply: Message,
    address: str,
    form: dict[str, str],
    said: str,
    htmx: bool,
) -> None:
    answer = browser.post(address, htmx=htmx, **form)
    assert answer.status_code == 422
    assert said in answer.text
    assert form.get("comment", "") in answer.text
    assert given(owner, reply) == []


def test_without_scripts_there_is_a_page_and_the_way_back(
    browser: CheckedClient, owner: Database, reply: Message, address: str
) -> None:
    page = browser.page(address)
    assert page.find("h1").text == "About this answer"
    assert "Two hours." in page.text
    answer = browser.post(address, rating="down", reason="unclear")
    assert answer.status_code == 303
    assert answer.location == f"/chat/{reply.thread_id}#m-{reply.id}"
    assert given(owner, reply) == [("down", "unclear", "")]


@pytest.mark.parametrize("status", ["queued", "streaming", "failed"])
def test_what_is_not_finished_or_has_failed_cannot_be_judged(
    browser: CheckedClient,
    database: Database,
    member: Member,
    reply: Message,
    address: str,
    status: str,
) -> None:
    with database.transaction(member.scope) as session:
        session.execute(update(Message).where(Message.id == reply.id).values(status=status))
    page = browser.page(f"/chat/{reply.thread_id}")
    assert not page.find_all("button", aria_label="Good answer")
    assert browser.get(address).status_code == 404
    assert browser.post(address, rating="up").status_code == 404


def test_every_finished_reply_can_be_judged_and_no_question(
    browser: CheckedClient, database: Database, member: Member, reply: Message
) -> None:
    for status in RATEABLE:
        with database.transaction(member.scope) as session:
            session.execute(update(Message).where(Message.id == reply.id).values(status=status))
        page = browser.page(f"/chat/{reply.thread_id}")
        assert len(page.find_all("button", aria_label="Good answer")) == 1, status
    with database.transaction(member.scope) as session:
        question = latest_messages(session, reply.thread_id)[0]
    asked = f"/chat/{reply.thread_id}/messages/{question.id}/feedback"
    assert browser.post(asked, rating="up").status_code == 404


@pytest.mark.parametrize("status", RATEABLE)
def test_an_answer_without_a_word_is_not_judged_and_one_that_is_a_card_is(
    browser: CheckedClient,
    database: Database,
    member: Member,
    reply: Message,
    address: str,
    status: str,
) -> None:
    card = {"type": "notice", "kind": "limit", "text": "That was all."}
    for parts, thumbs in (([], 0), ([card], 1)):
        with database.transaction(member.scope) as session:
            session.execute(
                update(Message)
                .where(Message.id == reply.id)
                .values(status=status, content=" ", parts=parts)
            )
        page = browser.page(f"/chat/{reply.thread_id}")
        assert len(page.find_all("button", aria_label="Good answer")) == thumbs
        assert browser.get(address).status_code == (200 if thumbs else 404)


@pytest.mark.parametrize("who", ["a colleague", "another group"])
def test_what_is_not_yours_cannot_be_judged(
    app: Flask, owner: Database, member: Member, reply: Message, address: str, who: str
) -> None:
    group = member.group_id if who == "a colleague" else None
    other = sign_in(app, owner, make_user(owner, group, role="admin"))
    assert other.get(address).status_code == 404
    assert other.post(address, rating="up").status_code == 404
    assert given(owner, reply) == []


def test_a_deleted_conversation_is_out_of_reach(
    browser: CheckedClient, database: Database, member: Member, reply: Message, address: str
) -> None:
    with database.transaction(member.scope) as session:
        session.execute(
            update(Thread).where(Thread.id == reply.thread_id).values(deleted_at=utc_now())
        )
    assert browser.post(address, rating="up").status_code == 404


def test_the_address_works_in_no_other_way(browser: CheckedClient, address: str) -> None:
    for method in ("put", "delete", "patch"):
        # Without a token it does not come that far.
        headers = {"X-CSRFToken": browser.csrf_token}
        answer = getattr(browser.client, method)(address, headers=headers)
        assert answer.status_code == 405, method


def test_a_form_without_its_token_is_refused(
    browser: CheckedClient, owner: Database, reply: Message, address: str
) -> None:
    assert browser.post(address, token=False, rating="up").status_code == 400
    assert given(owner, reply) == []


def test_a_stranger_is_asked_to_sign_in(app: Flask, address: str) -> None:
    assert app.test_client().get(address).location.startswith("/sign-in")


# What admins are told


def test_an_admin_reads_what_was_said_and_of_which_turn(
    owner: Database, database: Database, member: Member, reply: Message
) -> None:
    boss = make_user(owner, member.group_id, role="admin")
    with database.session(member.scope) as session:
        own = load_reply(session, reply.thread_id, reply.id)
        rate_reply(session, own, "down", "outdated", "The price is another")
    with database.transaction(boss.scope) as session:
        [told] = received_feedback(session)
        assert (told.rating, told.reason, told.comment) == (
            "down",
            "outdated",
            "The price is another",
        )
        assert told.turn_id == reply.turn_id is not None
        assert told.message_id == reply.id
        # The conversation itself stays its person's own.
        assert session.get(Message, told.message_id) is None
        assert received_feedback(session, rating="up") == []
        assert received_feedback(session, rating="down", reason="outdated") == [told]
        assert received_feedback(session, reason="wrong") == []


def test_it_is_listed_a_page_at_a_time_the_newest_first(
    owner: Database, database: Database, member: Member
) -> None:
    boss = make_user(owner, member.group_id, role="admin")
    thread_id = make_thread(database, member, "One", "Two", "Three")
    with database.session(member.scope) as session:
        replies = [m for m in latest_messages(session, thread_id) if m.role == "assistant"]
        for each in replies:
            rate_reply(session, each, "up")
    with database.transaction(boss.scope) as session:
        first = received_feedback(session, limit=2)
        rest = received_feedback(session, before=first[-1].id)
    told = [each.message_id for each in (*first, *rest)]
    assert told == [each.id for each in reversed(replies)]
    assert len(told) < PAGE_FEEDBACK


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_nobody_else_is_told(
    owner: Database, database: Database, member: Member, role: str
) -> None:
    asking = make_user(owner, member.group_id, role=role)
    with database.transaction(asking.scope) as session, pytest.raises(Forbidden):
        received_feedback(session)


# The second lock


def test_without_the_predicate_a_colleague_sees_nothing_and_an_admin_only_reads(
    owner: Database, database: Database, member: Member, reply: Message
) -> None:
    with database.session(member.scope) as session:
        rate_reply(session, load_reply(session, reply.thread_id, reply.id), "down", "wrong")
    manager = make_user(owner, member.group_id, role="manager")
    stranger = make_user(owner, role="admin")
    boss = make_user(owner, member.group_id, role="admin")
    everything = select(MessageFeedback.id)
    for other, rows in ((manager, 0), (stranger, 0), (boss, 1)):
        with database.transaction(other.scope) as session:
            assert len(session.scalars(everything).all()) == rows, other.role
            changed = session.execute(update(MessageFeedback).values(comment="planted"))
            assert changed.rowcount == 0  # type: ignore[attr-defined]
    assert given(owner, reply) == [("down", "wrong", "")]


@pytest.mark.parametrize("about", ["another's reply", "another's thread", "a question"])
def test_nobody_can_plant_a_judgement_on_what_is_not_theirs(
    owner: Database, database: Database, member: Member, reply: Message, about: str
) -> None:
    other = make_user(owner, member.group_id)
    own_thread = make_thread(database, other)
    with database.transaction(other.scope) as session:
        question, answer = latest_messages(session, own_thread)
    message = {"another's reply": reply, "another's thread": answer, "a question": question}[about]
    row = {
        "id": new_id(),
        "group_id": other.group_id,
        "user_id": other.user_id,
        "message_id": message.id,
        "thread_id": reply.thread_id if about == "another's thread" else message.thread_id,
        "rating": "down",
    }
    with (
        pytest.raises(DBAPIError, match="row-level security"),
        database.transaction(other.scope) as session,
    ):
        session.execute(insert(MessageFeedback).values(**row))
