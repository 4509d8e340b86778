"""A period in words that end a sentence: "You spent £200 last month (1–31 Oct 2026)"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from babel.dates import format_date, format_interval, format_skeleton

from app.periods.calendar_units import Unit, around, shift
from app.periods.period import BEGINNING, END, Period


@dataclass(frozen=True)
class _Words:
    """The phrases of a language; `locale` writes the dates, the day before the month."""

    locale: str
    days: Mapping[int, str]
    units: Mapping[Unit, tuple[str, str, str]]
    recent: Mapping[Unit, str]
    ever: str
    since: str
    until: str
    until_today: str
    onward: str
    on: str
    month: str
    quarter: str
    year: str
    between: str


_ENGLISH = _Words(
    locale="en_GB",
    days={-1: "yesterday", 0: "today", 1: "tomorrow"},
    units={
        "week": ("last week", "this week", "next week"),
        "weekend": ("last weekend", "this weekend", "next weekend"),
        "month": ("last month", "this month", "next month"),
        "quarter": ("last quarter", "this quarter", "next quarter"),
        "year": ("last year", "this year", "next year"),
    },
    recent={"day": "in the last {} days", "month": "in the last {} months"},
    ever="at any time",
    since="since {}",
    until="until {}",
    until_today="until today",
    onward="from {} on",
    on="on {}",
    month="in {}",
    quarter="in the {} of {}",
    year="in {}",
    between="from {} to {}",
)
_SPANISH = _Words(
    locale="es",
    days={-1: "ayer", 0: "hoy", 1: "mañana"},
    units={
        "week": ("la semana pasada", "esta semana", "la próxima semana"),
        "weekend": ("el fin de semana pasado", "este fin de semana", "el próximo fin de semana"),
        "month": ("el mes pasado", "este mes", "el próximo mes"),
        "quarter": ("el trimestre pasado", "este trimestre", "el próximo trimestre"),
        "year": ("el año pasado", "este año", "el próximo año"),
    },
    recent={"day": "en los últimos {} días", "month": "en los últimos {} meses"},
    ever="en cualquier momento",
    since="desde el {}",
    until="hasta el {}",
    until_today="hasta hoy",
    onward="a partir del {}",
    on="el {}",
    month="en {}",
    quarter="en el {} de {}",
    year="en {}",
    between="del {} al {}",
)
_LANGUAGES = {"en": _ENGLISH, "es": _SPANISH}
_MOST_RECENT_DAYS, _MOST_RECENT_MONTHS = 90, 24


def period_words(period: Period, language: str, today: date) -> str:
    """The period as one says it today: "yesterday", "since 1 June 2026", "en marzo de 2026".

    Where the words hang on today, the days stand beside them, so that none is left to guess.
    """
    words = _LANGUAGES.get(language, _ENGLISH)
    said = _open(period, today, words) or _day(period, today, words)
    if said:
        return said
    relative = _relative(period, today, words)
    if relative:
        last = period.last
        days = format_interval(period.start, last, "yMMMd", locale=words.locale)
        return f"{relative} ({days})"
    if today == period.last:
        return words.since.format(_long(period.start, words))
    return _calendar(period, words) or _between(period, words)


def _long(day: date, words: _Words) -> str:
    return format_date(day, "long", locale=words.locale)


def _open(period: Period, today: date, words: _Words) -> str:
    """A period that has one end, or none."""
    if period.start == BEGINNING and period.end == END:
        return words.ever
    if period.start == BEGINNING:
        is_today = period.last == today
        return words.until_today if is_today else words.until.format(_long(period.last, words))
    if period.end == END:
        return words.onward.format(_long(period.start, words))
    return ""


def _day(period: Period, today: date, words: _Words) -> str:
    if period.days != 1:
        return ""
    named = words.days.get((period.start - today).days)
    return named or words.on.format(format_date(period.start, "full", locale=words.locale))


def _relative(period: Period, today: date, words: _Words) -> str:
    """ "Last week", "in the last 7 days": what is another period tomorrow."""
    for unit, names in words.units.items():
        for steps, name in zip((-1, 0, 1), names, strict=True):
            if around(today, unit, steps) == period:
                return name
    if period.end != today:
        return ""
    for count in range(2, _MOST_RECENT_MONTHS + 1):
        if shift(today, "month", -count) == period.start:
            return words.recent["month"].format(count)
    is_recent = period.days <= _MOST_RECENT_DAYS
    return words.recent["day"].format(period.days) if is_recent else ""


def _calendar(period: Period, words: _Words) -> str:
    """A whole month, quarter or year."""
    start, year = period.start, str(period.start.year)
    if around(start, "month") == period:
        return words.month.format(format_skeleton("yMMMM", start, locale=words.locale))
    if around(start, "quarter") == period:
        quarter = format_date(start, "QQQQ", locale=words.locale)
        return words.quarter.format(quarter, year)
    return words.year.format(year) if around(start, "year") == period else ""


def _between(period: Period, words: _Words) -> str:
    is_one_year = period.start.year == period.last.year
    start = _long(period.start, words)
    if is_one_year:
        start = format_skeleton("MMMMd", period.start, locale=words.locale)
    return words.between.format(start, _long(period.last, words))
