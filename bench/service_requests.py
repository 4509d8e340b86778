"""How quickly a queue of fifty thousand requests is served, and a conversation about one is read.

Options: --rows=50000 --times=200. The pages are timed at a client over HTTP, one after the other;
reading the state of a request is timed as a turn does it, with row-level security.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select, text, update

from app.assistant.models import Message, Thread
from app.db import Database, app_database
from app.retrieval.evaluate import percentile
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.services.starters import add_starters, read_starters
from app.skills.service_requests.workflow.state_loader import load_state_at_head
from bench.support.house import House, as_plan, open_house
from bench.support.load import run_load
from bench.support.wire import Guest, Line
from tests.factories import Member, make_group, make_thread, make_user

STATE_BAR_MS, PAGE_BAR_MS = 15, 100
WARM = 20
DIGRESSIONS = 100
FILL = """
    INSERT INTO service_requests (
        id, group_id, user_id, requester, begun_at, type_id, type_version, form, values, origins,
        title, priority, status, language, assignee_id, year, number, is_ai_resolution_attempted,
        is_ai_resolution_successful, due_at, submitted_at, responded_at, resolved_at, updated_at,
        version)
    SELECT gen_random_uuid(), :group, :person, 'Somebody', gen_random_uuid(), :type, 1,
           '{"name": {"en": "Leak", "es": "Fuga"}, "path": [], "icon": "wrench", "fields": []}',
           '{}', '{}', 'The sink in the bar leaks ' || n, 'normal',
           (ARRAY['new', 'in_progress', 'waiting', 'resolved', 'closed'])[1 + n % 5], 'en',
           :person, 2026, n, n % 3 = 0, n % 9 = 0, now() + (n % 200 - 100) * interval '1 hour',
           now() - n * interval '10 minutes', now() - n * interval '9 minutes',
           CASE WHEN n % 5 > 2 THEN now() - n * interval '5 minutes' END, now(), 1
      FROM generate_series(1, :rows) AS n
"""
PAGES = {
    "own": "/requests",
    "queue": "/requests/queue",
    "queue, mine": "/requests/queue?assignee=me",
    "numbers of a year": "/requests/queue/analytics?months=12",
}


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """The percentiles of the pages, and of reading a request from a long conversation."""
    parser = argparse.ArgumentParser(prog="service_requests")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--times", type=int, default=200)
    options = parser.parse_args(list(arguments))
    with open_house(runners=0) as house:
        manager = fill(house, options.rows)
        database = app_database(house.settings)
        state = _read_states(database, manager, options.times)
        plan = {
            "port": house.port,
            "guests": as_plan([house.guest(manager)]),
            "times": options.times,
            "pages": PAGES,
        }
        pages = run_load("service_requests", plan)
        database.engine.dispose()
    state |= {"bar_ms": STATE_BAR_MS, "met": state["p95_ms"] <= STATE_BAR_MS}
    for each in pages.values():
        each |= {"bar_ms": PAGE_BAR_MS, "met": each["p95_ms"] <= PAGE_BAR_MS}
    barred = [state, *pages.values()]
    return {
        "met": all(each["met"] for each in barred),
        "rows": options.rows,
        "state of a thread": state,
        "pages": pages,
    }


def fill(house: House, rows: int) -> Member:
    """So many requests of a house that somebody looks after; its manager."""
    group_id = make_group(house.owner)
    manager = make_user(house.owner, group_id, "manager")
    with house.owner.transaction() as session:
        session.info["scope"] = manager.scope
        add_starters(session, group_id, list(read_starters()))
        type_id = session.scalar(
            select(RequestType.id).where(
                RequestType.group_id == group_id, RequestType.is_submittable
            )
        )
        facts = {"group": group_id, "person": manager.user_id, "type": type_id, "rows": rows}
        session.execute(text(FILL), facts)
    with house.owner.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as line:
        line.execute(text("VACUUM ANALYZE service_requests"))
    return manager


def _read_states(database: Database, manager: Member, times: int) -> dict[str, Any]:
    """Reading a request from a conversation of 200 messages, most of them about other things."""
    thread_id = _talk(database, manager)
    found: list[float] = []
    for _number in range(times + WARM):
        with database.transaction(manager.scope) as session:
            began = time.perf_counter()
            assert load_state_at_head(session, thread_id, "en").is_open
            found.append((time.perf_counter() - began) * 1000)
    return _figures(found[WARM:])


def _talk(database: Database, manager: Member) -> UUID:
    thread_id = make_thread(database, manager, *["How long can chicken stay out?"] * DIGRESSIONS)
    with database.transaction(manager.scope) as session:
        kind = session.scalars(
            select(RequestType).where(
                RequestType.group_id == manager.group_id, RequestType.is_submittable
            )
        ).first()
        assert kind is not None
        [title, *_rest] = kind.fields
        replies = session.scalars(
            select(Message.id)
            .where(Message.thread_id == thread_id, Message.role == "assistant")
            .order_by(Message.id)
        ).all()
        _take(session, replies[0], {"type": "type_offered", "query": "a leak"})
        chosen = {"type": "type_selection", "type_id": str(kind.id), "version": kind.version}
        _take(session, replies[1], chosen)
        for number, reply in enumerate(replies[2:40]):
            told = {"type": "field_response", "field_id": title["field_id"], "by": "said"}
            _take(session, reply, {**told, "value": f"A leak {number}"})
        assert session.get(Thread, thread_id) is not None
    return thread_id


def _take(session: Any, message_id: UUID, step: dict[str, Any]) -> None:
    kept = {"type": "steps", "steps": [step]}
    session.execute(update(Message).where(Message.id == message_id).values(internal_content=kept))


def _figures(times: list[float]) -> dict[str, Any]:
    return {
        "p50_ms": round(percentile(times, 0.5), 1),
        "p95_ms": round(percentile(times, 0.95), 1),
        "most_ms": round(max(times), 1),
    }


# The load


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Each page again and again, as one browser asks for it."""
    guest, line = Guest(**plan["guests"][0]), Line(plan["port"])
    measured = {}
    for name, path in plan["pages"].items():
        times = []
        for _number in range(plan["times"] + WARM):
            began = time.perf_counter()
            answer = await line.get(path, guest.header)
            times.append((time.perf_counter() - began) * 1000)
            assert answer.status == 200, (path, answer.status)
        measured[name] = _figures(times[WARM:])
    return measured
