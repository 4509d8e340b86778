"""An agent's reply in the conversation that the request came from: there, at once, and theirs."""

from __future__ import annotations

from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.assistant.models import Message, Thread
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.threads.steps import load_steps
from app.assistant.turns.events import EventLog
from app.db import Database, new_id, utc_now
from app.extensions import Services
from app.skills.service_requests.models import RequestType, ServiceRequest
from app.skills.service_requests.workflow.state import OpenRequest
from app.skills.service_requests.workflow.state_loader import load_state_at_head
from tests.assistant.scripted import ScriptedProvider, say
from tests.factories import CheckedClient, Member, answer, ask, make_thread, make_user
from tests.factories.service_requests import make_request, make_team, read_updates
from tests.skills.service_requests.building import start_talk


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    """The conversation that the request came from."""
    return make_thread(database, member, "The walk-in is not cooling")


@pytest.fixture
def request_(owner: Database, member: Member, team: UUID, thread_id: UUID) -> ServiceRequest:
    return make_request(owner, member, team_id=team, thread_id=thread_id)


def reply(client: CheckedClient, request: ServiceRequest, words: str, key: str = "k") -> None:
    form = {"words": words, "message_key": key}
    assert client.post(f"/requests/{request.id}/replies", **form).status_code == 303


def replies_in(owner: Database, thread_id: UUID) -> list[Message]:
    with owner.session() as session:
        query = select(Message).where(Message.thread_id == thread_id, Message.role == "agent")
        return list(session.scalars(query.order_by(Message.id)))


def test_a_reply_is_the_last_message_of_the_conversation_once(
    owner: Database, at_work: CheckedClient, thread_id: UUID, request_: ServiceRequest
) -> None:
    reply(at_work, request_, "I bring a fan at 3")
    reply(at_work, request_, "I bring a fan at 3")
    [said] = replies_in(owner, thread_id)
    with owner.session() as session:
        thread = session.get(Thread, thread_id)
        assert thread is not None
        assert thread.head_id == said.id
    assert said.internal_content == {
        "type": "agent_reply",
        "request_id": str(request_.id),
        "reference": request_.reference,
        "author": "Tina Tech",
    }


def test_pages_that_have_it_open_are_told(
    on: Services, at_work: CheckedClient, owner: Database, thread_id: UUID, request_: ServiceRequest
) -> None:
    log = EventLog(on.redis)
    before = log.tip(thread_id)
    reply(at_work, request_, "Soon")
    [event] = log.after(thread_id, before) or []
    [said] = replies_in(owner, thread_id)
    assert (event.type, event.payload) == (
        "message", {"message_id": str(said.id), "role": "agent", "status": "complete"}
    )  # fmt: skip


def test_the_chat_draws_it_with_its_author_and_the_way_to_answer(
    browser: CheckedClient, at_work: CheckedClient, owner: Database, thread_id: UUID,
    request_: ServiceRequest,
) -> None:  # fmt: skip
    reply(at_work, request_, "<script>alert(1)</script> **soon**")
    page = browser.page(f"/chat/{thread_id}")
    [said] = replies_in(owner, thread_id)
    bubble = page.find("article", id=f"m-{said.id}")
    assert "Tina Tech" in bubble.text
    assert "<script>alert(1)</script> **soon**" in bubble.text
    assert bubble.find_all("a", href=f"/requests/{request_.id}#answer")
    # It is nobody's to rate, to ask again, or to change.
    assert bubble.find_all("form") == []
    alone = browser.fragment(f"/chat/{thread_id}/messages/{said.id}?missed")
    assert "Tina Tech" in alone.text


