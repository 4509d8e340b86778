"""What was spent: sums by month, category and currency, as fast for ten years as for a day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Date, Select, cast, func, or_, select, true, tuple_

from app.db import ScopedSession
from app.skills.expenses.models import Expense, ExpenseMonth
from app.skills.expenses.services.expenses import Filters, conditions, may_see_all, visible
from app.text.free_text import limit_search


@dataclass(frozen=True)
class Sum:
    """What was spent in one currency, in one category or in one month: the other is None."""

    month: dt.date | None
    category: str | None
    currency: str
    count: int
    total: Decimal


@dataclass(frozen=True)
class Balance:
    """Sums of what some filters let through; currencies are never added to one another.

    Of months and of categories by themselves: each month in each category would be twenty
    thousand in as many years.
    """

    categories: tuple[Sum, ...]
    months: tuple[Sum, ...]

    @property
    def count(self) -> int:
        return sum(each.count for each in self.categories)

    def totals(self) -> dict[str, Decimal]:
        """By currency, the largest first."""
        return _add(self.categories, lambda each: each.currency)

    def by_category(self, currency: str) -> dict[str, Decimal]:
        """In one currency, by the category's slug, the largest first."""
        return _add(_in(self.categories, currency), lambda each: each.category)

    def by_month(self, currency: str) -> dict[dt.date, Decimal]:
        """In one currency, by the month's first day, in their order."""
        found = _add(_in(self.months, currency), lambda each: each.month)
        return dict(sorted(found.items()))


def sum_up(session: ScopedSession, filters: Filters) -> Balance:
    """The balance of what this person may see and the filters let through."""
    months, edges = _split(filters)
    found: list[Sum] = []
    if months is not None and not filters.words:
        found += _sums_of_months(session, filters, months)
    if edges is not None or filters.words:
        found += _sums_of_rows(session, filters, None if filters.words else edges)
    return Balance(
        tuple(each for each in found if each.category is not None),
        tuple(each for each in found if each.month is not None),
    )


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
    count = func.sum(ExpenseMonth.count)
    query = select(*key, count, func.sum(ExpenseMonth.total)).where(*which)
    return _read(session, query.group_by(_apart(*key)).having(count > 0))


def _sums_of_rows(
    session: ScopedSession, filters: Filters, days: ColumnElement[bool] | None
) -> list[Sum]:
    month = cast(func.date_trunc("month", Expense.date), Date)
    key = (month, Expense.category, Expense.currency)
    which = [*visible(session), Expense.deleted_at.is_(None), *conditions(filters)]
    if days is not None:
        which.append(days)
    query = select(*key, func.count(), func.sum(Expense.amount)).where(*which)
    with limit_search(session):
        return _read(session, query.group_by(_apart(*key)))


def _apart(month: Any, category: Any, currency: Any) -> ColumnElement[Any]:
    """By category and by month, each in its currency; the other is null."""
    return func.grouping_sets(tuple_(category, currency), tuple_(month, currency))


def _read(session: ScopedSession, query: Select[*tuple[Any, ...]]) -> list[Sum]:
    return [Sum(*row) for row in session.execute(query)]


def _in(sums: Iterable[Sum], currency: str) -> list[Sum]:
    return [each for each in sums if each.currency == currency]


def _add(sums: Iterable[Sum], key: Callable[[Sum], Any]) -> dict[Any, Decimal]:
    found: dict[Any, Decimal] = {}
    for each in sums:
        found[key(each)] = found.get(key(each), Decimal(0)) + each.total
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))
