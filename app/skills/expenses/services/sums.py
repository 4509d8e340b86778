"""What was spent: sums by month, category and currency, as fast for ten years as for a day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Date, cast, func, or_, select, true

from app.db import ScopedSession
from app.skills.expenses.models import Expense, ExpenseMonth
from app.skills.expenses.services.expenses import Filters, conditions, may_see_all, visible
from app.text.free_text import limit_search


@dataclass(frozen=True)
class Sum:
    """What was spent in one month, in one category and one currency."""

    month: dt.date
    category: str
    currency: str
    count: int
    total: Decimal


@dataclass(frozen=True)
class Balance:
    """Sums of what some filters let through; currencies are never added to one another."""

    sums: tuple[Sum, ...]

    @property
    def count(self) -> int:
        return sum(each.count for each in self.sums)

    def totals(self) -> dict[str, Decimal]:
        """By currency, the largest first."""
        return _add(self.sums, lambda each: each.currency)

    def by_category(self, currency: str) -> dict[str, Decimal]:
        """In one currency, by the category's slug, the largest first."""
        return _add(self._in(currency), lambda each: each.category)

    def by_month(self, currency: str) -> dict[dt.date, Decimal]:
        """In one currency, by the month's first day, in their order."""
        found = _add(self._in(currency), lambda each: each.month)
        return dict(sorted(found.items()))

    def _in(self, currency: str) -> list[Sum]:
        return [each for each in self.sums if each.currency == currency]


def sum_up(session: ScopedSession, filters: Filters) -> Balance:
    """The balance of what this person may see and the filters let through."""
    months, edges = _split(filters)
    found: list[Sum] = []
    if months is not None and not filters.words:
        found += _sums_of_months(session, filters, months)
    if edges is not None or filters.words:
        found += _sums_of_rows(session, filters, None if filters.words else edges)
    merged: dict[tuple[dt.date, str, str], Sum] = {}
    for each in found:
        key = (each.month, each.category, each.currency)
        known = merged.get(key)
        count, total = each.count, each.total
        if known:
            count, total = count + known.count, total + known.total
        merged[key] = Sum(*key, count, total)
    return Balance(tuple(each for _, each in sorted(merged.items()) if each.count))


Months = tuple[dt.date | None, dt.date | None]


def _split(filters: Filters) -> tuple[Months | None, ColumnElement[bool] | None]:
    """The whole months of a range (the first of them and the one after), and the days beside.

    Either is None where there is nothing of it.
    """
    first = _month_from(filters.start)
    last = filters.end.replace(day=1) if filters.end else None
    if first and last and first >= last:
        # Less than a month: all of it are days.
        return None, true()
    edges: list[ColumnElement[bool]] = []
    if filters.start and first and filters.start < first:
        edges.append(Expense.date < first)
    if filters.end and last and last < filters.end:
        edges.append(Expense.date >= last)
    return (first, last), or_(*edges) if edges else None


def _month_from(start: dt.date | None) -> dt.date | None:
    """The first month that begins on that day or later."""
    if start is None or start.day == 1:
        return start
    return (start.replace(day=1) + dt.timedelta(days=32)).replace(day=1)


def _sums_of_months(session: ScopedSession, filters: Filters, months: Months) -> list[Sum]:
    first, last = months
    which = [ExpenseMonth.group_id == session.scope.group_id]
    if not may_see_all(session):
        which.append(ExpenseMonth.user_id == session.scope.user_id)
    if filters.user_id is not None:
        which.append(ExpenseMonth.user_id == filters.user_id)
    if filters.category:
        which.append(ExpenseMonth.category == filters.category)
    if filters.currency:
        which.append(ExpenseMonth.currency == filters.currency)
    if first is not None:
        which.append(ExpenseMonth.month >= first)
    if last is not None:
        which.append(ExpenseMonth.month < last)
    key = (ExpenseMonth.month, ExpenseMonth.category, ExpenseMonth.currency)
    query = (
        select(*key, func.sum(ExpenseMonth.count), func.sum(ExpenseMonth.total))
        .where(*which)
        .group_by(*key)
    )
    return [Sum(*row) for row in session.execute(query)]


def _sums_of_rows(
    session: ScopedSession, filters: Filters, days: ColumnElement[bool] | None
) -> list[Sum]:
    month = cast(func.date_trunc("month", Expense.date), Date)
    key = (month, Expense.category, Expense.currency)
    which = [*visible(session), Expense.deleted_at.is_(None), *conditions(filters)]
    if days is not None:
        which.append(days)
    query = select(*key, func.count(), func.sum(Expense.amount)).where(*which).group_by(*key)
    with limit_search(session):
        return [Sum(*row) for row in session.execute(query)]


def _add(sums: Iterable[Sum], key: Callable[[Sum], Any]) -> dict[Any, Decimal]:
    found: dict[Any, Decimal] = {}
    for each in sums:
        found[key(each)] = found.get(key(each), Decimal(0)) + each.total
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))
