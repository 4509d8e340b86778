"""The rules for weeks, months and years: "last week", "the past 3 months", "two weeks ago"."""

from __future__ import annotations

from datetime import date, timedelta

from app.periods.calendar_units import Part, Unit, around, part_of, shift, week_of_year
from app.periods.grammar import Match, Rule, needing, resolved, rule
from app.periods.nodes import Needs, Node
from app.periods.period import Partial, Period, one_day
from app.periods.vocabulary import Ahead, Back

_A_DAY = timedelta(days=1)
_DURATION = "(number|few|a) unit ((comma|and)* number unit)*"
# Units of which one is meant by "the past one" as often as by the calendar's.
_ROLLING: tuple[Unit, ...] = ("day", "week", "month", "year")


def _today(match: Match) -> Node:
    day = match.nodes[0]
    period = one_day(match.today + timedelta(days=day.value))
    return match.period(period, Needs.WHOLE if day.is_weak else Needs.NOTHING)


def _ago(match: Match) -> Node:
    return match.period(one_day(_shifted(match, match.today, -1)))


def _within(match: Match) -> Node:
    # In a sentence it is a deadline: "use it within 3 days".
    period = Period(match.today, _shifted(match, match.today, 1))
    return match.period(period, Needs.WHOLE)


def _shifted(match: Match, day: date, sign: int) -> date:
    """So much before or after a day: "1 month and 21 days"."""
    counts = [node.value or 1 for node in match.all("number", "few", "a")]
    for count, unit in zip(counts, match.all("unit"), strict=True):
        day = shift(day, unit.value, sign * count)
    return day


def _beyond(match: Match) -> Node:
    """ "The week before last", "the month after next"."""
    steps = -2 if match.has("before") else 2
    return match.period(around(match.today, match.value("unit"), steps))


def _counted(match: Match) -> Node | None:
    """ "The last 3 weeks" are those up to today, "the next 3" begin tomorrow."""
    if match.nodes[-1].sign != "unit" and not match.vocabulary.qualifies_after:
        return None
    count, unit = match.value("number", "few"), match.value("unit")
    if unit not in _ROLLING:
        first, last = (-count, -1) if match.has("last") else (1, count)
        ends = around(match.today, unit, first), around(match.today, unit, last)
        return match.period(Period(ends[0].start, ends[1].end))
    if match.has("last"):
        return match.period(Period(shift(match.today, unit, -count), match.today))
    start = match.today + _A_DAY
    return match.period(Period(start, shift(start, unit, count)))


def _counted_before(match: Match) -> Node | None:
    """ "Los dos últimos meses"; in "5 to 18 next month" the 18 counts no months."""
    return _counted(match) if match.vocabulary.qualifies_after else None


def _one(match: Match) -> Node | None:
    """ "Last week", "the past week", "el mes que viene", "la semana en curso"."""
    which, unit = match.all("last", "next", "this")[0], match.value("unit")
    is_after = match.nodes[-1] is which
    if match.all("unit")[0].is_weak or (is_after and not match.vocabulary.qualifies_after):
        return None
    if which.is_weak:
        return None if unit == "day" else match.period(around(match.today, unit), Needs.ROOM)
    if unit == "day":
        return _one_day(match, which.value)
    back = which.value if isinstance(which.value, Back) else None
    if back and unit in _ROLLING and (back.rolls or (back.by_year and match.has("the"))):
        return match.period(Period(shift(match.today, unit, -1), match.today))
    steps = -back.steps if back else which.value.steps if which.value else 0
    return match.period(around(match.today, unit, steps))


def _one_day(match: Match, which: Back | Ahead | None) -> Node:
    steps = -which.steps if isinstance(which, Back) else which.steps if which else 0
    # "Your last day" and "the next day" are other days than those around today.
    is_ours = which is None or (isinstance(which, Back) and match.has("the"))
    needs = Needs.ROOM if is_ours else Needs.WHOLE
    return match.period(one_day(match.today + timedelta(days=steps)), needs)


def _one_of_something(match: Match) -> Node | None:
    """ "Last week of" what is no time at all."""
    made = _one(match)
    return needing(made, Needs.ROOM) if made else None


def _quarter(match: Match) -> Node:
    quarter = match.all("quarter")[0]
    unit, number = quarter.value
    if not match.has("point", "period"):
        period = _numbered(match.today, unit, number, None)
        return match.period(period, Needs.WHOLE if quarter.is_weak else Needs.EITHER)
    year = resolved(match.all("point", "period")[0], match.today)
    if year is None or year.days < 365:
        return match.void()
    return match.period(_numbered(match.today, unit, number, year.start.year))


