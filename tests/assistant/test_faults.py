"""Faults over real HTTP: killed, frozen and stopped processes lose nothing and double nothing."""

from __future__ import annotations

import os
import secrets
import signal
import time
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError

from app.config import Settings
from app.db import Database, app_database
from app.text.plain_text import clean_text
from tests.assistant.chatting import (
    WHOLE,
    WORDS,
    at_once,
    check_ids,
    finished_reply,
    listening,
    messages,
    pid_of,
    replies,
    running_turn,
    slow,
    turn_of,
)
from tests.assistant.processes import Processes, Program, frozen, serving_process, wait_until
from tests.assistant.web_client import StreamReader, WebClient
from tests.factories import Member
from tests.factories.browser import check_elements
from tests.html_checks import parse_html
from tests.model_server import CutAfter, HttpError, ModelServer, Say, scenario
from tests.script_payloads import PAYLOADS
from tests.text.test_markdown import check_model_html

Web = tuple[Program, int]


@pytest.fixture
def person(app: Flask, owner: Database, member: Member, web: Web) -> WebClient:
    """A signed-in browser on the real server."""
    return WebClient(app, owner, member, web[1])


# What works when nothing goes wrong


def test_an_answer_is_streamed_in_small_deltas_and_stored(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(slow(1.5, when="smoothly"))
    thread_id = person.new_id()
    with listening(person, thread_id, "smoothly please") as reader:
        reader.wait_for("done")
        check_ids(reader)
        assert reader.text() == WHOLE
        tokens = reader.of("token")
        assert 5 < len(tokens) <= 40, "coalesced, but not much"
        assert all(len(token.payload["text"]) < 200 for token in tokens)
        assert reader.headers["X-Accel-Buffering"] == "no"
        assert reader.headers["Cache-Control"] == "no-store"
    reply = finished_reply(owner, thread_id)
    assert (reply.content, reply.status) == (WHOLE, "complete")
    assert (reply.provider, reply.degraded) == ("openai", False)
    assert reply.first_token_ms is not None
    assert reply.latency_ms is not None
    assert 0 <= reply.first_token_ms <= reply.latency_ms < 10_000


def test_a_page_opened_in_the_middle_goes_on_where_its_snapshot_ends(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(slow(4, when="reload"))
    thread_id = person.new_id()
    person.send(thread_id, "reload", message_key=uuid4().hex)
    wait_until(lambda: "word5" in replies(owner, thread_id)[0].content)
    page = parse_html(person.get(f"/chat/{thread_id}").text.removeprefix("<!doctype html>"))
    bubble = page.find_all("article")[-1]
    assert bubble.attributes["data-status"] == "streaming"
    [tail] = [each for each in bubble if each.has_class("tail")]
    shown = "".join(each for each in tail.contents if isinstance(each, str))
    assert shown.startswith("word0 word1 word2")
    with StreamReader(person, thread_id, after=bubble.attributes["data-cursor"]) as reader:
        reader.wait_for("done")
        assert shown + reader.text() == WHOLE


def test_a_second_device_follows_live(
    app: Flask,
    person: WebClient,
    runners: None,
    shared_model: ModelServer,
    owner: Database,
    member: Member,
) -> None:
    shared_model.script(slow(1, when="devices"))
    other = WebClient(app, owner, member, person.port)
    thread_id = person.new_id()
    with listening(person, thread_id, "devices") as first, StreamReader(other, thread_id) as second:
        first.wait_for("done")
        second.wait_for("done")
        assert [event.id for event in first.received] == [event.id for event in second.received]
        assert [event.payload["role"] for event in second.of("message")][:2] == [
            "user",
            "assistant",
        ]


@pytest.mark.fault(25)
def test_script_payloads_from_a_model_arrive_as_harmless_html(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    # A cited number is invented here, and would be left out.
    said = "\n\n".join(each for each in PAYLOADS if "[1" not in each) + "\n\nThe end."
    shared_model.script(scenario(Say(said, sizes=7, delay=0.002), when="attack"))
    thread_id = person.new_id()
    with listening(person, thread_id, "attack me") as reader:
        reader.wait_for("done")
        blocks = reader.of("block")
        # Small ones that are finished together come together.
        assert "".join(block.payload["html"] for block in blocks).count("<p>") > 20
        for block in blocks:
            check_model_html(block.payload["html"])
    reply = finished_reply(owner, thread_id)
    # Control characters go; everything else is kept as it was said.
    assert reply.content == clean_text(said)
    page = person.get(f"/chat/{thread_id}")
    root = parse_html(page.text.removeprefix("<!doctype html>"))
    check_elements(root, page.headers["Content-Security-Policy"].split("'nonce-")[1].split("'")[0])
    [shown] = [element for element in root.find_all("div") if element.has_class("blocks")]
    assert not [each for each in shown if each.tag in ("a", "img", "script", "svg", "iframe")]
    assert "The end." in shown.text


# Fault 1: a web worker is killed


@pytest.mark.fault(1)
def test_a_killed_web_worker_loses_and_doubles_nothing(
    person: WebClient, web: Web, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(slow(3, when="killing"))
    program, port = web
    thread_id = person.new_id()
    with listening(person, thread_id, "killing") as reader:
        for _ in range(2):
            reader.wait_for_more(5)
            connects = reader.connects
            victim = serving_process(program.children(), port, reader.local_port)
            os.kill(victim, signal.SIGKILL)
            reader.wait_for_connects(connects + 1)
        reader.wait_for("done")
        check_ids(reader)
        assert reader.text() == WHOLE
    assert finished_reply(owner, thread_id).content == WHOLE


@pytest.mark.fault(1)
def test_a_lost_connection_is_resumed_without_a_gap(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(slow(2, when="tunnel"))
    thread_id = person.new_id()
    with listening(person, thread_id, "tunnel") as reader:
        for _ in range(3):
            reader.wait_for_more(5)
            connects = reader.connects
            reader.drop()
            reader.wait_for_connects(connects + 1)
        reader.wait_for("done")
        check_ids(reader)
        assert reader.text() == WHOLE


# Faults 2 and 3: a runner is killed, or frozen past its lease


@pytest.mark.fault(2)
def test_a_killed_runners_turn_is_finished_by_another_one(
    person: WebClient,
    runners: None,
    processes: Processes,
    shared_model: ModelServer,
    owner: Database,
) -> None:
    shared_model.script(slow(1.5, when="runner dies"))
    thread_id = person.new_id()
    with listening(person, thread_id, "runner dies") as reader:
        reader.wait_for("token", 5)
        turn = running_turn(owner, thread_id)
        killed_at = time.monotonic()
        processes.kill_runner(pid_of(turn))
        reader.wait_for("done", seconds=15)
        assert time.monotonic() - killed_at < 15
        check_ids(reader)
        assert [event.type for event in reader.received].count("reset") == 1
        assert reader.text() == WHOLE
    reply = finished_reply(owner, thread_id)
    assert (reply.content, reply.status) == (WHOLE, "complete")
    done = turn_of(owner, thread_id)
    assert (done.status, done.attempts, done.fence) == ("done", 2, 2)
    assert pid_of(done) != pid_of(turn)


@pytest.mark.fault(3)
def test_a_frozen_runner_is_fenced_when_it_wakes_up(
    person: WebClient,
    runners: None,
    processes: Processes,
    shared_model: ModelServer,
    owner: Database,
) -> None:
    shared_model.script(slow(1.5, when="runner freezes"))
    thread_id = person.new_id()
    with listening(person, thread_id, "runner freezes") as reader:
        reader.wait_for("token", 5)
        with frozen(processes.runner(pid_of(running_turn(owner, thread_id)))):
            wait_until(lambda: turn_of(owner, thread_id).fence == 2)
            reader.wait_for("reset")
        # It wakes while the other one speaks, with its own answer half said.
        reader.wait_for("done")
        time.sleep(1)
        check_ids(reader)
        assert reader.text() == WHOLE
        assert len(reader.of("done")) == 1
    reply = finished_reply(owner, thread_id)
    assert (reply.content, reply.status) == (WHOLE, "complete")
    assert turn_of(owner, thread_id).attempts == 2


@pytest.mark.fault(3)
def test_what_a_runner_had_locked_when_it_was_stopped_is_free_after_seconds(
    settings: Settings, member: Member, owner: Database
) -> None:
    stopped = app_database(settings, pool_size=1, idle_seconds=0.2)
    locking = select(func.pg_advisory_xact_lock(secrets.randbits(32)))
    with stopped.session(member.scope) as session:
        session.execute(locking)
        with owner.transaction() as other:
            other.execute(text("SET LOCAL lock_timeout = '30s'"))
            other.execute(locking)
        # Its connection is gone when it goes on.
        with pytest.raises(SQLAlchemyError):
            session.commit()
    with stopped.transaction(member.scope) as session:
        assert session.scalar(select(1)) == 1
    stopped.engine.dispose()


@pytest.mark.fault(11)
def test_a_runner_that_is_told_to_end_finishes_what_it_has_begun(
    person: WebClient,
    runners: None,
    processes: Processes,
    shared_model: ModelServer,
    owner: Database,
) -> None:
    shared_model.script(slow(2, when="deploy"))
    thread_id = person.new_id()
    person.send(thread_id, "deploy", message_key=uuid4().hex)
    turn = running_turn(owner, thread_id)
    ending = processes.runner(pid_of(turn))
    ending.signal(signal.SIGTERM)
    reply = finished_reply(owner, thread_id)
    assert reply.content == WHOLE
    assert turn_of(owner, thread_id).attempts == 1
    assert ending.process.wait(timeout=10) == 0


# Fault 21: stop


@pytest.mark.fault(21)
def test_stop_closes_the_call_to_the_model_at_once_and_keeps_the_text(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(slow(20, when="halt"))
    thread_id = person.new_id()
    with listening(person, thread_id, "halt") as reader:
        reader.wait_for("token", 3)
        call = wait_until(lambda: shared_model.last_call_about("halt"))
        pressed = time.monotonic()
        assert person.post(f"/chat/{thread_id}/stop").status == 204
        assert call.client_left.wait(5)
        reader.wait_for("done", seconds=5)
        assert time.monotonic() - pressed < 5, "long before the model would have ended"
        assert reader.of("done")[0].payload["status"] == "stopped"
        reply = finished_reply(owner, thread_id)
        assert reply.status == "stopped"
        assert reply.content
        assert WHOLE.startswith(reply.content)
        assert reader.text() == reply.content


def test_after_a_stop_the_next_message_is_answered_with_what_was_said(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(
        slow(20, when="first part"), scenario(Say("As I was saying."), when="and then")
    )
    thread_id = person.new_id()
    with listening(person, thread_id, "first part") as reader:
        reader.wait_for("token", 3)
        person.post(f"/chat/{thread_id}/stop")
        person.send(thread_id, "and then?", message_key=uuid4().hex)
        reader.wait_for("done", 2)
    first, second = replies(owner, thread_id)
    assert (first.status, second.content) == ("stopped", "As I was saying.")
    call = wait_until(lambda: shared_model.last_call_about("and then?"))
    told = [(m["role"], m["content"]) for m in call.messages[1:]]
    assert told == [("user", "first part"), ("assistant", first.content), ("user", "and then?")]


@pytest.mark.fault(21)
def test_stop_while_a_tool_or_a_silent_model_is_waited_for(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(scenario(Say("late", after=20), when="silence"))
    thread_id = person.new_id()
    with listening(person, thread_id, "silence") as reader:
        call = wait_until(lambda: shared_model.last_call_about("silence"))
        person.post(f"/chat/{thread_id}/stop")
        assert call.client_left.wait(5)
        reader.wait_for("done", seconds=5)
    reply = finished_reply(owner, thread_id)
    assert (reply.status, reply.content) == ("stopped", "")


# Fault 15: the same message twice, and two messages at once


@pytest.mark.fault(15)
def test_a_double_click_is_one_turn(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(scenario(Say("Once."), when="double"))
    thread_id, key = person.new_id(), uuid4().hex
    assert person.csrf_token, "known before all of them want it"
    answers = at_once(
        *[lambda: person.send(thread_id, "double", message_key=key) for _ in range(6)]
    )
    assert sorted({answer.status for answer in answers}) == [200, 204]
    assert finished_reply(owner, thread_id).content == "Once."
    assert [m.role for m in messages(owner, thread_id)] == ["user", "assistant"]
    asked = [call for call in shared_model.calls if call.message == "double"]
    assert len(asked) == 1


def test_two_first_messages_at_once_are_both_answered(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(scenario(Say("Yes."), when="together"))
    thread_id = person.new_id()
    assert person.csrf_token, "known before all of them want it"
    answers = at_once(
        *[
            lambda number=number: person.send(
                thread_id, f"together {number}", message_key=uuid4().hex
            )
            for number in range(4)
        ]
    )
    assert [answer.status for answer in answers] == [200] * 4
    wait_until(lambda: [r.content for r in replies(owner, thread_id)] == ["Yes."] * 4)


def test_a_second_message_waits_its_turn_and_is_answered_in_order(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(
        scenario(Say("First answer.", delay=0.5), when="one"),
        scenario(Say("Second answer."), when="two"),
    )
    thread_id = person.new_id()
    with listening(person, thread_id, "one") as reader:
        reader.wait_for("token")
        second = person.send(thread_id, "two", message_key=uuid4().hex)
        assert "Waiting for the previous answer" in second.text
        assert [r.status for r in replies(owner, thread_id)] == ["streaming", "queued"]
        reader.wait_for("done", 2)
    assert [m.content for m in messages(owner, thread_id)] == [
        "one",
        "First answer.",
        "two",
        "Second answer.",
    ]
    told = wait_until(lambda: shared_model.last_call_about("two")).messages
    assert [m["content"] for m in told[1:]] == ["one", "First answer.", "two"]


# A person who may not, and a model that is not there


def test_a_removed_member_gets_no_answer_and_keeps_their_question(
    person: WebClient,
    runners: None,
    processes: Processes,
    shared_model: ModelServer,
    owner: Database,
    member: Member,
) -> None:
    thread_id = person.new_id()
    with processes.frozen_runners():
        person.send(thread_id, "may I still ask", message_key=uuid4().hex)
        with owner.transaction() as session:
            session.execute(
                text("DELETE FROM memberships WHERE user_id = :id"), {"id": member.user_id}
            )
    reply = finished_reply(owner, thread_id)
    assert reply.status == "failed"
    assert reply.parts[0]["type"] == "notice"
    assert not [call for call in shared_model.calls if call.message == "may I still ask"]
    assert messages(owner, thread_id)[0].content == "may I still ask"
    assert person.get(f"/chat/{thread_id}").status in (303, 404)


@pytest.mark.fault(20)
@pytest.mark.parametrize("status", [503, 401])
def test_a_model_that_is_down_is_stood_in_for_and_nothing_is_lost(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database, status: int
) -> None:
    question = "are you a bot?"
    shared_model.script(scenario(HttpError(status), when="are you a bot"))
    thread_id = person.new_id()
    with listening(person, thread_id, question) as reader:
        reader.wait_for("done")
    reply = finished_reply(owner, thread_id)
    assert (reply.status, reply.degraded, reply.provider) == ("complete", True, "builtin")
    assert "built-in assistant" in reply.content
    page = person.get(f"/chat/{thread_id}").text
    assert question in page
    assert "the model could not be reached" in page


@pytest.mark.fault(20)
def test_a_model_that_breaks_off_leaves_its_words_and_says_so(
    person: WebClient, runners: None, shared_model: ModelServer, owner: Database
) -> None:
    shared_model.script(scenario([CutAfter(20), Say(WORDS, delay=0.01)], when="cut"))
    thread_id = person.new_id()
    with listening(person, thread_id, "cut") as reader:
        reader.wait_for("error")
    reply = finished_reply(owner, thread_id)
    assert reply.status == "interrupted"
    assert reply.content
    assert WHOLE.startswith(reply.content)
    assert (
        "The answer was cut off here. Your question is saved; try again." in reply.parts[0]["text"]
    )
