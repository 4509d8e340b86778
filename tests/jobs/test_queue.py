"""Asking for jobs: none is lost, none is doubled, and nobody's work fails because of another's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from procrastinate import JobContext
from sqlalchemy import text

from app.db import Database, utc_now
from app.jobs import tasks as jobs
from app.jobs.queue import DEFAULT, VECTORS, defer
from app.skills.knowledge.services.reindex import queue_embedding
from tests.factories import Member


@pytest.fixture
def lock(owner: Database) -> Iterator[str]:
    """A lock of the test's own; what waits under it is gone afterwards."""
    lock = f"test:{uuid4()}"
    yield lock
    with owner.transaction() as session:
        session.execute(text("DELETE FROM procrastinate_jobs WHERE lock = :lock"), {"lock": lock})


def ask(database: Database, lock: str, **facts: Any) -> None:
    with database.transaction() as session:
        defer(session, "nothing", lock=lock, **facts)


def jobs_of(owner: Database, lock: str) -> list[str]:
    with owner.session() as session:
        query = text("SELECT status::text FROM procrastinate_jobs WHERE lock = :lock ORDER BY id")
        return list(session.scalars(query, {"lock": lock}))


def begin(database: Database, lock: str) -> bool:
    """Take the job as a worker does; False when there is none that it may take."""
    with database.transaction() as session:
        taken = session.scalar(
            text(
                "UPDATE procrastinate_jobs SET status = 'doing' WHERE id ="
                " (SELECT id FROM procrastinate_jobs WHERE lock = :lock AND status = 'todo'"
                " FOR UPDATE SKIP LOCKED) RETURNING id"
            ),
            {"lock": lock},
        )
    return taken is not None


@pytest.mark.fault(68)
def test_vectors_have_a_queue_of_their_own(
    database: Database, owner: Database, member: Member
) -> None:
    """Six restaurants that waited for a silent server kept another one's export waiting."""
    with database.transaction(member.scope) as session:
        queue_embedding(session)
    query = text(
        "DELETE FROM procrastinate_jobs WHERE args->>'group_id' = :group RETURNING queue_name"
    )
    with owner.transaction() as session:
        assert session.scalars(query, {"group": str(member.group_id)}).all() == [VECTORS]
    assert VECTORS != DEFAULT


@pytest.mark.fault(39)
def test_different_jobs_of_one_lock_take_turns(
    database: Database, owner: Database, lock: str
) -> None:
    for number in (1, 2, 1):
        ask(database, lock, number=number)
    assert jobs_of(owner, lock) == ["todo", "todo"]


def test_an_equal_job_that_waits_is_enough(database: Database, owner: Database, lock: str) -> None:
    for _ in range(2):
        ask(database, lock)
    assert jobs_of(owner, lock) == ["todo"]
    assert begin(database, lock)
    ask(database, lock)
    assert jobs_of(owner, lock) == ["doing", "todo"]


def test_a_job_does_not_begin_before_what_counts_on_it_is_committed(
    database: Database, lock: str
) -> None:
    ask(database, lock)
    with database.transaction() as session:
        defer(session, "nothing", lock=lock)
        assert not begin(database, lock)
    assert begin(database, lock)


def test_two_who_ask_at_once_take_turns_and_neither_fails(
    database: Database, owner: Database, lock: str
) -> None:
    second = threading.Thread(target=ask, args=(database, lock))
    with database.transaction() as session:
        defer(session, "nothing", lock=lock)
        second.start()
        second.join(0.3)
        assert second.is_alive()
    second.join(10)
    assert jobs_of(owner, lock) == ["todo"]


def test_who_asks_after_one_that_took_it_back_gets_a_job(
    database: Database, owner: Database, lock: str
) -> None:
    second = threading.Thread(target=ask, args=(database, lock))
    with database.session() as session:
        defer(session, "nothing", lock=lock)
        second.start()
        second.join(0.3)
        session.rollback()
    second.join(10)
    assert jobs_of(owner, lock) == ["todo"]


def test_a_job_is_tried_again_while_its_equal_waits(
    database: Database, owner: Database, lock: str
) -> None:
    ask(database, lock)
    begin(database, lock)
    ask(database, lock)
    with database.transaction() as session:
        session.execute(
            text(
                "SELECT procrastinate_retry_job_v2(id, now(), NULL, NULL, NULL)"
                " FROM procrastinate_jobs WHERE lock = :lock AND status = 'doing'"
            ),
            {"lock": lock},
        )
    assert jobs_of(owner, lock) == ["todo", "todo"]


def test_a_job_may_be_for_later(database: Database, owner: Database, lock: str) -> None:
    tomorrow = utc_now() + timedelta(days=1)
    ask(database, lock, at=tomorrow)
    with owner.session() as session:
        query = text("SELECT scheduled_at FROM procrastinate_jobs WHERE lock = :lock")
        assert session.scalar(query, {"lock": lock}) == tomorrow


@pytest.mark.parametrize(("attempts", "is_last"), [(0, False), (4, False), (5, True), (9, True)])
def test_a_task_is_told_of_its_last_try(
    database: Database, monkeypatch: pytest.MonkeyPatch, attempts: int, is_last: bool
) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(jobs, "_database", lambda: database)
    task = jobs._in_a_thread(lambda _database, **arguments: told.append(arguments))
    context = cast(JobContext, SimpleNamespace(job=SimpleNamespace(attempts=attempts)))
    asyncio.run(cast(Any, task(context, group_id="1")))
    assert told == [{"group_id": "1", "is_last_try": is_last}]
