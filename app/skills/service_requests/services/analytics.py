"""How the requests of some months went: how many, how fast, and what the assistant solved."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, DateTime, Row, case, cast, func, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY, INTERVAL

from app.db import ScopedSession
from app.skills.service_requests.models import OPEN_STATUSES, RequestType, ServiceRequest
from app.skills.service_requests.services.requests import of_group
from app.skills.service_requests.services.type_catalog import AS_NAMED

RANGES = (1, 3, 6, 12)
_R = ServiceRequest


@dataclass(frozen=True)
class Measured:
    """Numbers of some requests; times are medians in seconds, None where there are none.

    What the assistant solved by itself has no times and no due date that anybody kept: it
    counts as `accepted` alone, and `judged` are the others that are over, or overdue.
    """

    submitted: int = 0
    is_open: int = 0
    resolved: int = 0
    response: float | None = None
    resolution: float | None = None
    judged: int = 0
    met: int = 0
    attempted: int = 0
    accepted: int = 0


@dataclass(frozen=True)
class Report:
    """The whole, by month in their order, and by type, most first; a type that is gone is None."""

    total: Measured
    by_month: dict[dt.date, Measured]
    by_type: list[tuple[RequestType | None, Measured]]


def first_month(today: dt.date, months: int) -> dt.date:
    """The first day of the range that ends with this month."""
    whole = today.year * 12 + today.month - months
    return dt.date(whole // 12, whole % 12 + 1, 1)


def measure(session: ScopedSession, first: dt.date, zone: ZoneInfo, now: dt.datetime) -> Report:
    """What became of the requests that were submitted since the day `first`. One scan."""
    # Fifty thousand of them are sorted for their medians: in memory, for this transaction alone.
    session.execute(select(func.set_config("work_mem", "16MB", True)))
    months = _months(first, now.astimezone(zone).date())
    begins = [dt.datetime.combine(each, dt.time(), zone) for each in months]
    # The place of its month among them: much faster than to reckon with zones for each row.
    month = func.width_bucket(_R.submitted_at, cast(begins, ARRAY(DateTime(timezone=True))))
    # Named once, so that the sets group by one expression and not by two that look alike.
    source = (
        select(_R.type_id, month.label("month"), *_facts(now))
        .where(of_group(session), _R.submitted_at >= begins[0])
        .subquery()
    )
    columns = source.c
    query = select(
        func.grouping(columns.type_id, columns.month).label("set"),
        columns.type_id,
        columns.month,
        *_numbers(columns),
    ).group_by(func.grouping_sets(tuple_(), tuple_(columns.type_id), tuple_(columns.month)))
    return _report(session, months, list(session.execute(query)))


def _months(first: dt.date, last: dt.date) -> list[dt.date]:
    """The first days of the months from one to the other, those without a request with them."""
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    whole = (divmod(first.month - 1 + step, 12) for step in range(max(count, 1)))
    return [dt.date(first.year + years, month + 1, 1) for years, month in whole]


def _facts(now: dt.datetime) -> list[ColumnElement[Any]]:
    """What is counted of a request, as columns of yes or no and of seconds."""
    over = func.coalesce(_R.resolved_at, _R.closed_at)
    is_open = _R.status.in_(OPEN_STATUSES)
    by_people = ~_R.is_ai_resolution_successful
    return [
        is_open.label("is_open"),
        (~is_open & over.is_not(None)).label("is_over"),
        case((by_people, _seconds(_R.responded_at))).label("response"),
        case((by_people & ~is_open, _seconds(over))).label("resolution"),
        (by_people & (~is_open | (_R.due_at < now))).label("is_judged"),
        (by_people & ~is_open & (over <= _R.due_at)).label("is_met"),
        _R.is_ai_resolution_attempted.label("is_attempted"),
        _R.is_ai_resolution_successful.label("is_accepted"),
    ]


def _seconds(moment: Any) -> ColumnElement[Any]:
    # Not `extract`, which reckons in numerics: they are slow to sort.
    return func.date_part("epoch", cast(moment - _R.submitted_at, INTERVAL))


def _numbers(columns: Any) -> list[ColumnElement[Any]]:
    def count(name: str) -> ColumnElement[int]:
        return func.count().filter(columns[name])

    def median(name: str) -> ColumnElement[Any]:
        return func.percentile_cont(0.5).within_group(columns[name])

    return [
        func.count(),
        count("is_open"),
        count("is_over"),
        median("response"),
        median("resolution"),
        count("is_judged"),
        count("is_met"),
        count("is_attempted"),
        count("is_accepted"),
    ]


# What `grouping` says of a row: which of type and month it does not tell apart.
OF_ALL, OF_TYPE, OF_MONTH = 3, 1, 2


def _report(session: ScopedSession, months: list[dt.date], rows: list[Row[Any]]) -> Report:
    measured = [(*row[:3], Measured(*row[3:])) for row in map(tuple, rows)]
    total = next((found for kind, _t, _m, found in measured if kind == OF_ALL), Measured())
    of_month = {place: found for kind, _t, place, found in measured if kind == OF_MONTH}
    by_id = {type_id: found for kind, type_id, _m, found in measured if kind == OF_TYPE}
    types = _types(session, by_id)
    by_type = [(types.get(type_id), found) for type_id, found in by_id.items()]
    return Report(
        total,
        {month: of_month.get(place, Measured()) for place, month in enumerate(months, 1)},
        sorted(by_type, key=lambda each: (-each[1].submitted, each[0].slug if each[0] else "")),
    )


def _types(session: ScopedSession, found: dict[UUID | None, Measured]) -> dict[Any, RequestType]:
    query = (
        select(RequestType)
        .where(
            RequestType.group_id == session.scope.group_id,
            RequestType.id.in_([each for each in found if each is not None]),
        )
        .options(AS_NAMED)
    )
    return {each.id: each for each in session.scalars(query)}
