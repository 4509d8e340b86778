"""The rules for what has two ends, or one: "from 5 to 18 May", "since 1 June"."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from app.periods.grammar import Match, Rule, resolved, rule
from app.periods.nodes import Needs, Node
from app.periods.period import BEGINNING, END, Partial, Period, date_of, month_of, one_day

_A_DAY = timedelta(days=1)
_MOST_DAYS = 31
# As far back as the 29th of February may lie.
_YEARS_BACK = 9
# The tenth may be a dish; the twenty fifth is hardly one.
_RARE_ORDINAL = 20
_LEADS = ("from", "since", "between", "of")
Said = Partial | Period


def _range(match: Match) -> Node | None:
    first, last = match.all("point", "period")[:2]
    period = _between(first.value, last.value, match.today)
    has_lead = match.nodes[0].sign in _LEADS
    is_clear = has_lead or first.needs is last.needs is Needs.NOTHING
    is_listed = match.has("and") and not match.has("between")
    if is_listed and not _are_neighbours(first, last, match.today):
        return match.void()
    return match.period(period, Needs.NOTHING if is_clear else Needs.ROOM)


def _are_neighbours(first: Node, last: Node, today: date) -> bool:
    """ "March and April" are one period; "March and May" are two."""
    before, after = resolved(first, today), resolved(last, today)
    return before is not None and after is not None and before.end == after.start


def _between(first: Said, last: Said, today: date) -> Period | None:
    """From the one to the other; None where they contradict each other."""
    if isinstance(first, Partial) and isinstance(last, Partial):
        return _between_partials(first, last, today)
    if isinstance(first, Partial) and isinstance(last, Period):
        return _spanned(first.period(last.last), last)
    if isinstance(first, Period) and isinstance(last, Partial):
        return _spanned(first, _from_day(last, first.start))
    assert isinstance(first, Period) and isinstance(last, Period)
    return _spanned(first, last)


def _spanned(first: Period | None, last: Period | None) -> Period | None:
    if first is None or last is None or first.start > last.start:
        return None
    return Period(first.start, max(first.end, last.end))


def _from_day(partial: Partial, day: date) -> Period | None:
    """The first one that is not before a day."""
    if partial.weekday is not None and partial.day is None:
        return one_day(day + timedelta(days=(partial.weekday - day.weekday()) % 7))
    if partial.year:
        return partial.period(day)
    if partial.month is None:
        months = (month_of(day.year, day.month + ahead).start for ahead in range(12))
        days = (date_of(each.year, each.month, partial.day or 0) for each in months)
        found = next((each for each in days if each and each >= day), None)
        return one_day(found) if found else None
    years = range(day.year, day.year + _YEARS_BACK)
    periods = (replace(partial, year=year).period(day) for year in years)
    return next((each for each in periods if each and each.start >= day), None)


def _between_partials(first: Partial, last: Partial, today: date) -> Period | None:
    if first.day and last.month and not first.month:
        first = replace(first, month=last.month)
    if last.day and first.month and not last.month:
        last = replace(last, month=first.month)
    if first.year is None and last.year and first.month:
        is_before = (first.month, first.day or 1) <= (last.month or 12, last.day or 31)
        first = replace(first, year=last.year if is_before else last.year - 1)
    if first.year or first.month is None:
        start = first.period(today)
        return _spanned(start, _from_day(last, start.start)) if start else None
    return _latest(first, last, today)


def _latest(first: Partial, last: Partial, today: date) -> Period | None:
    """Without years: the latest that has begun, and if it spans a new year, that has come."""
    for year in range(today.year, today.year - _YEARS_BACK, -1):
        start = replace(first, year=year).period(today)
        end = _from_day(last, start.start) if start else None
        whole = _spanned(start, end)
        if start is None or end is None or whole is None:
            continue
        is_begun = start.start < today or (start.days > 1 and start.start == today)
        is_over = end.start.year == year or end.start <= today
        if is_begun and is_over:
            return whole
    return None


def _numbers_of_month(match: Match) -> Node | None:
    """ "From 5 to 18 this month": two numbers, or a number and a day."""
    number = match.all("ordinal", "number")[0].value
    last = match.all("point", "period")[-1] if match.has("point", "period") else None
    if last is None or not 1 <= number <= _MOST_DAYS:
        return None
    numbers = [node.value for node in match.all("ordinal", "number")]
    if len(numbers) == 2:
        return _days_of(match, numbers[0], numbers[1], resolved(last, match.today))
    if isinstance(last.value, Period):
        day = last.value
        if day.days != 1:
            return None
        return _days_of(match, number, day.start.day, month_of(day.start.year, day.start.month))
    if not last.value.day:
        return None
    period = _between(Partial(day=number), last.value, match.today)
    has_lead = match.nodes[0].sign in _LEADS
    return match.period(period, Needs.NOTHING if has_lead else last.needs)


def _days_of(match: Match, first: int, last: int, month: Period | None) -> Node | None:
    if month is None or not 28 <= month.days <= _MOST_DAYS or month.start.day != 1:
        return None
    start = date_of(month.start.year, month.start.month, first)
    end = date_of(month.start.year, month.start.month, last)
    if not start or not end or start > end:
        return match.void()
    return match.period(Period(start, end + _A_DAY))


def _day_to_number(match: Match) -> Node | None:
    """ "May 3 to 9, 2026"."""
    first: Partial = match.value("point")
    number, year = match.value("ordinal", "number"), match.all("point")[1:]
    if not first.day or not first.month or number > _MOST_DAYS:
        return None
    last = Partial(year[0].value.year if year else None, first.month, number)
    if year and (year[0].value.month or year[0].value.is_day):
        return None
    if last.year and not first.year:
        first = replace(first, year=last.year)
    if last.year is None:
        last = replace(last, year=first.year)
    if first.day > number:
        return match.void()
    return match.period(_between(first, last, match.today), Needs.ROOM)


def _range_in_week(match: Match) -> Node | None:
    """ "Last week between Tuesday and Thursday"."""
    first, last = (node.value for node in match.all("point"))
    week: Period = match.value("period")
    if week.days != 7 or not _is_weekday(first) or not _is_weekday(last):
        return None
    start = week.start + timedelta(days=(first.weekday - week.start.weekday()) % 7)
    return match.period(_between(one_day(start), last, match.today))


def _is_weekday(partial: Partial) -> bool:
    return partial.weekday is not None and partial.day is None


def _day_of_a_week(match: Match) -> Node | None:
    """ "From Friday to Sunday last week" has taken its Sunday already."""
    first, last = match.all("point", "period")
    if not isinstance(first.value, Partial) or not isinstance(last.value, Period):
        return None
    if not _is_weekday(first.value) or last.value.days != 1:
        return None
    return match.period(_spanned(first.value.period(last.value.start), last.value))


def _said(match: Match) -> Period | None:
    last = match.all("point", "period", "ordinal", "number")[-1]
    if last.sign in ("ordinal", "number"):
        is_day = last.sign == "ordinal" or match.vocabulary.day_first
        is_day = is_day and _is_for_days(match)
        return Partial(day=last.value).period(match.today) if is_day and last.value else None
    return resolved(last, match.today)


def _is_for_days(match: Match) -> bool:
    """ "El 3" may be a day, "la 3" is a table."""
    return all(article.value in ("the", "el") for article in match.all("the"))


def _since(match: Match) -> Node | None:
    period = _said(match)
    return match.period(_from(period.start, match.today), _needs(match)) if period else None


def _after(match: Match) -> Node | None:
    period = _said(match)
    return match.period(_from(period.end, match.today), _needs(match)) if period else None


def _from(start: date, today: date) -> Period:
    """Up to today and with it; what begins later has no end."""
    return Period(start, today + _A_DAY if start <= today else END)


def _until(match: Match) -> Node | None:
    period = _said(match)
    return match.period(Period(BEGINNING, period.end), _needs(match)) if period else None


def _before(match: Match) -> Node | None:
    period = _said(match)
    return match.period(Period(BEGINNING, period.start), _needs(match)) if period else None


def _needs(match: Match) -> Needs:
    """ "Since the 5th" is a day where no noun follows; "from now on" is nothing to look up."""
    last = match.all("point", "period", "ordinal", "number")[-1]
    if last.sign in ("ordinal", "number"):
        return _needs_of_day(last)
    return Needs.WHOLE if last.needs is Needs.WHOLE else Needs.NOTHING


def _needs_of_day(day: Node) -> Needs:
    """ "The 25th" is a day where no noun follows; "the second" may be anything."""
    is_rare = day.sign == "ordinal" and (not day.is_spelled or day.value > _RARE_ORDINAL)
    return Needs.ROOM if is_rare or day.sign == "number" else Needs.WHOLE


def _after_and_before(match: Match) -> Node | None:
    first, last = match.all("point", "period")
    whole = _between(first.value, last.value, match.today)
    ends = resolved(first, match.today)
    if whole is None or ends is None:
        return match.void()
    start = whole.start + (ends.end - ends.start) if match.has("after") else whole.start
    if not match.has("before"):
        return match.period(Period(start, whole.end))
    last_start = resolved(last, whole.last)
    end = last_start.start if last_start else start
    return match.period(Period(start, end) if start < end else None)


def _number_and_number(match: Match) -> Node | None:
    """ "On 4-25"."""
    first, second = (node.value for node in match.all("number"))
    if match.nodes[0].end != match.nodes[1].start:
        return None
    usual = (second, first) if match.vocabulary.day_first else (first, second)
    for month, day in (usual, usual[::-1]):
        if 1 <= month <= 12 and date_of(2000, month, day):
            return match.point(Partial(month=month, day=day), Needs.BOTH)
    return None


def _numbers(match: Match) -> Node | None:
    """ "From the 4th to the 9th", "del 4 al 9": of the latest month in which they have begun."""
    first, last = match.all("ordinal", "number")
    is_day = first.sign == last.sign == "ordinal" or match.vocabulary.day_first
    if not is_day or not _is_for_days(match) or not (first.value < last.value <= _MOST_DAYS):
        return match.void()
    for back in range(_YEARS_BACK):
        month = month_of(match.today.year, match.today.month - back).start
        days = [date_of(month.year, month.month, node.value) for node in (first, last)]
        if days[0] and days[1] and days[0] < match.today:
            needs = Needs.ROOM if first.sign == "ordinal" else Needs.DEED
            return match.period(Period(days[0], days[1] + _A_DAY), needs)
    return match.void()


def _day_alone(match: Match) -> Node | None:
    """ "The 25th"; "the 12" may be a dish, unless it says what was done then."""
    day = match.nodes[-1]
    if not 1 <= day.value <= _MOST_DAYS or not _is_for_days(match):
        return None
    if day.sign == "number":
        return match.point(Partial(day=day.value), Needs.DEED)
    return match.point(Partial(day=day.value), _needs_of_day(day))


_LEAD = "(from|since|between|of|in)? the?"
_JOINT = "(to|until|dash|and) (the comma?)?"
_ANY = "(point|period)"
_NUMBER = "(ordinal|number)"

RANGE_RULES: tuple[Rule, ...] = (
    rule(f"period (from|between|since|of)? the? point {_JOINT} point", _range_in_week),
    rule(f"(from|between|since|of)? the? point {_JOINT} point of? the? period", _range_in_week),
    rule(f"{_LEAD} {_NUMBER} {_JOINT} {_NUMBER} of? the? {_ANY}", _numbers_of_month),
    rule(f"{_ANY} (from|between|since|of) the? {_NUMBER} {_JOINT} {_NUMBER}", _numbers_of_month),
    rule(f"{_LEAD} {_NUMBER} {_JOINT} {_ANY}", _numbers_of_month),
    rule(f"{_LEAD} point (to|until|dash|and) {_NUMBER} (comma? point)?", _day_to_number),
    rule(f"(from|between|since|of)? the {_NUMBER} (to|until) the {_NUMBER}", _numbers),
    rule(f"between the {_NUMBER} and the {_NUMBER}", _numbers),
    rule("from the? ordinal (to|until) the? ordinal", _numbers),
    rule("between the? ordinal and the? ordinal", _numbers),
    rule(f"(from|between|since|of)? the? point {_JOINT} period", _day_of_a_week),
    rule(f"(after|since|from) the? {_ANY} and? (until|before|to) the? {_ANY}", _after_and_before),
    rule(f"{_LEAD} {_ANY} {_JOINT} {_ANY}", _range),
    rule(f"between the? {_ANY} (?! so_far)|(from|since) the? {_ANY} (to|until)", Match.void),
    rule(
        f"since the? {_ANY} onward? (?! so_far)|since the {_NUMBER}|from the? {_ANY} onward", _since
    ),
    rule(f"from the? {_ANY} on (?= stop|comma|dot)|(from|since) the? {_ANY} so_far", _since),
    rule(f"until the? {_ANY}|until the {_NUMBER}", _until),
    rule(f"before the? {_ANY}|before the {_NUMBER}", _before),
    rule(f"after the? {_ANY}|after the {_NUMBER}", _after),
    rule("number dash number", _number_and_number),
    rule("the? ordinal and the? ordinal", Match.void),
    rule("(the|on the?) ordinal|(the|on) number", _day_alone),
)