def test_what_colleagues_write_is_neither_a_step_nor_part_of_what_a_model_reads(
    app: Flask, database: Database, at_work: CheckedClient, thread_id: UUID, member: Member,
    request_: ServiceRequest,
) -> None:  # fmt: skip
    reply(at_work, request_, "Is it still warm?")
    with database.session(member.scope) as session:
        thread = session.get(Thread, thread_id)
        assert thread is not None
        assert load_steps(session, thread_id, thread.head_id) == []
    model = ScriptedProvider(say("Good."))
    answer(app, member, ask(database, member, "yes", thread_id), model)
    told = [message.text for message in model.requests[0].messages]
    assert "yes" in told[-1]
    assert not any("still warm" in words for words in told)


def test_it_is_found_by_its_words_and_exported_with_its_author(
    on: Services, database: Database, browser: CheckedClient, at_work: CheckedClient,
    thread_id: UUID, member: Member, request_: ServiceRequest,
) -> None:  # fmt: skip
    reply(at_work, request_, "The compressor is ordered")
    assert "1 chat has these words." in browser.page("/chats?q=compressor").text
    response = browser.get(f"/chats/{thread_id}/export.md")
    exported = response.text
    assert f"## Tina Tech · {request_.reference}" in exported
    assert "> The compressor is ordered" in exported


def test_a_conversation_that_is_gone_leaves_the_reply_on_the_page(
    owner: Database, browser: CheckedClient, at_work: CheckedClient, thread_id: UUID,
    request_: ServiceRequest,
) -> None:  # fmt: skip
    with owner.transaction() as session:
        thread = session.get(Thread, thread_id)
        assert thread is not None
        thread.deleted_at = utc_now()
    reply(at_work, request_, "Still coming")
    assert replies_in(owner, thread_id) == []
    assert [each.body for each in read_updates(owner, request_)] == ["Still coming"]
    assert "Still coming" in browser.page(f"/requests/{request_.id}").text


def test_what_the_requester_answers_stands_on_the_page_and_not_in_the_chat(
    owner: Database, browser: CheckedClient, at_work: CheckedClient, thread_id: UUID,
    request_: ServiceRequest,
) -> None:  # fmt: skip
    reply(browser, request_, "It drips, too")
    assert replies_in(owner, thread_id) == []
    assert "It drips, too" in at_work.page(f"/requests/{request_.id}").text


def test_the_door_lets_nobody_else_into_somebodys_conversation(
    owner: Database, database: Database, member: Member, colleague: Member, stranger: Member,
    thread_id: UUID, request_: ServiceRequest,
) -> None:  # fmt: skip
    door = text("SELECT reply_in_thread(:request, :message, 'words', 'en', '{}'::jsonb)")
    for other in (colleague, stranger, make_user(owner, member.group_id)):
        with database.transaction(other.scope) as session:
            asked = {"request": request_.id, "message": new_id()}
            assert session.scalar(door, asked) is None
    assert replies_in(owner, thread_id) == []


def test_a_question_is_answered_though_somebody_of_the_team_has_written_since(
    app: Flask, owner: Database, database: Database, member: Member, technician: Member,
    at_work: CheckedClient, short: RequestType, on: Services,
) -> None:  # fmt: skip
    """About an earlier request, into the conversation in which the next one is collected."""
    thread_id = start_talk(database, member, short).thread_id
    earlier = make_request(
        owner, member, team_id=make_team(owner, member.group_id, [technician]), thread_id=thread_id
    )

    def say_to(words: str) -> Message:
        question = ask(database, member, words, thread_id)
        return answer(app, member, question, BuiltinProvider(on.embedder))

    for words in ("The oven does not heat", "high"):
        asked = say_to(words)
    assert "?" in asked.content
    reply(at_work, earlier, "We look at it on Monday")
    reply(at_work, earlier, "Or on Tuesday", "l")
    said = say_to("It has been like that since the morning of yesterday")
    assert "That did not work" not in said.content
    with database.transaction(member.scope) as session:
        state = load_state_at_head(session, thread_id, "en")
    assert isinstance(state, OpenRequest)
    assert [text for _, text in state.answers] == [
        "It has been like that since the morning of yesterday"
    ]
