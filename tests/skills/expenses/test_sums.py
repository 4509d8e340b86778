"""Sums are always what adding up the rows by hand comes to, whatever happened to them."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from app.db import Database
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import (
    Filters,
    change_expense,
    conditions,
    delete_expense,
    restore_expense,
    visible,
)
from app.skills.expenses.services.settings import load_ledger
from app.skills.expenses.services.sums import sum_up
from tests.factories import Member, make_user
from tests.factories.expenses import a_day, ledger_of, make_expense

Key = tuple[dt.date | str, str]


def by_hand(database: Database, who: Member, filters: Filters) -> dict[Key, tuple[int, Decimal]]:
    """The rows that the filters let through, added up one by one: by month and by category."""
    counts: Counter[Key] = Counter()
    totals: dict[Key, Decimal] = {}
    with database.transaction(who.scope) as session:
        rows = session.scalars(
            select(Expense).where(
                *visible(session), Expense.deleted_at.is_(None), *conditions(filters)
            )
        )
        for row in rows:
            for of in (row.date.replace(day=1), row.category):
                key = (of, row.currency)
                counts[key] += 1
                totals[key] = totals.get(key, Decimal(0)) + row.amount
    return {key: (counts[key], totals[key]) for key in counts}


def summed(database: Database, who: Member, filters: Filters) -> dict[Key, tuple[int, Decimal]]:
    with database.transaction(who.scope) as session:
        balance = sum_up(session, filters)
    found: dict[Key, tuple[int, Decimal]] = {}
    for each in (*balance.categories, *balance.months):
        key = (each.month or each.category or "", each.currency)
        count, total = found.get(key, (0, Decimal(0)))
        found[key] = (count + each.count, total + each.total)
    return found


@pytest.fixture(scope="module")
def house(owner: Database, database: Database) -> tuple[Member, Member, Member]:
    """Two servers and a manager, with rows of half a year in two currencies."""
    first = make_user(owner)
    second = make_user(owner, first.group_id)
    boss = make_user(owner, first.group_id, "manager")
    today = ledger_of(database, first).today
    for number in range(120):
        make_expense(
            database,
            (first, second)[number % 2],
            ("Taxi", "Soap", "Limes")[number % 3],
            amount=Decimal(number * 37 % 900 + 1) / 4,
            date=today - dt.timedelta(days=number * 3 % 200),
            category=("transport", "cleaning", "ingredients")[number % 3],
            currency=("USD", "EUR")[number % 5 == 0],
        )
    return first, second, boss


days = st.integers(-210, 3)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    first=days | st.none(),
    length=st.integers(0, 220) | st.none(),
    category=st.sampled_from(["", "cleaning"]),
    currency=st.sampled_from(["", "EUR"]),
    words=st.sampled_from(["", "", "soa"]),
    who=st.integers(0, 2),
    of_one=st.booleans(),
)
def test_any_range_and_filter_comes_to_what_the_rows_come_to(
    database: Database,
    house: tuple[Member, Member, Member],
    first: int | None,
    length: int | None,
    category: str,
    currency: str,
    words: str,
    who: int,
    of_one: bool,
) -> None:
    today = ledger_of(database, house[0]).today
    start = None if first is None else today + dt.timedelta(days=first)
    end = None if length is None else (start or today) + dt.timedelta(days=length)
    person = house[1].user_id if of_one else None
    filters = Filters(start, end, category, currency, person, words)
    assert summed(database, house[who], filters) == by_hand(database, house[who], filters)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-03-01", "2026-04-01"),
        ("2026-03-01", "2026-03-01"),
        ("2026-03-02", "2026-03-31"),
        ("2026-02-28", "2026-04-02"),
        ("2026-02-15", "2026-03-15"),
        ("2025-12-31", "2026-01-02"),
        ("2026-04-10", "2026-03-10"),
    ],
)
def test_whole_months_and_the_days_beside_them_are_each_counted_once(
    database: Database, member: Member, start: str, end: str
) -> None:
    for date in (
        "2025-12-31 2026-01-01 2026-02-14 2026-02-28 2026-03-01 2026-03-10 2026-03-31 2026-04-01"
    ).split():
        make_expense(database, member, date=a_day(date))
    filters = Filters(a_day(start), a_day(end))
    assert summed(database, member, filters) == by_hand(database, member, filters)


def test_sums_follow_what_happens_to_the_rows(
    owner: Database, database: Database, member: Member
) -> None:
    boss = make_user(owner, member.group_id, "manager")
    taxi = make_expense(database, member, amount=12)
    make_expense(database, member, amount=8)
    everything = Filters()

    def total() -> Decimal:
        with database.transaction(boss.scope) as session:
            return sum_up(session, everything).totals().get("USD", Decimal(0))

    assert total() == 20
    with database.transaction(boss.scope) as session:
        last_month = load_ledger(session).today - dt.timedelta(days=40)
        change_expense(
            session, load_ledger(session), taxi.id, {"amount": Decimal(30), "date": last_month}
        )
    assert total() == 38
    with database.transaction(boss.scope) as session:
        delete_expense(session, taxi.id, 2)
    assert total() == 8
    with database.transaction(boss.scope) as session:
        restore_expense(session, taxi.id)
    assert total() == 38
    assert summed(database, boss, everything) == by_hand(database, boss, everything)


def test_currencies_are_never_added_to_one_another(database: Database, member: Member) -> None:
    make_expense(database, member, amount=5, currency="USD")
    make_expense(database, member, amount=7, currency="EUR", category="cleaning")
    with database.transaction(member.scope) as session:
        balance = sum_up(session, Filters())
    assert balance.count == 2
    assert balance.totals() == {"EUR": 7, "USD": 5}
    assert balance.by_category("EUR") == {"cleaning": 7}
    assert list(balance.by_month("USD").values()) == [5]


def test_a_balance_has_no_row_for_each_month_in_each_category(
    database: Database, member: Member
) -> None:
    today = ledger_of(database, member).today
    for month in range(6):
        for category in ("transport", "cleaning", "ingredients"):
            make_expense(
                database, member, date=today - dt.timedelta(days=31 * month), category=category
            )
    with database.transaction(member.scope) as session:
        balance = sum_up(session, Filters())
    assert balance.count == 18
    assert (len(balance.categories), len(balance.months)) == (3, 6)
