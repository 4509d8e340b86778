"""The rules for dates and months: "Monday, 4 June 2026", "June 4th", "last March", "2026"."""

from __future__ import annotations

from datetime import date, timedelta

from app.periods.calendar_units import around
from app.periods.grammar import Match, Rule, rule
from app.periods.nodes import Needs, Node
from app.periods.numeric import day_and_month, month_and_year, whole_date
from app.periods.period import YEARS, Partial, Period, month_of, one_day
from app.periods.vocabulary import Ahead, Back

_MOST_DAYS = 31
_MAY = 5
_WEEKDAY = "(weekday (comma|the)*)?"
_NUMBER = "(ordinal|number)"
_MARK = "(dash|slash)"
_DAY_OF_MONTH = f"{_NUMBER} (of the?|{_MARK})? month dot? ((comma? of? the?|{_MARK}) year)?"


def _day_before_month(match: Match) -> Node | None:
    needs = Needs.NOTHING
    month = match.all("month")[0]
    if month.is_weak and not match.has("of", "ordinal", "year", "weekday"):
        is_verb = month.value in match.vocabulary.verbs
        needs = Needs.BOTH if is_verb else Needs.EITHER
    return _whole(match, needs)


def _day_after_month(match: Match) -> Node | None:
    month = match.all("month")[0]
    is_english = not match.vocabulary.day_first
    if match.has("year") or (is_english and not month.is_weak):
        return _whole(match, Needs.NOTHING)
    if not is_english and month.is_weak:
        return None
    is_verb = not match.has("ordinal") and month.value in match.vocabulary.verbs
    return _whole(match, Needs.ROOM if is_verb or not is_english else Needs.NOTHING)


def _day_before_verb(match: Match) -> Node | None:
    """ "Wine, 3 March": without a word before the number nothing marches."""
    return _whole(match, Needs.ROOM) if match.value("month") in match.vocabulary.verbs else None


def _whole(match: Match, needs: Needs) -> Node | None:
    """The date; "31 February" contradicts itself, in "40 March" there is no day."""
    day = match.value("ordinal", "number")
    if not 1 <= day <= _MOST_DAYS:
        return None
    return match.point(whole_date(match.value("year"), match.value("month"), day), needs)


def _day_of_number(match: Match) -> Node | None:
    """ "El 7 del 4"."""
    if not match.vocabulary.day_first:
        return None
    first, second = (node.value for node in match.all("number"))
    partial = day_and_month(first, second, day_first=True) if second <= 12 else None
    return match.point(partial, Needs.ROOM) if partial else None


def _month_and_year(match: Match) -> Node:
    return match.point(month_and_year(match.value("month"), match.value("year")))


def _figures(match: Match) -> Node | None:
    """ "2026-3" and "3 / 2026"; a full stop is no hyphen."""
    if match.has("dot") and match.nodes[0].end == match.nodes[1].start:
        return None
    partial = month_and_year(match.value("number"), match.value("year"))
    return match.point(partial, Needs.ROOM) if partial else None


def _weekday_and_number(match: Match) -> Node | None:
    day = match.value("ordinal", "number")
    if day > _MOST_DAYS:
        return None
    return match.point(Partial(day=day, weekday=match.value("weekday")), Needs.ROOM)


def _day_named_so(match: Match) -> Node | None:
    """ "El día 3 de octubre"."""
    point: Partial = match.value("point")
    is_day = match.value("unit") == "day" and match.vocabulary.day_first
    return match.point(point) if is_day and point.day else None


def _which_weekday(match: Match) -> Node | None:
    """ "Last Friday", "el viernes que viene"."""
    qualifier, weekday = match.all("last", "next", "this")[0], match.all("weekday")[0]
    if match.nodes[0] is weekday and not match.vocabulary.qualifies_after:
        return None
    day = _weekday_from(match.today, weekday.value, qualifier.value)
    return match.period(one_day(day), Needs.ROOM if weekday.is_weak else Needs.NOTHING)


def _weekday_from(today: date, weekday: int, which: Back | Ahead | None) -> date:
    monday = around(today, "week").start
    if isinstance(which, Back):
        back = (today.weekday() - weekday - 1) % 7 + 1
        return today - timedelta(days=back + 7 * (which.steps - 1))
    if isinstance(which, Ahead) and not which.by_week:
        return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    return monday + timedelta(days=weekday + (7 if which else 0))


def _which_month(match: Match) -> Node | None:
    """ "Last March", "marzo pasado"; "this may be" is none."""
    qualifier, month = match.all("last", "next", "this")[0], match.all("month")[0]
    if match.nodes[0] is month and not match.vocabulary.qualifies_after:
        return None
    needs = Needs.NOTHING
    if month.is_weak and qualifier.sign == "this":
        needs = Needs.LEAD if month.value == _MAY else Needs.ROOM
    return match.period(_month_from(match.today, month.value, qualifier.value), needs)


def _month_from(today: date, month: int, which: Back | Ahead | None) -> Period:
    if isinstance(which, Back):
        is_over = month < today.month and not which.by_year
        return month_of(today.year - (0 if is_over else 1) - (which.steps - 1), month)
    return month_of(today.year + (1 if which and month <= today.month else 0), month)


def _month(match: Match) -> Node:
    month = match.nodes[0]
    return match.point(Partial(month=month.value), Needs.LEAD if month.is_weak else Needs.EITHER)


def _weekday(match: Match) -> Node:
    day = match.nodes[0]
    needs = Needs.BOTH if day.is_weak else Needs.EITHER
    return match.point(Partial(weekday=day.value), needs)


def _year(match: Match) -> Node | None:
    """ "The 1970" is a decade, or has a noun after it; "el 2016" is the year."""
    article, needs = match.value("the"), Needs.BOTH
    if article in ("the", "los") or match.value("year") not in YEARS:
        return match.void()
    if match.has("unit"):
        if match.value("unit") != "year":
            return None
        needs = Needs.NOTHING
    return match.point(Partial(year=match.value("year")), needs)


DATE_RULES: tuple[Rule, ...] = (
    rule(
        "bar the? (weekday|month|unit|today)|(hace number|a) weekday|number weekday ago", Match.void
    ),
    rule(f"weekday (comma|the)* {_DAY_OF_MONTH}", _day_before_month),
    rule("(?<! word) number month (?! dot|comma|of|year|dash|slash)", _day_before_verb),
    rule(_DAY_OF_MONTH, _day_before_month),
    rule(f"year {_MARK} month {_MARK} number", _day_after_month),
    rule(
        f"{_WEEKDAY} month dot? (the|{_MARK})? {_NUMBER} ((comma? of? the?|{_MARK}) year)?"
        " (?! unit)",
        _day_after_month,
    ),
    rule("the? unit point", _day_named_so),
    rule("number of the number", _day_of_number),
    rule(f"month dot? (comma? of? the?|{_MARK}) year", _month_and_year),
    rule(f"year (comma|of|{_MARK})? month", _month_and_year),
    rule("year (dash|slash|dot) number", _figures),
    rule("number (dash|slash|dot) year", _figures),
    rule(f"weekday comma? the? {_NUMBER} (?! unit|of)", _weekday_and_number),
    rule("(last|next|this) weekday (?! of)|weekday (last|next)", _which_weekday),
    rule("(last|next|this) month|month (last|next)", _which_month),
    rule("month", _month),
    rule("weekday", _weekday),
    rule("the? unit year", _year),
    rule("the? year", _year),
)