def _numbered(today: date, unit: Unit, number: int, year: int | None) -> Period | None:
    """The third quarter, the tenth week: of that year, else the latest that has begun."""
    if year is None:
        this_year = _numbered(today, unit, number, today.year)
        is_begun = this_year is not None and this_year.start <= today
        return this_year if is_begun else _numbered(today, unit, number, today.year - 1)
    if unit == "week":
        return week_of_year(year, number)
    period = around(date(year, 1, 1), unit, number - 1)
    return period if number >= 1 and period.start.year == year else None


def _unit_and_number(match: Match) -> Node | None:
    """ "Week 31", "trimestre 3 de 2026", "el día 15"."""
    unit, number, point = match.value("unit"), match.value("number"), match.value("point")
    if unit == "day" and match.vocabulary.day_first and not point:
        return match.point(Partial(day=number), Needs.ROOM if match.has("the") else Needs.WHOLE)
    if unit not in ("week", "quarter", "third", "half") or (point and point.is_day):
        return None
    period = _numbered(match.today, unit, number, point and point.year)
    return match.period(period, Needs.NOTHING if point else Needs.ROOM)


def _ordinal_unit(match: Match) -> Node | None:
    """ "The third quarter" without its year."""
    unit = match.value("unit")
    if unit not in ("quarter", "third", "half") or match.all("unit")[0].is_weak:
        return None
    return match.period(_numbered(match.today, unit, match.value("ordinal"), None), Needs.ROOM)


def _so_far(match: Match) -> Node | None:
    """ "This month so far", "year to date"."""
    whole = _unit_or_period(match)
    if whole is None or match.today not in whole:
        return None
    return match.period(Period(whole.start, match.today + _A_DAY))


def _until_now(match: Match) -> Node:
    whole = Period(date.min, match.today + _A_DAY)
    return match.period(whole, Needs.ROOM if match.value("so_far") else Needs.WHOLE)


def _earlier(match: Match) -> Node | None:
    whole = resolved(match.nodes[-1], match.today)
    if whole is None or match.today not in whole or whole.start == match.today:
        return None
    return match.period(Period(whole.start, match.today))


def _rest(match: Match) -> Node | None:
    whole = _unit_or_period(match)
    if whole is None or match.today not in whole:
        return None
    return match.period(Period(match.today, whole.end))


def _unit_or_period(match: Match) -> Period | None:
    unit = match.value("unit")
    if unit:
        return None if unit in ("day", "weekend") else around(match.today, unit)
    return resolved(match.all("period", "point")[0], match.today)


def _vague(match: Match) -> Node | None:
    """ "Early next week", "end of March", "fin de mes"."""
    whole = _unit_or_period(match)
    if whole is None or whole.days < 7:
        return None
    which: Part = "early" if match.has("early") else "late" if match.has("late") else "middle"
    needs = Needs.ROOM if match.has("unit") else Needs.NOTHING
    return match.period(part_of(whole, which), needs)


def _bare_unit(match: Match) -> Node | None:
    """ "The weekend", "de la semana": this one, where nothing else was said."""
    unit = match.value("unit")
    if match.all("unit")[0].is_weak:
        return None
    is_clear = unit == "weekend" or (match.has("in") and match.vocabulary.day_first)
    return match.period(around(match.today, unit), Needs.ROOM if is_clear else Needs.WHOLE)


_WHICH = "(last|next|this)"

UNIT_RULES: tuple[Rule, ...] = (
    rule("today shift?", _today),
    rule(f"{_DURATION} ago|hace {_DURATION}", _ago),
    rule(f"within the? next? {_DURATION} (from period)?", _within),
    rule("the? unit (before the? last|after the? next) unit?", _beyond),
    rule("the? number (last|next) unit (?! of)", _counted_before),
    rule(f"the? {_WHICH} unit (?! of|in the? (point|period))", _one),
    rule(f"(?<! number) (?<! few) the? unit {_WHICH}", _one),
    rule("quarter of? the? (point|period)|point quarter|quarter", _quarter),
    rule("the? unit number (of? the? point)?", _unit_and_number),
    rule("(period|the? unit) so_far|so_far the? (period|unit)", _so_far),
    rule("earlier of? period", _earlier),
    rule("rest of? the? (period|unit)", _rest),
    rule("(early|middle|late) dash? of? the? (period|point|unit)", _vague),
)
LATE_UNIT_RULES: tuple[Rule, ...] = (
    rule("the? (last|next) (number|few) unit", _counted),
    rule("the? number unit (last|next)", _counted),
    rule(f"the? {_WHICH} unit", _one_of_something),
    rule("the? ordinal unit", _ordinal_unit),
)
BARE_UNIT_RULES: tuple[Rule, ...] = (
    rule("so_far", _until_now),
    rule("(in|on|of)? the unit|this? unit", _bare_unit),
)
