"""Restarting under load: streams end at once and go on elsewhere, turns are handed over."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import select

from app.assistant.models import Message, Turn
from app.config import Settings
from app.db import Database
from app.observability.presence import Presence
from tests.assistant.chatting import WHOLE, pid_of, slow, turn_of
from tests.assistant.processes import Processes, running, wait_until
from tests.assistant.web_client import StreamReader, WebClient
from tests.factories import Member
from tests.model_server import ModelServer


def reply_of(owner: Database, thread_id: UUID) -> Message:
    with owner.session() as session:
        query = select(Message).where(Message.thread_id == thread_id, Message.role == "assistant")
        return session.scalars(query).one()


def speaking_turn(owner: Database, thread_id: UUID) -> Turn:
    """The thread's turn, once its model has begun to speak."""

    def look() -> Turn | None:
        turn = turn_of(owner, thread_id)
        return turn if turn.status == "running" and reply_of(owner, thread_id).content else None

    found: Turn = wait_until(look)
    return found


# The web server


@pytest.mark.soak
def test_new_workers_in_the_middle_of_an_answer_change_no_word_of_it(
    app: Flask, processes: Processes, shared_model: ModelServer, owner: Database, member: Member
) -> None:
    processes.ensure_runners(2)
    shared_model.script(slow(5, when="deploying"))
    program, port = processes.start_web()
    person = WebClient(app, owner, member, port)
    thread_id = person.new_id()
    assert person.send(thread_id, "deploying", message_key=uuid4().hex).status == 200
    with StreamReader(person, thread_id) as reader:
        reader.wait_for("token", 3)
        old = set(program.children())
        program.signal(signal.SIGHUP)
        reader.wait_for_connects(2)
        wait_until(lambda: not old & set(program.children()))
        reader.wait_for("done")
        assert reader.text() == WHOLE
        numbers = [int(event.id.rsplit("-", 1)[1]) for event in reader.received if event.id]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert reply_of(owner, thread_id).content == WHOLE


# The runners


@pytest.fixture
def patient(settings: Settings, tmp_path: Path, shared_model: ModelServer) -> Iterator[Processes]:
    """Processes whose leases are so long that nobody takes a turn over because one ran out."""
    with ExitStack() as stack:
        yield stack.enter_context(running(settings, tmp_path, shared_model.base_url))


@pytest.mark.soak
def test_a_runner_that_ends_hands_its_turn_over_at_once(
    app: Flask,
    processes: Processes,
    patient: Processes,
    shared_model: ModelServer,
    owner: Database,
    member: Member,
) -> None:
    given = {"RUNNER_DRAIN_SECONDS": "0.5"}
    for other in processes.runners:
        # Those that the tests share would take the turn, now or when it is handed over.
        other.kill()
    patient.ensure_runners(2, **given)
    shared_model.script(slow(6, when="handing over"))
    person = WebClient(app, owner, member, patient.start_web(workers=1)[1])
    thread_id = person.new_id()
    person.send(thread_id, "handing over", message_key=uuid4().hex)
    with StreamReader(person, thread_id) as reader:
        turn = speaking_turn(owner, thread_id)
        first = patient.runner(pid_of(turn))
        first.signal(signal.SIGTERM)
        began = time.monotonic()
        wait_until(lambda: turn_of(owner, thread_id).fence > turn.fence)
        assert time.monotonic() - began < 15, "long before its lease of 30 s ends"
        assert first.process.wait(timeout=20) == 0
        reader.wait_for("done")
        assert reader.text() == WHOLE
        assert [event.type for event in reader.received].count("reset") == 1
    done = turn_of(owner, thread_id)
    assert (done.status, done.attempts, reply_of(owner, thread_id).content) == ("done", 2, WHOLE)
    assert "turns released" in first.output


def test_a_runner_leaves_a_trace_while_it_lives_and_takes_it_away(
    app: Flask, patient: Processes
) -> None:
    presence = Presence(app.extensions["comanda"].redis)
    patient.ensure_runners(1)
    [program] = patient.runners

    def is_there() -> bool:
        return any(each.runner_id.endswith(f":{program.pid}") for each in presence.runners())

    wait_until(is_there)
    program.signal(signal.SIGTERM)
    assert program.process.wait(timeout=20) == 0
    assert not is_there()
