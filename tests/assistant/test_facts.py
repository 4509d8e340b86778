"""What is kept of each turn, once and without a word of it, and how it is summed up by day."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select, update
from sqlalchemy.exc import ProgrammingError

from app.assistant.models import Turn
from app.assistant.providers.base import ProviderError, TextDelta
from app.assistant.threads.threads import accept_message, request_stop
from app.assistant.turns.executor import ClaimedTurn, TurnStopped, claim_turns, execute_turn
from app.assistant.turns.outcome import (
    KEEP_DAYS,
    TurnFacts,
    UsageDay,
    UsageLatency,
    bucket_ms,
    forget_old_facts,
)
from app.db import Database, new_id, utc_now
from app.extensions import Services
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import (
    Member,
    answer,
    ask,
    make_group,
    make_section,
    make_turn_facts,
    make_user,
)


def facts(database: Database, member: Member, turn_id: UUID) -> TurnFacts:
    with database.transaction(member.scope) as session:
        return session.get_one(TurnFacts, turn_id)


def days(database: Database, member: Member) -> list[UsageDay]:
    with database.transaction(member.scope) as session:
        return list(session.scalars(select(UsageDay)))


def test_a_finished_turn_leaves_its_timings_tools_and_tokens(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    make_section(owner, member.group_id)
    asked = ask(database, member, "How long can raw chicken stay out?")
    provider = ScriptedProvider(
        [call("search_manual_v2", '{"query": "raw chicken"}')],
        say("Two hours [1].", tokens=(70, 5)),
    )
    reply = answer(app, member, asked, provider)
    kept = facts(database, member, asked.turn.id)
    assert (kept.status, kept.error_code, kept.language) == ("complete", "", "en")
    assert (kept.provider, kept.model, kept.degraded) == ("scripted", "scripted-1", False)
    assert (kept.tokens_in, kept.tokens_out, kept.model_calls) == (70, 5, 2)
    assert (kept.first_token_ms, kept.latency_ms) == (reply.first_token_ms, reply.latency_ms)
    assert (kept.at, kept.thread_id) == (asked.turn.created_at, asked.thread.id)
    [step] = kept.tools
    assert (step["tool"], step["ok"]) == ("search_manual_v2", True)
    assert set(step) == {"tool", "ok", "ms", "at"}
    assert (kept.search_ms, kept.lexical_only) == (step["ms"], False)


def test_no_word_of_it_is_kept(app: Flask, database: Database, member: Member) -> None:
    asked = ask(database, member, "The secret is saffron")
    provider = ScriptedProvider(
        [call("saffron_said_the_guest", '{"query": "saffron"}')], say("Saffron, then.")
    )
    answer(app, member, asked, provider)
    kept = facts(database, member, asked.turn.id)
    row = {column.name: str(getattr(kept, column.name)) for column in TurnFacts.__table__.columns}
    assert "saffron" not in json.dumps(row).lower()
    assert [(step["tool"], step["ok"]) for step in kept.tools] == [("unknown", False)]
    assert (kept.search_ms, kept.lexical_only) == (None, None)


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        ([ProviderError("unreachable", "away")], "failed", "unreachable"),
        ([TextDelta("Half "), ProviderError("unreachable", "away")], "interrupted", "unreachable"),
        ([TextDelta("Half "), TurnStopped()], "stopped", ""),
        ([ValueError("a bug")], "failed", "internal"),
    ],
    ids=["failed", "interrupted", "stopped", "broken"],
)
def test_a_turn_that_ends_badly_leaves_its_facts_too(
    app: Flask, database: Database, member: Member, script: list[object], status: str, code: str
) -> None:
    asked = ask(database, member)
    answer(app, member, asked, ScriptedProvider(script))  # type: ignore[arg-type]
    kept = facts(database, member, asked.turn.id)
    assert (kept.status, kept.error_code, kept.model_calls) == (status, code, None)
    [day] = days(database, member)
    assert (day.turns, day.failed) == (1, int(status in ("failed", "interrupted")))


def test_a_turn_that_was_stopped_before_it_was_claimed_leaves_its_facts(
    database: Database, member: Member
) -> None:
    with database.session(member.scope) as session:
        asked = accept_message(
            session, thread_id=new_id(), may_begin=True, message="Hi", language="es"
        )
        request_stop(session, asked.thread.id)
        request_stop(session, asked.thread.id)
    kept = facts(database, member, asked.turn.id)
    assert (kept.status, kept.provider, kept.attempts) == ("stopped", "", 0)
    assert (kept.language, kept.latency_ms, kept.first_token_ms) == ("es", None, None)
    assert kept.queued_ms >= 0


def test_a_turn_that_was_taken_over_counts_once_and_from_its_first_claim(
    app: Flask, on: Services, database: Database, member: Member
) -> None:
    asked = ask(database, member)
    began = utc_now() - timedelta(seconds=8)
    with database.transaction(member.scope) as session:
        session.execute(
            update(Turn)
            .where(Turn.id == asked.turn.id)
            .values(created_at=began - timedelta(seconds=2), started_at=began, fence=2, attempts=2)
        )
    with app.test_request_context("/"):
        provider = ScriptedProvider(say("Done."))
        lost = ClaimedTurn(asked.turn.id, 1, 1, member.scope)
        assert execute_turn(on, provider, lost) == "lost"
        taken = ClaimedTurn(asked.turn.id, 2, 2, member.scope)
        assert execute_turn(on, provider, taken) == "complete"
        assert execute_turn(on, provider, taken) == "lost"
    kept = facts(database, member, asked.turn.id)
    assert (kept.attempts, kept.queued_ms) == (2, 2000)
    assert 8000 <= (kept.first_token_ms or 0) <= (kept.latency_ms or 0) < 20_000
    assert [day.turns for day in days(database, member)] == [1]


def test_waiting_for_a_runner_is_measured(
    app: Flask, on: Services, database: Database, member: Member, nobody_waits: None
) -> None:
    with database.session(member.scope) as session:
        asked = accept_message(
            session, thread_id=new_id(), may_begin=True, message="Hi", language="en"
        )
        session.execute(
            update(Turn)
            .where(Turn.id == asked.turn.id)
            .values(created_at=utc_now() - timedelta(seconds=3))
        )
        session.commit()
    with app.test_request_context("/"):
        for claimed in claim_turns(on, "a test", 100):
            execute_turn(on, ScriptedProvider(say("Hello.")), claimed)
    kept = facts(database, member, asked.turn.id)
    assert 3000 <= kept.queued_ms < 20_000


def test_days_are_the_houses_and_sums_follow_every_row(owner: Database, database: Database) -> None:
    member = make_user(owner, make_group(owner, timezone="America/Chicago"))
    evening = datetime(2026, 11, 20, 5, 59, tzinfo=UTC)
    turn_id = make_turn_facts(
        database, member, at=evening, tokens_in=10, tokens_out=2, latency_ms=900, degraded=True
    )
    make_turn_facts(
        database,
        member,
        at=evening + timedelta(minutes=2),
        status="failed",
        search_ms=40,
        lexical_only=True,
    )
    make_turn_facts(database, member, at=evening, tokens_in=5, latency_ms=905)
    with database.session(member.scope) as session, pytest.raises(ProgrammingError):
        session.execute(update(TurnFacts).where(TurnFacts.turn_id == turn_id).values(tokens_in=0))
    found = {day.day.day: day for day in days(database, member)}
    assert (found[19].turns, found[19].tokens_in, found[19].degraded) == (2, 15, 1)
    assert (found[20].failed, found[20].searches, found[20].lexical_only) == (1, 1, 1)
    with owner.transaction() as session:
        query = select(UsageLatency).where(UsageLatency.group_id == member.group_id)
        counts = {row.kind: row.turns for row in session.scalars(query)}
    assert {kind: sum(turns) for kind, turns in counts.items()} == {"latency": 2, "search": 1}
    assert bucket_ms(counts["latency"].index(2)) == pytest.approx(900, rel=0.06)


def test_turns_that_end_at_once_are_all_summed_up(
    owner: Database, database: Database, member: Member
) -> None:
    """And what took forever is in the last bucket."""
    times = [
        {"latency_ms": 10**9, "search_ms": 5},
        {"first_token_ms": 0, "latency_ms": 5, "search_ms": 10**9},
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: make_turn_facts(database, member, **times[n % 2]), range(64)))
    assert [day.turns for day in days(database, member)] == [64]
    with owner.transaction() as session:
        query = select(UsageLatency).where(UsageLatency.group_id == member.group_id)
        counts = {row.kind: row.turns for row in session.scalars(query)}
    assert {kind: sum(turns) for kind, turns in counts.items()} == {
        "first_token": 32,
        "latency": 64,
        "search": 64,
    }
    assert (counts["first_token"][0], counts["latency"][-1], len(counts["latency"])) == (
        32,
        32,
        120,
    )


def test_one_sees_ones_own_facts_and_an_admin_those_of_the_group(
    owner: Database, database: Database, member: Member
) -> None:
    turn_id = make_turn_facts(database, member, latency_ms=5)
    others = {
        "colleague": make_user(owner, member.group_id),
        "manager": make_user(owner, member.group_id, "manager"),
        "admin": make_user(owner, member.group_id, "admin"),
        "stranger": make_user(owner, role="admin"),
    }
    for model in (TurnFacts, UsageDay, UsageLatency):
        seen = {}
        for name, other in others.items():
            with database.transaction(other.scope) as session:
                seen[name] = session.scalar(select(func.count()).select_from(model))
        assert seen == {"colleague": 0, "manager": 0, "admin": 1, "stranger": 0}, model
    assert facts(database, member, turn_id).user_id == member.user_id


def test_what_is_older_than_400_days_is_forgotten(
    owner: Database, database: Database, member: Member
) -> None:
    old = utc_now() - timedelta(days=KEEP_DAYS + 2)
    make_turn_facts(database, member, at=old)
    kept = make_turn_facts(database, member, at=old + timedelta(days=4))
    forget_old_facts(database)
    with database.transaction(member.scope) as session:
        assert session.scalars(select(TurnFacts.turn_id)).all() == [kept]
    assert len(days(database, member)) == 1
