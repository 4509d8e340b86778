"""The runner's own bookkeeping: stopping, taking over, and what it forgets when a turn ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import gevent
import pytest
from flask import Flask

from app.accounts.models import ROLES
from app.assistant.providers import builtin
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.threads.threads import Accepted, accept_message, request_stop
from app.assistant.turns.executor import ClaimedTurn, TurnTimedOut, claim_turns
from app.assistant.turns.runner import Runner
from app.db import Database, new_id
from tests.assistant.scripted import ScriptedProvider, say
from tests.factories import Member, make_user


@pytest.fixture
def runner(app: Flask) -> Runner:
    runner = Runner(app)
    runner.provider = ScriptedProvider(say("Fine."))
    return runner


def queue(database: Database, member: Member) -> Accepted:
    with database.session(member.scope) as session:
        return accept_message(
            session, thread_id=new_id(), may_begin=True, message="Hi", language="en"
        )


def claim_one(runner: Runner, turn_id: UUID) -> ClaimedTurn:
    claimed = claim_turns(runner.services, runner.runner_id, 1000)
    [found] = [each for each in claimed if each.turn_id == turn_id]
    return found


def test_a_finished_turn_is_forgotten(runner: Runner, database: Database, member: Member) -> None:
    accepted = queue(database, member)
    runner._start(claim_one(runner, accepted.turn.id))
    assert list(runner.running) == [accepted.turn.id]
    runner.pool.join()
    gevent.sleep(0)
    assert runner.running == {}
    assert runner.settling == set()


def test_a_turn_that_is_stopped_before_it_began_is_forgotten_too(
    runner: Runner, database: Database, member: Member
) -> None:
    """Else its lease would be renewed for ever and the thread never answered again."""
    accepted = queue(database, member)
    runner._start(claim_one(runner, accepted.turn.id))
    runner._heard(f"stop:{accepted.turn.id}")
    runner.pool.join()
    gevent.sleep(0)
    assert runner.running == {}


def test_a_stop_for_a_turn_of_another_runner_is_ignored(
    runner: Runner, database: Database, member: Member
) -> None:
    runner._heard(f"stop:{new_id()}")
    assert not runner.wake.is_set()
    runner._heard("")
    assert runner.wake.is_set()


def test_a_stop_request_is_found_at_the_next_renewal_when_its_notice_was_lost(
    runner: Runner, database: Database, member: Member
) -> None:
    accepted = queue(database, member)
    runner._start(claim_one(runner, accepted.turn.id))
    with database.session(member.scope) as session:
        assert request_stop(session, accepted.thread.id) == []
    runner._renew(3)
    runner.pool.join()
    gevent.sleep(0)
    assert runner.running == {}


def test_a_turn_that_was_taken_over_is_dropped_at_the_next_renewal(
    runner: Runner, owner: Database, database: Database, member: Member
) -> None:
    accepted = queue(database, member)
    runner._start(claim_one(runner, accepted.turn.id))
    with owner.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE turns SET runner_id = 'another', fence = 2 WHERE id = %s",
            (str(accepted.turn.id),),
        )
    runner._renew(3)
    runner.pool.join()
    gevent.sleep(0)
    assert runner.running == {}
    assert isinstance(runner.provider, ScriptedProvider)
    assert runner.provider.requests == []


@pytest.mark.parametrize("role", ROLES)
def test_a_runner_has_read_what_a_role_may_ask_for_before_anybody_does(
    app: Flask, database: Database, owner: Database, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexes: dict[Any, Any] = {}
    monkeypatch.setattr(builtin, "_indexes", indexes)
    runner = Runner(app)
    runner.provider = BuiltinProvider(runner.services.embedder)
    runner._prepare()
    known = set(indexes)
    assert known
    accepted = queue(database, make_user(owner, role=role))
    runner._start(claim_one(runner, accepted.turn.id))
    runner.pool.join()
    assert set(indexes) == known


@pytest.mark.fault(68)
def test_a_turn_that_takes_its_end_for_something_else_is_ended_all_the_same(
    runner: Runner, database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = queue(database, member)
    swallowed = list[str]()

    def stubborn(*_arguments: object) -> None:
        for _ in range(2):
            try:
                gevent.sleep(30)
            except TurnTimedOut:
                swallowed.append("once more")
        gevent.sleep(30)

    monkeypatch.setattr("app.assistant.turns.runner.execute_turn", stubborn)
    monkeypatch.setattr("app.assistant.turns.runner.OVERDUE_SECONDS", 0.05)
    settings = runner.services.settings.model_copy(update={"ai_turn_timeout_seconds": 0.05})
    runner.services = replace(runner.services, settings=settings)
    runner._start(claim_one(runner, accepted.turn.id))
    runner.pool.join(timeout=20)
    gevent.sleep(0)
    assert swallowed == ["once more"] * 2
    assert runner.running == {}
