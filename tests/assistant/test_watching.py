"""Watching a house: numbers of all its processes, and one id through all their logs."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask

from app import create_app
from app.config import Settings
from app.db import Database
from app.observability.metric_files import process_name, sweep
from tests.assistant.processes import (
    START_SECONDS,
    Processes,
    Program,
    running,
    wait_until,
)
from tests.assistant.web_client import StreamReader, WebClient
from tests.factories import Member, make_user
from tests.leftovers import end_waiting_turns
from tests.model_server import HttpError, ModelServer, Say, scenario

TOKEN = "a token for the tests of numbers"
ASKED = "is the walk-in cold enough, zanahoria?"
SAID = "Ask chef Ignatius about the walk-in."
REQUEST_ID = "from-the-proxy-1234"


@dataclass
class Watched:
    """A web server and a runner that share their numbers."""

    processes: Processes
    program: Program
    person: WebClient
    member: Member
    model: ModelServer

    def ask(self, words: str) -> str:
        """Send a message and wait for its end; what was said."""
        thread_id = self.person.new_id()
        assert self.person.send(thread_id, words, message_key=uuid4().hex).status == 200
        with StreamReader(self.person, thread_id) as reader:
            reader.wait(lambda: reader.of("done") or reader.of("error"))
            return reader.text()

    def numbers(self) -> dict[str, float]:
        answer = self.person.get("/metrics", Authorization=f"Bearer {TOKEN}")
        assert answer.status == 200
        lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    @property
    def logs(self) -> str:
        return "\n".join(program.output for program in self.processes.programs)


@pytest.fixture(scope="module")
def watched(
    app: Flask, settings: Settings, owner: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    # What tests before these left unanswered would be answered, and counted, here.
    end_waiting_turns(owner)
    own = settings.model_copy(update={"comanda_data": folder})
    # A stream that is left is found dead by its next heartbeat.
    given = {"METRICS_TOKEN": TOKEN, "LOG_LEVEL": "debug", "STREAM_HEARTBEAT_SECONDS": "0.5"}
    with ModelServer() as model, running(own, folder, model.base_url) as processes:
        processes.launch_runners(1, **given)
        program, port = processes.start_web(**given)
        processes.ensure_runners(1)
        member = make_user(owner)
        person = WebClient(app, owner, member, port)
        model.script(scenario(Say(SAID), when="walk-in"))
        yield Watched(processes, program, person, member, model)


def test_the_numbers_of_all_processes_stand_on_one_page(watched: Watched) -> None:
    before = watched.numbers()
    watched.ask(ASKED)
    turns = 'comanda_turns_total{degraded="false",provider="openai",status="complete"}'
    wait_until(lambda: watched.numbers().get(turns, 0) > before.get(turns, 0))
    numbers = watched.numbers()
    posted = 'endpoint="chat.post_message",method="POST",status="2xx"'
    for name in (
        turns,
        'comanda_model_calls_total{outcome="ok"}',
        'comanda_turn_seconds_count{provider="openai"}',
        'comanda_first_token_seconds_count{provider="openai"}',
        f"comanda_http_requests_total{{{posted}}}",
    ):
        assert numbers[name] - before.get(name, 0) == 1, name
    # A runner that another test has ended is counted until its heartbeat is too old.
    wait_until(lambda: watched.numbers()["comanda_runners"] == 1, 45)
    assert watched.numbers()["comanda_queue_waiting"] == 0
    assert numbers["comanda_database_up"] == numbers["comanda_redis_up"] == 1
    assert 'comanda_jobs{status="todo"}' in numbers


def test_open_streams_are_counted_while_they_are_open(watched: Watched) -> None:
    thread_id = watched.person.new_id()
    watched.person.send(thread_id, "walk-in again", message_key=uuid4().hex)
    streams = 'comanda_open_streams{kind="thread"}'
    with StreamReader(watched.person, thread_id):
        # Streams that other tests have left are found dead by their heartbeats.
        wait_until(lambda: watched.numbers().get(streams) == 1, 45)
        # A worker that dies takes its streams with it; the reader comes back to another.
        for pid in watched.program.children():
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: len(watched.program.children()) == 2, 30)
        wait_until(lambda: watched.numbers().get(streams) == 1, START_SECONDS)


def test_a_failing_model_shows_in_the_numbers(watched: Watched) -> None:
    watched.model.script(scenario(HttpError(401), when="are you a bot"))
    watched.ask("are you a bot?")
    degraded = 'comanda_turns_total{degraded="true",provider="builtin",status="complete"}'
    wait_until(lambda: watched.numbers().get(degraded) == 1)
    assert watched.numbers()['comanda_model_calls_total{outcome="refused"}'] == 1


def test_a_message_can_be_followed_from_the_web_to_the_runner(watched: Watched) -> None:
    connection_headers = {"X_Request_ID": REQUEST_ID}
    person = watched.person
    thread_id = person.new_id()
    body = f"csrf_token={person.csrf_token}&message=walk-in&message_key={uuid4().hex}"
    kind = {"Content_Type": "application/x-www-form-urlencoded"}
    answer = person.request(
        "POST", f"/chat/{thread_id}/messages", body, **kind, **connection_headers
    )
    assert (answer.headers["X-Request-ID"], answer.status in (200, 303)) == (REQUEST_ID, True)

    def lines() -> list[dict[str, Any]]:
        found = [line for line in watched.logs.splitlines() if REQUEST_ID in line]
        return [json.loads(line) for line in found]

    wait_until(lambda: {line["event"] for line in lines()} >= {"request", "turn"})
    said = {line["event"]: line for line in lines()}
    assert said["turn"]["thread"] == str(thread_id)
    request = said["request"]
    assert (request["method"], request["endpoint"]) == ("POST", "chat.post_message")
    assert request["milliseconds"] > 0
    assert request["user"] == str(watched.member.user_id)


def test_no_log_and_no_number_has_words_addresses_or_tokens_in_it(watched: Watched) -> None:
    assert watched.ask(ASKED) == SAID
    page = watched.person.get("/metrics", Authorization=f"Bearer {TOKEN}").text
    told = watched.logs + page
    cookie = watched.person.cookies["comanda"]
    secrets = (
        *("zanahoria", "Ignatius", "csrf_token", TOKEN, "a key for the scripted model"),
        *(watched.member.email, watched.member.name, cookie, watched.person.csrf_token),
    )
    assert [secret for secret in secrets if secret in told] == []
    assert str(watched.member.user_id) not in page
    assert str(watched.member.group_id) not in page


# Who may read the numbers


@pytest.mark.parametrize("header", ["", "Bearer wrong", TOKEN, f"Basic {TOKEN}", "Bearer ñ"])
def test_without_the_token_there_is_nothing_to_see(settings: Settings, header: str) -> None:
    client = create_app(settings.model_copy(update={"metrics_token": TOKEN})).test_client()
    headers = {"Authorization": header.encode().decode("latin-1")}
    assert client.get("/metrics", headers=headers).status_code == 404
    right = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert right.status_code == 200
    assert right.mimetype == "text/plain"


def test_without_a_token_set_nobody_sees_anything(app: Flask) -> None:
    for header in ("", "Bearer ", "Bearer None"):
        answer = app.test_client().get("/metrics", headers={"Authorization": header})
        assert answer.status_code == 404


# Request ids


@pytest.mark.parametrize("sent", ["", "short", "x" * 65, "two words", 'a"quote-1', "línea-larga"])
def test_an_id_that_is_not_plain_is_replaced(app: Flask, sent: str) -> None:
    headers = {"X-Request-ID": sent.encode().decode("latin-1")}
    given = app.test_client().get("/healthz", headers=headers).headers["X-Request-ID"]
    assert given != sent
    assert len(given) == 32


# What the dead leave behind


def test_only_what_dead_processes_of_this_machine_left_is_swept_away(tmp_path: Path) -> None:
    me = process_name()
    host = me.rpartition("-")[0]
    dead = f"{host}-4194305"
    for name in (me, dead, "other-host-1"):
        for kind in ("counter", "gauge_livesum", "histogram"):
            (tmp_path / f"{kind}_{name}.db").touch()
    sweep(tmp_path, gauges_only=True)
    assert not (tmp_path / f"gauge_livesum_{dead}.db").exists()
    assert (tmp_path / f"counter_{dead}.db").exists()
    sweep(tmp_path, gauges_only=False)
    left = {file.name.split("_")[-1] for file in tmp_path.iterdir()}
    assert left == {f"{me}.db", "other-host-1.db"}
