"""How much the assistant is used, by day, person and provider; read from the sums by day."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from decimal import Decimal
from itertools import accumulate
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import func, select, tuple_

from app.accounts.clock import local_now
from app.assistant.turns.outcome import UsageDay, UsageLatency, bucket_ms
from app.config import Settings
from app.db import ScopedSession

RANGES = (7, 30, 90)
MILLION = 1_000_000


@dataclass(frozen=True)
class Sums:
    """What some turns come to; `failed` had no whole answer, `searches` looked something up."""

    turns: int = 0
    failed: int = 0
    degraded: int = 0
    searches: int = 0
    lexical_only: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, name) + getattr(other, name) for name in SUMMED))

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


SUMMED = tuple(field.name for field in fields(Sums))
NOTHING = Sums()


@dataclass(frozen=True)
class Percentiles:
    """Milliseconds that half of the turns, and nineteen in twenty, stay within (to 5 %)."""

    p50: int
    p95: int


@dataclass(frozen=True)
class Report:
    """The usage of a group over some days of its own time zone; every day is there."""

    total: Sums
    by_day: Mapping[date, Sums]
    by_person: Mapping[UUID, Sums]
    by_provider: Mapping[str, Sums]
    times: Mapping[str, Percentiles]


def read_usage(
    session: ScopedSession, days: int, zone: ZoneInfo, today: date | None = None
) -> Report:
    """The last `days` days of the session's group, today among them.

    For admins: the sums of others are hidden from everybody else by their rows' own rule.
    """
    last = today or local_now(zone).date()
    span = [last - timedelta(days=back) for back in reversed(range(days))]
    by_day, by_person, by_provider = _sums(session, span)
    return Report(
        total=sum(by_provider.values(), NOTHING),
        by_day={day: by_day.get(day, NOTHING) for day in span},
        by_person=dict(sorted(by_person.items(), key=lambda each: -each[1].turns)),
        by_provider=dict(sorted(by_provider.items(), key=lambda each: -each[1].turns)),
        times=_times(session, span),
    )


def _sums(session: ScopedSession, span: list[date]) -> tuple[dict[Any, Sums], ...]:
    """The sums by day, by person and by provider, in one reading of the rows."""
    keys = (UsageDay.day, UsageDay.user_id, UsageDay.provider)
    rows = session.execute(
        select(*keys, *(func.sum(getattr(UsageDay, name)) for name in SUMMED))
        .where(UsageDay.group_id == session.scope.group_id, UsageDay.day.between(span[0], span[-1]))
        .group_by(func.grouping_sets(*(tuple_(key) for key in keys)))
    )
    found: tuple[dict[Any, Sums], ...] = ({}, {}, {})
    for row in rows:
        place = next(place for place, key in enumerate(row[:3]) if key is not None)
        found[place][row[place]] = Sums(*(int(value) for value in row[3:]))
    return found


def _times(session: ScopedSession, span: list[date]) -> dict[str, Percentiles]:
    rows = session.execute(
        select(UsageLatency.kind, UsageLatency.turns).where(
            UsageLatency.group_id == session.scope.group_id,
            UsageLatency.day.between(span[0], span[-1]),
        )
    ).all()
    found = {}
    for kind in {row.kind for row in rows}:
        # Faster here than in the database, which would make a row of each bucket first.
        buckets = [sum(days) for days in zip(*(t for of, t in rows if of == kind), strict=True)]
        found[kind] = Percentiles(percentile(buckets, 0.5), percentile(buckets, 0.95))
    return found


def percentile(buckets: Sequence[int], share: float) -> int:
    """The milliseconds within which `share` of the turns in `buckets` stay."""
    wanted = share * sum(buckets)
    return bucket_ms(bisect_left(list(accumulate(buckets)), wanted))


def cost(sums: Sums, settings: Settings) -> Decimal | None:
    """About what a model's maker charges, in US dollars; None where no prices are set."""
    if settings.ai_price_input is None or settings.ai_price_output is None:
        return None
    charged = sums.tokens_in * settings.ai_price_input + sums.tokens_out * settings.ai_price_output
    return charged / MILLION
