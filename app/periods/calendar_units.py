"""The calendar's units: the one around a day, those before and after it, those within a period."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Literal

from app.periods.period import Period, month_of, one_day

Unit = Literal["day", "week", "weekend", "quincena", "month", "quarter", "third", "half", "year"]

Part = Literal["early", "middle", "late"]

_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "third": 4, "half": 6, "year": 12}
_DAYS: dict[Unit, int] = {"day": 1, "week": 7, "weekend": 7}
_FEW_DAYS: dict[Unit, int] = {"day": 1, "week": 7, "weekend": 2}
# From Monday, the days that say where the rest of a unit is: a week is its Thursday's month's.
_BELONGS: dict[Unit, int] = {"day": 0, "week": 3, "weekend": 0}
_SATURDAY = 5
_HALF_OF_MONTH = 15


def around(day: date, unit: Unit, steps: int = 0) -> Period:
    """The unit that holds a day, or the one so many before or after it."""
    if unit in _MONTHS:
        size = _MONTHS[unit]
        index = (day.year * 12 + day.month - 1) // size + steps
        start = month_of(0, index * size + 1).start
        return Period(start, shift(start, unit, 1))
    if unit == "quincena":
        return _half_of_month(day, steps)
    start = day + timedelta(days=steps * _DAYS[unit])
    if unit == "week":
        start -= timedelta(days=start.weekday())
    elif unit == "weekend":
        start += timedelta(days=_SATURDAY - start.weekday())
    return Period(start, start + timedelta(days=_FEW_DAYS[unit]))


def _half_of_month(day: date, steps: int) -> Period:
    index = (day.year * 12 + day.month - 1) * 2 + (day.day > _HALF_OF_MONTH) + steps
    month = month_of(0, index // 2 + 1)
    middle = month.start + timedelta(days=_HALF_OF_MONTH)
    return Period(middle, month.end) if index % 2 else Period(month.start, middle)


def shift(day: date, unit: Unit, count: int) -> date:
    """So many units later; the 31st becomes the 30th where a month has no more days."""
    if unit in _MONTHS:
        month = month_of(day.year, day.month + count * _MONTHS[unit])
        return min(month.start.replace(day=1) + timedelta(days=day.day - 1), month.last)
    if unit == "quincena":
        return day + timedelta(days=count * _HALF_OF_MONTH)
    return day + timedelta(days=count * _DAYS[unit])


def within(period: Period, unit: Unit) -> list[Period]:
    """The units of a period, in their order; a week belongs to it by its Thursday."""
    return list(_within(period, unit))


def _within(period: Period, unit: Unit) -> Iterator[Period]:
    belongs = timedelta(days=_BELONGS.get(unit, 0))
    each = around(period.start, unit)
    while each.start < period.end:
        if each.start + belongs in period:
            yield each
        each = around(each.start, unit, 1)


def weekdays_within(period: Period, weekday: int) -> list[Period]:
    """The Mondays of a month, say."""
    first = period.start + timedelta(days=(weekday - period.start.weekday()) % 7)
    return [
        one_day(first + timedelta(days=days)) for days in range(0, (period.end - first).days, 7)
    ]


def part_of(period: Period, which: Part) -> Period:
    """The beginning, the middle or the end of a week, a month or a longer time."""
    if period.days <= 7:
        first, last = {"early": (0, 3), "middle": (1, 5), "late": (3, 7)}[which]
    elif period.days <= 31:
        first, last = {"early": (0, 15), "middle": (9, 20), "late": (15, period.days)}[which]
    else:
        return _third_of(period, which)
    start = period.start
    return Period(start + timedelta(days=first), start + timedelta(days=last))


def _third_of(period: Period, which: Part) -> Period:
    first = {"early": 0, "middle": 1, "late": 2}[which]
    start, length = period.start, period.days
    months = [each.start for each in within(period, "month")]
    if len(months) < 3:
        third = [start + timedelta(days=length * part // 3) for part in range(4)]
    else:
        third = [months[len(months) * part // 3] for part in range(3)] + [period.end]
    return Period(third[first], third[first + 1])


def week_of_year(year: int, number: int) -> Period | None:
    """The week of that number; the first one of a year is that of its first Thursday."""
    try:
        return around(date.fromisocalendar(year, number, 1), "week")
    except ValueError:
        return None
