"""Is it ready: what a load balancer is told, and when people should be sent elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from flask import Flask
from sqlalchemy import text

from app import create_app
from app.config import Settings
from app.db import Database
from app.extensions import Services
from app.observability import health
from app.observability.presence import ALIVE_SECONDS, KEY, SWEEP_SECONDS, Presence
from tests.factories import make_user
from tests.factories.chat import ask


@pytest.fixture(autouse=True)
def nobody_works(owner: Database, redis_client: redis.Redis, nobody_waits: None) -> Iterator[None]:
    """No turn, no runner and no worker of jobs but those that a test brings."""
    with owner.transaction() as session:
        session.execute(text("DELETE FROM procrastinate_workers"))
    redis_client.delete(KEY)
    yield
    redis_client.delete(KEY)


@pytest.fixture(autouse=True)
def looks_anew(app: Flask) -> Iterator[None]:
    """Nothing is kept of what was found in the test before, and nothing for the one after."""
    app.extensions[health.EXTENSION] = health.Readiness()
    yield
    app.extensions[health.EXTENSION] = health.Readiness()


def ready(app: Flask) -> tuple[int, dict[str, str]]:
    response = app.test_client().get("/readyz")
    return response.status_code, response.get_json()


def queue_a_turn(owner: Database, database: Database, seconds_ago: float = 0) -> None:
    accepted = ask(database, make_user(owner))
    with owner.transaction() as session:
        session.execute(
            text(
                "UPDATE turns SET status = 'queued', lease_until = NULL,"
                " created_at = now() - make_interval(secs => :ago) WHERE id = :id"
            ),
            {"id": accepted.turn.id, "ago": seconds_ago},
        )


def start_jobs(owner: Database) -> None:
    with owner.transaction() as session:
        session.execute(text("INSERT INTO procrastinate_workers DEFAULT VALUES"))


def test_with_everything_there_it_is_ready(
    app: Flask, owner: Database, redis_client: redis.Redis
) -> None:
    Presence(redis_client).tell("a:1", model_ok=True)
    start_jobs(owner)
    everything = dict.fromkeys(("status", "database", "redis", "queue", "jobs", "model"), "ok")
    assert ready(app) == (200, everything)


def test_without_a_runner_it_serves_on_while_nobody_waits_for_long(
    app: Flask, owner: Database, database: Database
) -> None:
    queue_a_turn(owner, database, seconds_ago=health.LONG_WAIT_SECONDS - 10)
    status, told = ready(app)
    assert (status, told["status"], told["queue"]) == (200, "degraded", "degraded")


def test_without_a_runner_it_is_away_once_somebody_has_waited_for_long(
    app: Flask, owner: Database, database: Database
) -> None:
    queue_a_turn(owner, database, seconds_ago=health.LONG_WAIT_SECONDS + 10)
    status, told = ready(app)
    assert (status, told["status"], told["queue"]) == (503, "unavailable", "away")


def test_too_few_runners_do_not_take_it_out_of_service(
    app: Flask, owner: Database, database: Database, redis_client: redis.Redis
) -> None:
    Presence(redis_client).tell("a:1", model_ok=True)
    queue_a_turn(owner, database, seconds_ago=health.LONG_WAIT_SECONDS + 10)
    status, told = ready(app)
    assert (status, told["queue"]) == (200, "degraded")


def test_a_model_that_is_down_does_not_take_it_out_of_service(
    settings: Settings, redis_client: redis.Redis
) -> None:
    app = create_app(settings.model_copy(update={"openai_base_url": "http://127.0.0.1:1/v1"}))
    Presence(redis_client).tell("a:1", model_ok=False)
    status, told = ready(app)
    assert (status, told["status"], told["model"]) == (200, "degraded", "degraded")


def test_without_redis_or_the_database_it_is_away(settings: Settings) -> None:
    away: dict[str, Any] = {"redis_url": "redis://127.0.0.1:1/0"}
    status, told = ready(create_app(settings.model_copy(update=away)))
    assert (status, told["redis"], told["database"]) == (503, "away", "ok")
    address = "postgresql+psycopg://nobody:x@127.0.0.1:1/nothing"
    status, told = ready(create_app(settings.model_copy(update={"database_url": address})))
    assert (status, told["database"], told["redis"]) == (503, "away", "ok")


def test_a_probe_is_told_nothing_but_ok_degraded_and_away(app: Flask) -> None:
    _status, told = ready(app)
    assert set(told.values()) <= {"ok", "degraded", "away", "unavailable"}


def test_a_probe_takes_a_few_milliseconds(app: Flask, redis_client: redis.Redis) -> None:
    Presence(redis_client).tell("a:1", model_ok=True)
    client = app.test_client()
    took = []
    for _ in range(20):
        began = time.perf_counter()
        client.get("/readyz")
        took.append(time.perf_counter() - began)
    assert sorted(took)[10] < 0.05


def test_many_who_ask_within_a_second_make_one_check(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    checks: list[float] = []

    def check(_on: Services) -> list[health.Finding]:
        checks.append(now)
        return [health.Finding("database", len(checks) == 1, "")]

    monkeypatch.setattr(health, "monotonic", lambda: now)
    monkeypatch.setattr(health, "check_readiness", check)
    assert ready(app) == (200, {"status": "ok", "database": "ok"})
    now += health.KEPT_SECONDS - 0.01
    assert ready(app)[0] == 200
    assert checks == [1000.0]
    now += 0.01
    assert ready(app) == (503, {"status": "unavailable", "database": "away"})
    assert checks == [1000.0, now]


def test_who_asks_during_a_slow_check_waits_for_it_and_makes_none(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[str] = []

    def check(_on: Services) -> list[health.Finding]:
        checks.append("begun")
        time.sleep(0.2)
        return [health.Finding("database", True, "")]

    monkeypatch.setattr(health, "check_readiness", check)
    with ThreadPoolExecutor(8) as strangers:
        answers = list(strangers.map(lambda _: ready(app)[0], range(8)))
    assert answers == [200] * 8
    assert checks == ["begun"]


def test_a_message_that_waits_for_the_answer_before_it_does_not_wait_for_a_runner(
    app: Flask, owner: Database, database: Database
) -> None:
    member = make_user(owner)
    first = ask(database, member)
    with owner.transaction() as session:
        session.execute(
            text("UPDATE turns SET lease_until = now() + interval '1 hour' WHERE id = :id"),
            {"id": first.turn.id},
        )
        session.execute(
            text(
                "INSERT INTO turns (id, group_id, user_id, thread_id, user_message_id,"
                " reply_message_id, request, status, fence, attempts, runner_id, stop_requested,"
                " error_code, created_at) SELECT gen_random_uuid(), group_id, user_id, thread_id,"
                " user_message_id, reply_message_id, '{}', 'queued', 0, 0, '', false, '',"
                " now() - interval '1 hour' FROM turns WHERE id = :id"
            ),
            {"id": first.turn.id},
        )
    queue = health.read_queue(app.extensions["comanda"])
    # Ids made by the database sort anyhow, so that either may be the one that goes first.
    assert (queue.running, queue.waiting) == (1, 0)


# The runners' traces


def test_a_trace_fades_and_is_swept_away(redis_client: redis.Redis) -> None:
    presence = Presence(redis_client)
    presence.tell("a:1", model_ok=True)
    presence.tell("b:2", model_ok=False)
    assert {(each.runner_id, each.model_ok) for each in presence.runners()} == {
        ("a:1", True),
        ("b:2", False),
    }
    seconds, _micros = redis_client.time()
    for name, age in (("a:1", ALIVE_SECONDS + 1), ("b:2", SWEEP_SECONDS + 1)):
        redis_client.hset(KEY, name, f'{{"at": {seconds - age}, "model_ok": true}}')
    assert presence.runners() == []
    presence.tell("c:3", model_ok=True)
    assert set(redis_client.hkeys(KEY)) == {b"a:1", b"c:3"}
    presence.leave("c:3")
    assert presence.runners() == []


def test_the_doctor_says_what_the_probe_finds(app: Flask) -> None:
    result = app.test_cli_runner().invoke(args=["doctor"])
    assert "no runner is alive; 0 waiting" in result.output
    assert "no worker is alive" in result.output
    assert "python -m app.jobs" in result.output
