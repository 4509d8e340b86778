"""What a period is, and what of a date was said."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

# A period without a beginning ("until May") starts here, one without an end ends here.
BEGINNING, END = date.min, date.max
# A group's papers are of these years; any other number that looks like a year is none.
YEARS = range(1900, 2101)
_A_DAY = timedelta(days=1)
# Between two 29ths of February there are eight years at most.
_LEAP = 9


@dataclass(frozen=True, order=True)
class Period:
    """Whole days from `start` to the day before `end`: half-open, as a query compares them.

    "From January to March" ends where March begins, which is how points in time are meant.
    `through` is then the day after March, for those who mean all of it: see `whole`.
    """

    start: date
    end: date
    through: date | None = field(default=None, compare=False)

    @property
    def last(self) -> date:
        """The last day that belongs to it."""
        return self.end - _A_DAY

    @property
    def days(self) -> int:
        return (self.end - self.start).days

    @property
    def whole(self) -> Period:
        """With all of the month, week or year that was named last."""
        return Period(self.start, self.through or self.end)

    def __contains__(self, day: date) -> bool:
        return self.start <= day < self.end


def one_day(day: date) -> Period:
    return Period(day, day + _A_DAY)


def date_of(year: int, month: int, day: int) -> date | None:
    """The day, or None where the calendar has no such one."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def month_of(year: int, month: int) -> Period:
    """The month; month 13 is the January after."""
    return Period(_first_of(year, month), _first_of(year, month + 1))


def _first_of(year: int, month: int) -> date:
    years, rest = divmod(month - 1, 12)
    return date(year + years, rest + 1, 1)


@dataclass(frozen=True)
class Partial:
    """What was said of a date: "4 June" has no year, "March 2020" no day."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None

    @property
    def is_day(self) -> bool:
        return self.day is not None or self.weekday is not None

    def period(self, today: date) -> Period | None:
        """The latest that has begun, as a ledger looks back; None where there is no such day."""
        if self.is_day:
            day = self._day(today)
            return one_day(day) if day else None
        if self.month is not None:
            year = self.year or today.year - (self.month > today.month)
            return month_of(year, self.month)
        return Period(date(self.year or 1, 1, 1), date((self.year or 1) + 1, 1, 1))

    def _day(self, today: date) -> date | None:
        if self.day is None:
            return today - timedelta(days=(today.weekday() - (self.weekday or 0)) % 7)
        if self.month is None:
            return self._day_of_a_month(today, self.day)
        years = [self.year] if self.year else range(today.year, today.year - _LEAP, -1)
        days = (date_of(year, self.month, self.day) for year in years)
        return next((day for day in days if day and (self.year or day <= today)), None)

    def _day_of_a_month(self, today: date, number: int) -> date | None:
        """ "The 21st"; with "Thursday", of a month in which it was one, be it still to come."""
        for back in range(12):
            month = month_of(today.year, today.month - back).start
            day = date_of(month.year, month.month, number)
            if day and self.weekday is None and day <= today:
                return day
            if day and self.weekday == day.weekday():
                return day
        return None
