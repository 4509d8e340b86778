"""Postgres and Redis frozen, killed, emptied and without room, under a running house."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from uuid import uuid4

import pytest
from sqlalchemy import func, select, text

from app.assistant.models import Message, Turn
from app.db import new_id
from tests.assistant.chatting import (
    WHOLE,
    check_ids,
    finished_reply,
    listening,
    messages,
    running_turn,
    slow,
)
from tests.assistant.processes import wait_until
from tests.assistant.web_client import StreamReader
from tests.faults.houses import House, open_house
from tests.html_checks import parse_html
from tests.model_server import ModelServer, Say, scenario

QUICK = {"STREAM_HEARTBEAT_SECONDS": "1", "TURN_LEASE_SECONDS": "2"}


@pytest.fixture(scope="module")
def house(shared_model: ModelServer) -> Iterator[House]:
    with open_house(shared_model, small_disk=True, **QUICK) as house:
        yield house


@pytest.mark.fault(4)
def test_a_redis_that_was_restarted_empty_resets_readers_and_loses_no_word(house: House) -> None:
    house.model.script(slow(4, when="restart"))
    person = house.person()
    thread_id = person.new_id()
    with listening(person, thread_id, "restart") as reader:
        reader.wait_for("token", 3)
        killed = house.pid("redis")
        house.kill("redis")
        wait_until(lambda: house.pid("redis") != killed)
        reader.wait_for("reset", seconds=15)
        reader.wait_for("done", seconds=30)
        after_reset = [e.type for e in reader.received].index("reset")
        epochs = [e.id.split("-")[0] for e in reader.received[after_reset:] if "-" in e.id]
        assert len(set(epochs)) == 1
    # What the page fetches at the reset, and at the end, is all there is.
    reply = finished_reply(house.owner, thread_id)
    assert (reply.content, reply.status) == (WHOLE, "complete")
    assert "word0 word1" in person.get(f"/chat/{thread_id}").text


@pytest.mark.fault(5)
def test_a_redis_frozen_for_five_seconds_costs_no_event(house: House) -> None:
    house.model.script(slow(6.5, when="freeze"))
    person = house.person()
    thread_id = person.new_id()
    with listening(person, thread_id, "freeze") as reader:
        reader.wait_for("token", 3)
        connects = reader.connects
        with house.frozen("redis"):
            beats = reader.comments
            time.sleep(5)
            assert reader.comments > beats, "the stream beats though nothing can be heard"
        reader.wait_for("done", seconds=30)
        check_ids(reader)
        assert reader.connects == connects, "the stream survives"
        assert reader.text() == WHOLE
    assert finished_reply(house.owner, thread_id).content == WHOLE


@pytest.mark.fault(5)
def test_messages_are_taken_and_pages_open_while_redis_is_frozen(house: House) -> None:
    house.model.script(scenario(Say("In the end."), when="while frozen"))
    person = house.person()
    thread_id = person.new_id()
    assert person.post(f"/chat/{new_id()}/stop").status == 404
    with house.frozen("redis"):
        began = time.monotonic()
        assert person.send(thread_id, "while frozen", message_key=uuid4().hex).status == 200
        assert time.monotonic() - began < 12
        began = time.monotonic()
        assert "while frozen" in person.get(f"/chat/{thread_id}").text
        assert time.monotonic() - began < 8
    assert finished_reply(house.owner, thread_id, 30).content == "In the end."


@pytest.mark.fault(55)
def test_a_redis_without_room_keeps_no_answer_from_being_stored(house: House) -> None:
    house.model.script(scenario(Say("Stored all the same."), when="while full"))
    person = house.person()
    thread_id = person.new_id()
    connection = house.app.extensions["comanda"].redis
    limit = connection.config_get("maxmemory")["maxmemory"]
    try:
        connection.config_set("maxmemory", "1")
        assert person.send(thread_id, "while full", message_key=uuid4().hex).status == 200
        reply = finished_reply(house.owner, thread_id, 30)
        # Each of the web processes counts for itself: 120 a minute.
        stops = {person.post(f"/chat/{thread_id}/stop").status for _ in range(300)}
        assert 429 in stops
    finally:
        connection.config_set("maxmemory", limit)
    assert (reply.content, reply.status) == ("Stored all the same.", "complete")
    assert "Stored all the same." in person.get(f"/chat/{thread_id}").text


@pytest.mark.fault(17)
def test_a_postgres_that_is_killed_in_mid_turn_is_a_clean_error_and_then_forgotten(
    house: House,
) -> None:
    house.model.script(slow(4, when="killed"))
    person = house.person()
    thread_id = person.new_id()
    with listening(person, thread_id, "killed") as reader:
        reader.wait_for("token", 3)
        killed = house.pid("postgres")
        house.kill("postgres")
        answer = person.get(f"/chat/{thread_id}")
        assert answer.status in (200, 503)
        if answer.status == 503:
            told = "Comanda can't reach its database right now. Try again in a moment."
            assert told in parse_html(answer.text).text
            assert "psycopg" not in answer.text
        wait_until(lambda: house.pid("postgres") != killed, 30)
        wait_until(lambda: person.get(f"/chat/{thread_id}").status == 200, 30)
        reader.wait_for("done", seconds=40)
    reply = finished_reply(house.owner, thread_id, 40)
    assert (reply.content, reply.status) == (WHOLE, "complete")
    # Every connection of the pool is good again.
    assert {person.get("/chat").status for _ in range(12)} == {200}


@pytest.mark.fault(18)
def test_a_full_pool_is_503_in_two_seconds_and_streams_hold_none_of_it(house: House) -> None:
    _, port = house.processes.start_web(1, DATABASE_POOL_SIZE="1", **QUICK)
    person, other = house.person(), house.person()
    person.port = other.port = port
    house.model.script(scenario(Say("Here."), when="begin"))
    thread_id = person.new_id()
    person.send(thread_id, "begin", message_key=uuid4().hex)
    finished_reply(house.owner, thread_id)
    with ExitStack() as open_streams, ThreadPoolExecutor(1) as background:
        streams = [StreamReader(person, thread_id) for _ in range(4)]
        readers = [open_streams.enter_context(stream) for stream in streams]
        with house.owner.engine.begin() as connection:
            held = text("SELECT 1 FROM threads WHERE id = :id FOR UPDATE")
            connection.execute(held, {"id": thread_id})
            blocked = background.submit(person.send, thread_id, "on hold", message_key="k" * 16)
            time.sleep(0.5)
            began = time.monotonic()
            answer = other.get("/chat")
            assert answer.status == 503
            assert "Try again in a moment" in answer.text
            assert time.monotonic() - began < 6
            for reader in readers:
                beats = reader.comments
                reader.wait(lambda reader=reader, beats=beats: reader.comments > beats, 5)
                assert reader.connects == 1
        assert blocked.result(30).status == 200
        assert other.get("/chat").status == 200


@pytest.mark.fault(19)
def test_a_full_disk_refuses_honestly_and_leaves_nothing_half_written(house: House) -> None:
    if house.disk is None:
        pytest.skip("a small disk can only be made by root, where mounting is allowed")
    house.model.script(scenario(Say("There is room again."), when="."))
    person, key = house.person(), ""
    thread_id = person.new_id()
    person.send(thread_id, "before it was full", message_key=uuid4().hex)
    finished_reply(house.owner, thread_id)
    with house.full_disk():
        for _ in range(40):
            key = uuid4().hex
            answer = person.send(thread_id, secrets.token_hex(1900), message_key=key)
            if answer.status != 200:
                break
        assert answer.status == 503
        assert "Try again in a moment" in answer.text
        assert "No space" not in answer.text
    with house.owner.session() as session:
        stored = select(func.count()).where(Message.message_key == key)
        assert session.scalar(stored) == 0, "what was refused is not there"
        turns = session.scalar(select(func.count()).where(Turn.thread_id == thread_id))
    every = messages(house.owner, thread_id)
    assert [m.role for m in every] == ["user", "assistant"] * (turns or 0), "nothing is half there"
    assert person.send(thread_id, "now?", message_key=key).status == 200

    def all_answered() -> bool:
        said = [m.content for m in messages(house.owner, thread_id) if m.role == "assistant"]
        return set(said) == {"There is room again."}

    wait_until(all_answered, 60)


@pytest.mark.soak
@pytest.mark.fault(19)
def test_a_disk_that_fills_up_in_mid_answer_loses_no_answer(house: House) -> None:
    if house.disk is None:
        pytest.skip("a small disk can only be made by root, where mounting is allowed")
    # As long as a reply may be.
    words = [f"{secrets.token_hex(400)} " for _ in range(24)]
    house.model.script(scenario(Say(words, delay=0.12), when="long answer"))
    person = house.person()
    thread_id = person.new_id()
    person.send(thread_id, "long answer", message_key=uuid4().hex)
    running_turn(house.owner, thread_id)
    with house.full_disk():
        time.sleep(4)
    reply = finished_reply(house.owner, thread_id, 40)
    assert reply.status in ("complete", "interrupted", "failed")
    if reply.status == "complete":
        assert reply.content == "".join(words)
    else:
        assert reply.parts[0]["type"] == "notice"
