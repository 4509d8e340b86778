"""Many streams, slow ones, idle ones and those that vanish; and a server that is replaced."""

from __future__ import annotations

import signal
import socket
import time
from contextlib import ExitStack
from uuid import UUID

import pytest
import redis
from flask import Flask

from app.assistant.turns.events import EventLog
from app.db import Database
from bench.support.memory import resident
from tests.assistant.chatting import (
    WHOLE,
    check_ids,
    finished_reply,
    listening,
    pid_of,
    running_turn,
    slow,
    turn_of,
)
from tests.assistant.processes import Processes, Program, wait_until
from tests.assistant.web_client import StreamReader, WebClient
from tests.factories import Member, make_thread, make_user
from tests.model_server import ModelServer

MEGABYTE = 1024 * 1024
QUICK = {"STREAM_HEARTBEAT_SECONDS": "0.5"}
Web = tuple[Program, int]


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    return make_thread(database, member)


@pytest.fixture(scope="module")
def quick_web(processes: Processes) -> Web:
    """A server with one worker, whose streams beat twice a second."""
    return processes.start_web(1, **QUICK)


@pytest.fixture
def log(redis_client: redis.Redis) -> EventLog:
    return EventLog(redis_client)


def open_raw_stream(person: WebClient, thread_id: UUID, buffer: int = 0) -> socket.socket:
    """A stream on a socket of our own, read up to its headers; a small buffer fills up soon."""
    raw = socket.socket()
    if buffer:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    raw.settimeout(30)
    raw.connect(("127.0.0.1", person.port))
    headers = "".join(f"{name}: {value}\r\n" for name, value in person.cookie_header().items())
    raw.sendall(f"GET /chat/{thread_id}/events HTTP/1.0\r\nHost: x\r\n{headers}\r\n".encode())
    assert b" 200 " in raw.recv(13 if buffer else 4096)
    return raw


def subscribers(redis_client: redis.Redis, thread_id: UUID) -> int:
    [(_, count)] = redis_client.pubsub_numsub(f"events:{thread_id}")
    return int(count)


def most_waiting(redis_client: redis.Redis) -> int:
    """Bytes that Redis keeps at most for one of those who listen."""
    listeners = redis_client.client_list(_type="pubsub")
    return max((int(each["omem"]) for each in listeners), default=0)


def vanish(
    person: WebClient, redis_client: redis.Redis, thread_id: UUID, count: int, seconds: float
) -> None:
    """Open so many streams and leave them all at once; nobody may be left after `seconds`."""
    streams = [open_raw_stream(person, thread_id) for _ in range(count)]
    wait_until(lambda: subscribers(redis_client, thread_id) == count, 30)
    for stream in streams:
        stream.close()
    wait_until(lambda: subscribers(redis_client, thread_id) == 0, seconds)


@pytest.mark.fault(9)
def test_clients_that_vanish_leave_no_subscriber(
    app: Flask,
    owner: Database,
    member: Member,
    quick_web: Web,
    redis_client: redis.Redis,
    thread_id: UUID,
) -> None:
    """Found out at the next heartbeat or two, of which there are two a second here."""
    person = WebClient(app, owner, member, quick_web[1])
    vanish(person, redis_client, thread_id, 100, seconds=10)


@pytest.mark.soak
@pytest.mark.fault(9)
def test_a_thousand_clients_that_vanish_leave_no_subscriber_within_forty_seconds(
    app: Flask,
    owner: Database,
    member: Member,
    web: Web,
    redis_client: redis.Redis,
    thread_id: UUID,
) -> None:
    person = WebClient(app, owner, member, web[1])
    vanish(person, redis_client, thread_id, 1000, seconds=40)


Followed = list[tuple[WebClient, UUID]]


def followed_by(app: Flask, owner: Database, database: Database, *, people: int) -> Followed:
    """Twenty threads of each of so many people."""
    members = [make_user(owner) for _ in range(people)]
    clients = [(WebClient(app, owner, member, 0), member) for member in members]
    return [(person, make_thread(database, who)) for person, who in clients for _ in range(20)]


def replace_server(processes: Processes, log: EventLog, followed: Followed) -> None:
    """End the server with SIGTERM while all threads are followed, and start another there."""
    program, port = processes.start_web(2)
    threads = [thread_id for _person, thread_id in followed]
    for person, _thread_id in followed:
        person.port = port
    with ExitStack() as open_streams:
        streams = [StreamReader(person, thread_id) for person, thread_id in followed]
        readers = [open_streams.enter_context(stream) for stream in streams]
        for thread_id in threads:
            log.publish(thread_id, "token", {"text": "before "})
        for reader in readers:
            reader.wait_for("token")
        program.signal(signal.SIGTERM)
        began = time.monotonic()
        for thread_id in threads:
            log.publish(thread_id, "token", {"text": "meanwhile "})
        assert program.process.wait(20) == 0
        assert time.monotonic() - began < 10
        assert "graceful timeout" not in program.output, "no worker had to be cut off"
        processes.start_web(2, port)
        for thread_id in threads:
            log.publish(thread_id, "token", {"text": "after"})
        for reader in readers:
            reader.wait_for("token", 3, seconds=60)
            check_ids(reader)
            assert reader.text() == "before meanwhile after"


