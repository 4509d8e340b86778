"""How quickly a ledger of two hundred thousand expenses is listed, summed up and served.

Options: --rows=200000 --people=20 --times=200. The service calls are timed as the app makes
them, with row-level security; the page over HTTP, at a client that asks for one thing after
the other.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import text

from app.db import Database, ScopedSession, app_database
from app.retrieval.evaluate import percentile
from app.skills.expenses.services.expenses import Filters, find_expenses
from app.skills.expenses.services.settings import load_ledger
from app.skills.expenses.services.sums import sum_up
from bench.support.house import House, as_plan, open_house
from bench.support.load import run_load
from bench.support.wire import Guest, Line
from tests.factories import Member, make_group, make_user

SERVICE_BAR_MS, PAGE_BAR_MS = 25, 50
WARM = 20
YEARS = 3
ITEMS = "taxi napkins salmon propane detergent tortillas ink limes aprons repair".split()
FILL = """
    INSERT INTO expenses (id, group_id, user_id, item, amount, currency, date, category, note,
                          version, created_at, updated_at)
    SELECT gen_random_uuid(), :group, (CAST(:people AS uuid[]))[1 + n % :count],
           (CAST(:items AS text[]))[1 + n % 10] || ' ' || n, 1 + (n * 37 % 90000) / 100.0,
           CASE WHEN n % 20 = 0 THEN 'EUR' ELSE 'USD' END, current_date - (n * 7919 % :days),
           (CAST(:categories AS text[]))[1 + n * 31 % :kinds], '', 1, now(), now()
      FROM generate_series(1, :rows) AS n
"""
# Each address is asked for by itself; the bar is that of the page as it opens.
PAGES = {
    "page": "/expenses",
    "page of this month": "/expenses?range=this+month",
    "page of last month and one category": "/expenses?range=last+month&category=ingredients",
    "page of one person": "/expenses?who=mine",
    "tenth page": "/expenses?page=10",
    "found by a word": "/expenses?q=salmon",
}
BARRED = [name for name in PAGES if name != "found by a word"]


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """The percentiles of the list, of the balance, and of the page in some of its states."""
    parser = argparse.ArgumentParser(prog="expenses")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--times", type=int, default=200)
    options = parser.parse_args(list(arguments))
    with open_house(runners=0) as house:
        manager = fill(house, options.rows, options.people)
        database = app_database(house.settings)
        services = _services(database, manager, options.times)
        plan = {
            "port": house.port,
            "guests": as_plan([house.guest(manager)]),
            "times": options.times,
        }
        pages = run_load("expenses", plan)
        plans = _plans(database, manager)
        database.engine.dispose()
    for each in services.values():
        each |= {"bar_ms": SERVICE_BAR_MS, "met": each["p95_ms"] <= SERVICE_BAR_MS}
    for name in BARRED:
        pages[name] |= {"bar_ms": PAGE_BAR_MS, "met": pages[name]["p95_ms"] <= PAGE_BAR_MS}
    barred = [*services.values(), *(pages[name] for name in BARRED)]
    return {
        "met": all(each["met"] for each in barred),
        "rows": options.rows,
        "services": services,
        "pages": pages,
        "plans": plans,
    }


def fill(house: House, rows: int, people: int) -> Member:
    """So many expenses of three years in one house, a tenth of it in another; its manager."""
    managers = [_fill_group(house, rows, people), _fill_group(house, rows // 10, people)]
    with house.owner.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as line:
        line.execute(text("VACUUM ANALYZE expenses"))
        line.execute(text("VACUUM ANALYZE expense_months"))
    return managers[0]


def _fill_group(house: House, rows: int, people: int) -> Member:
    group_id = make_group(house.owner)
    manager = make_user(house.owner, group_id, "manager")
    staff = [make_user(house.owner, group_id) for _ in range(people - 1)]
    with house.owner.transaction() as session:
        session.info["scope"] = manager.scope
        slugs = [each["slug"] for each in load_ledger(session).categories]
        facts = {
            "group": group_id,
            "people": [each.user_id for each in [manager, *staff]],
            "count": people,
            "items": ITEMS,
            "days": YEARS * 365,
            "categories": slugs,
            "kinds": len(slugs),
            "rows": rows,
        }
        session.execute(text(FILL), facts)
    return manager


def _services(database: Database, manager: Member, times: int) -> dict[str, dict[str, Any]]:
    def listed(session: ScopedSession) -> int:
        return len(find_expenses(session, Filters()))

    def balance(session: ScopedSession) -> int:
        return sum_up(session, Filters()).count

    calls: dict[str, Callable[[ScopedSession], int]] = {"list": listed, "balance": balance}
    return {name: _timed(database, manager, call, times) for name, call in calls.items()}


def _timed(
    database: Database, manager: Member, call: Callable[[ScopedSession], int], times: int
) -> dict[str, Any]:
    found: list[float] = []
    for _number in range(times + WARM):
        with database.transaction(manager.scope) as session:
            began = time.perf_counter()
            assert call(session)
            found.append((time.perf_counter() - began) * 1000)
    return _figures(found[WARM:])


def _figures(times: list[float]) -> dict[str, Any]:
    return {
        "p50_ms": round(percentile(times, 0.5), 1),
        "p95_ms": round(percentile(times, 0.95), 1),
        "most_ms": round(max(times), 1),
    }


def _plans(database: Database, manager: Member) -> dict[str, list[str]]:
    """How the database goes about the list and the balance, for the record."""
    statements = {
        "list": "SELECT id FROM expenses WHERE group_id = :group AND deleted_at IS NULL"
        " ORDER BY date DESC, id DESC LIMIT 50",
        "balance": "SELECT month, category, currency, sum(count), sum(total) FROM expense_months"
        " WHERE group_id = :group GROUP BY month, category, currency",
    }
    found = {}
    with database.transaction(manager.scope) as session:
        for name, statement in statements.items():
            explained = text(f"EXPLAIN (ANALYZE, TIMING OFF) {statement}")
            lines = session.execute(explained, {"group": manager.group_id}).scalars()
            found[name] = [line.strip() for line in lines if "Scan" in line or "Time" in line]
    return found


# The load


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Each page again and again, as one browser asks for it."""
    guest, line = Guest(**plan["guests"][0]), Line(plan["port"])
    measured = {}
    for name, path in PAGES.items():
        times = []
        for _number in range(plan["times"] + WARM):
            began = time.perf_counter()
            answer = await line.get(path, guest.header)
            times.append((time.perf_counter() - began) * 1000)
            assert answer.status == 200, (path, answer.status)
        measured[name] = _figures(times[WARM:])
    return measured
