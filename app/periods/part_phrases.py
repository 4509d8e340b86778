"""The rules for parts of a period: "the first week of March", "Friday next week"."""

from __future__ import annotations

from datetime import date, timedelta

from app.periods.calendar_units import Unit, around, shift, weekdays_within, within
from app.periods.grammar import Match, Rule, resolved, rule
from app.periods.nodes import Needs, Node
from app.periods.period import Partial, Period, date_of, one_day

_A_FOURTH = 4


def _units_of(match: Match) -> Node | None:
    """ "The first 3 days of March", "the last week of 2025"."""
    whole = _context(match)
    if whole is None:
        return None
    unit: Unit = match.value("unit")
    if unit == "half" and whole.days <= 31:
        unit = "quincena"
    return _selected(match, within(whole, unit))


def _weekday_of(match: Match) -> Node | None:
    """ "The first Tuesday of last month"."""
    partial: Partial = match.value("point")
    whole = _context(match, 1)
    if whole is None or partial.weekday is None or partial.day is not None:
        return None
    return _selected(match, weekdays_within(whole, partial.weekday))


def _weekday_of_this_month(match: Match) -> Node | None:
    partial: Partial = match.value("point")
    if partial.weekday is None or partial.day is not None:
        return None
    days = weekdays_within(around(match.today, "month"), partial.weekday)
    number = match.value("ordinal")
    return match.period(days[number - 1] if number <= len(days) else None, Needs.ROOM)


def _context(match: Match, skipped: int = 0) -> Period | None:
    """The month or the longer time that something is a part of."""
    nodes = match.all("point", "period")[skipped:]
    if not nodes or (isinstance(nodes[0].value, Partial) and nodes[0].value.is_day):
        return None
    whole = resolved(nodes[0], match.today)
    return whole if whole and 7 <= whole.days <= 366 else None


def _selected(match: Match, units: list[Period]) -> Node:
    """The unit, or the several, of that place; there may be no fifth Monday."""
    count = match.value("number") or 1
    number = match.value("ordinal")
    first = len(units) - count if number is None else (number - 1) * count
    chosen = units[first : first + count] if first >= 0 else []
    if len(chosen) < count or not chosen:
        return match.void()
    return match.period(Period(chosen[0].start, chosen[-1].end))


def _fourth(match: Match) -> Node | None:
    """ "El 2º cuarto de 2026": a fourth of a year is a quarter."""
    number, fourth = (node.value for node in match.all("ordinal"))
    whole = _context(match)
    if fourth != _A_FOURTH or whole is None or number > _A_FOURTH:
        return None
    quarters = within(whole, "quarter")
    return match.period(quarters[number - 1]) if len(quarters) == _A_FOURTH else None


def _month_of_year(match: Match) -> Node | None:
    """ "May next year"."""
    partial: Partial = match.value("point")
    year: Period = match.value("period")
    if partial.month is None or partial.year or year.days < 365:
        return None
    return match.point(Partial(year.start.year, partial.month, partial.day))


def _day_of_month(match: Match) -> Node | None:
    """ "The 31st of next month": where there is none, it contradicts itself."""
    month: Period = match.value("period")
    day = match.value("ordinal", "number")
    if not 28 <= month.days <= 31 or month.start.day != 1 or day > 31:
        return None
    chosen = date_of(month.start.year, month.start.month, day)
    return match.period(one_day(chosen) if chosen else None)


def _day_of_week(match: Match) -> Node | None:
    """ "Friday next week", "last week Tuesday"."""
    partial: Partial = match.value("point")
    week: Period = match.value("period")
    if partial.weekday is None or partial.day is not None or week.days != 7:
        return None
    return match.period(weekdays_within(week, partial.weekday)[0])


def _unit_around(match: Match) -> Node | None:
    """ "The week of 7 November"; "the week of March" is none."""
    unit: Unit = match.value("unit")
    day = _said_day(match)
    if unit == "month" and match.has("point") and match.value("point").month:
        day = resolved(match.all("point")[0], match.today)
    if day is None or unit in ("day", "weekend"):
        return None
    is_number = match.has("ordinal", "number")
    return match.period(around(day.start, unit), Needs.ROOM if is_number else Needs.NOTHING)


def _unit_from(match: Match) -> Node | None:
    """ "The week starting 2 March"."""
    day = _said_day(match)
    if day is None:
        return None
    return match.period(Period(day.start, shift(day.start, match.value("unit"), 1)))


def _said_day(match: Match) -> Period | None:
    """The day that the last of the nodes tells: a date, a number, or a period of one day."""
    last = match.nodes[-1]
    if last.sign in ("ordinal", "number"):
        return Partial(day=last.value).period(match.today) if 0 < last.value <= 31 else None
    day = resolved(last, match.today)
    return day if day and day.days == 1 else None


def _counted_from(match: Match) -> Node | None:
    """ "Two days before 5 March", "two weeks from Monday"."""
    day = _said_day(match)
    if day is None:
        return None
    count = match.value("number", "few", "a") or 1
    sign = -1 if match.has("before") else 1
    return match.period(one_day(shift(day.start, match.value("unit"), sign * count)))


def _next_to(match: Match) -> Node | None:
    """ "The day after 5 March"; "the week before" it may be one or the other."""
    day = _said_day(match)
    if match.value("unit") != "day" or day is None:
        return match.void()
    beside: date = day.start + timedelta(days=-1 if match.has("before") else 1)
    return match.period(one_day(beside))


_CONTEXT = "(of|in|comma)? the? (point|period)"
_SIDE = "(before|after|from)"

SELECTION_RULES: tuple[Rule, ...] = (
    rule(f"the? (ordinal|last) number? unit {_CONTEXT}", _units_of),
    rule("point comma? the? ordinal unit", _units_of),
    rule(f"the? (ordinal|last) point {_CONTEXT}", _weekday_of),
    rule(f"the? ordinal ordinal {_CONTEXT}", _fourth),
    rule("the? ordinal point", _weekday_of_this_month),
    rule("point (of|in|comma)? the? period", _month_of_year),
    rule("the? ordinal (of|in)? the? period|the? number of the? period", _day_of_month),
    rule("point (of|in|comma)? the? period", _day_of_week),
    rule("period on? point", _day_of_week),
    rule("the? unit of the? (point|period|ordinal|number)", _unit_around),
    rule("(the|a)? unit starting on? the? (point|period)", _unit_from),
    rule(f"(number|few|a) unit {_SIDE} the? (point|period)", _counted_from),
    rule("the? unit (before|after) the? (point|period)", _next_to),
)