@pytest.mark.fault(10)
@pytest.mark.soak
def test_a_server_that_is_replaced_ends_in_five_seconds_and_its_streams_resume(
    app: Flask, owner: Database, database: Database, processes: Processes, log: EventLog
) -> None:
    replace_server(processes, log, followed_by(app, owner, database, people=1))


@pytest.mark.soak
@pytest.mark.fault(10)
def test_a_server_with_five_hundred_streams_ends_in_five_seconds_and_all_resume(
    app: Flask, owner: Database, database: Database, processes: Processes, log: EventLog
) -> None:
    """Of a restaurant's people, since one person's five hundred would be refused for a while."""
    replace_server(processes, log, followed_by(app, owner, database, people=25))


@pytest.mark.fault(11)
@pytest.mark.soak
def test_a_deploy_in_mid_turn_changes_no_word(
    app: Flask,
    owner: Database,
    member: Member,
    processes: Processes,
    runners: None,
    shared_model: ModelServer,
) -> None:
    """Web server and runner are told to end, and others take their places."""
    shared_model.script(slow(3, when="deploying"))
    program, port = processes.start_web(1)
    person = WebClient(app, owner, member, port)
    thread_id = person.new_id()
    with listening(person, thread_id, "deploying") as reader:
        reader.wait_for("token", 3)
        old = processes.runner(pid_of(running_turn(owner, thread_id)))
        old.signal(signal.SIGTERM)
        program.signal(signal.SIGTERM)
        program.process.wait(20)
        processes.start_web(1, port)
        processes.ensure_runners(2)
        reader.wait_for("done")
        check_ids(reader)
        assert reader.text() == WHOLE
    assert finished_reply(owner, thread_id).content == WHOLE
    assert turn_of(owner, thread_id).attempts == 1
    assert old.process.wait(15) == 0


@pytest.mark.fault(12)
def test_a_reader_who_does_not_read_costs_no_memory_and_delays_nobody(
    app: Flask,
    owner: Database,
    member: Member,
    quick_web: Web,
    log: EventLog,
    redis_client: redis.Redis,
    thread_id: UUID,
) -> None:
    program, port = quick_web
    person = WebClient(app, owner, member, port)
    [worker] = program.children()
    lazy = open_raw_stream(person, thread_id, buffer=4096)
    with StreamReader(person, thread_id) as keen:

        def publish(events: int) -> None:
            so_far = len(keen.of("token"))
            for number in range(events):
                log.publish(thread_id, "token", {"text": f"{number} " + "x" * 50_000})
                assert most_waiting(redis_client) < 2 * MEGABYTE, "nor by Redis"
            keen.wait_for("token", so_far + events, seconds=60)

        # What a worker's memory grows by when it first passes much on is not kept for anyone:
        # 34 MB were measured beside the rest of the suite.
        publish(800)
        before = resident(worker)
        publish(1600)
        check_ids(keen)
        assert resident(worker) - before < 40 * MEGABYTE, "80 MB were not kept for who is slow"
    lazy.close()
    wait_until(lambda: subscribers(redis_client, thread_id) == 0, 10)


def stay_idle(
    person: WebClient, log: EventLog, thread_id: UUID, seconds: float, beat: float
) -> None:
    """Listen where nothing is said, and hear what is said after that."""
    with StreamReader(person, thread_id) as reader:
        beats = reader.comments
        time.sleep(seconds)
        assert reader.comments - beats >= seconds / beat * 0.7
        log.publish(thread_id, "token", {"text": "still there?"})
        reader.wait_for("token", seconds=15)
        assert reader.connects == 1


@pytest.mark.fault(13)
def test_an_idle_stream_beats_and_is_alive(
    app: Flask, owner: Database, member: Member, quick_web: Web, log: EventLog, thread_id: UUID
) -> None:
    stay_idle(WebClient(app, owner, member, quick_web[1]), log, thread_id, 3, beat=0.5)


@pytest.mark.soak
@pytest.mark.fault(13)
@pytest.mark.timeout(900)
def test_a_stream_that_was_idle_for_ten_minutes_is_alive(
    app: Flask, owner: Database, member: Member, web: Web, log: EventLog, thread_id: UUID
) -> None:
    stay_idle(WebClient(app, owner, member, web[1]), log, thread_id, 600, beat=10)
