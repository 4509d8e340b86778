"""Dates in figures: "2026-03-04", "4/3/2026", "4/3", "3.2026"."""

from __future__ import annotations

import re

from app.periods.nodes import Needs, Node
from app.periods.period import YEARS, Partial, date_of

# Of two figures for a year, those below are of this century, the others of the last.
_LAST_CENTURY = 50
# Whether there is such a day in any year at all.
_A_LEAP_YEAR = 2000


def read_numeric(written: str, start: int, day_first: bool) -> Node:
    """The date that figures write; "void" where the calendar has none."""
    figures = re.findall(r"\d+", written)
    partial = _read(figures, day_first)
    end = start + len(written)
    if partial is None:
        return Node("void", start, end)
    return Node("point", start, end, partial, needs=_needs(figures))


def _read(figures: list[str], day_first: bool) -> Partial | None:
    numbers = [int(each) for each in figures]
    if len(figures) == 2:
        if len(figures[0]) == 4:
            return month_and_year(numbers[1], numbers[0])
        if len(figures[1]) == 4:
            return month_and_year(numbers[0], numbers[1])
        return _day_and_month(numbers[0], numbers[1], None, day_first)
    if len(figures[0]) == 4:
        return whole_date(numbers[0], numbers[1], numbers[2])
    year = numbers[2]
    if len(figures[2]) == 2:
        year += 2000 if year < _LAST_CENTURY else 1900
    return _day_and_month(numbers[0], numbers[1], year, day_first)


def month_and_year(month: int, year: int) -> Partial | None:
    return Partial(year, month) if 1 <= month <= 12 and year in YEARS else None


def whole_date(year: int | None, month: int, day: int) -> Partial | None:
    """The day, if there is such a one."""
    if not date_of(year or _A_LEAP_YEAR, month, day) or (year and year not in YEARS):
        return None
    return Partial(year, month, day)


def day_and_month(first: int, second: int, day_first: bool) -> Partial | None:
    """4/5 as the language has it; the other way where that is no day."""
    return _day_and_month(first, second, None, day_first)


def _day_and_month(first: int, second: int, year: int | None, day_first: bool) -> Partial | None:
    usual = (second, first) if day_first else (first, second)
    return whole_date(year, *usual) or whole_date(year, usual[1], usual[0])


def _needs(figures: list[str]) -> Needs:
    """A half is 1/2; 4/22 or 01/02 is no part of anything, unless of an inch or a kilo."""
    if len(figures) == 3:
        return Needs.NOTHING
    is_fraction = all(len(each) < 3 and int(each) <= 12 and each[0] != "0" for each in figures)
    return Needs.BOTH if is_fraction else Needs.ROOM
