"""English expressions of time, asked on a Sunday: 22 November 2026."""

from __future__ import annotations

from datetime import date

import pytest

from app.periods import find_period, parse_period
from app.periods.period import BEGINNING, END, Period

TODAY = date(2026, 11, 22)
TOMORROW = date(2026, 11, 23)


def days(first: str, last: str) -> tuple[date, date]:
    """From the first to the last day, as month and day of 2026, or as whole dates."""
    start, end = (each if len(each) > 5 else f"2026-{each}" for each in (first, last))
    return date.fromisoformat(start), date.fromisoformat(end)


def read(text: str, today: date = TODAY) -> tuple[date, date] | None:
    period = parse_period(text, "en", today)
    return (period.start, period.last) if period else None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", "11-22", "11-22"),
        ("tonight", "11-22", "11-22"),
        ("yesterday evening", "11-21", "11-21"),
        ("the day before yesterday", "11-20", "11-20"),
        ("tomorrow", "11-23", "11-23"),
        ("Monday", "11-16", "11-16"),
        ("on Sunday", "11-22", "11-22"),
        ("last Sunday", "11-15", "11-15"),
        ("last Sat", "11-21", "11-21"),
        ("this Wednesday", "11-18", "11-18"),
        ("Friday last week", "11-13", "11-13"),
        ("Thursday the 5th", "11-05", "11-05"),
        ("the first Monday of May", "05-04", "05-04"),
        ("last Friday of March", "03-27", "03-27"),
        ("three days ago", "11-19", "11-19"),
        ("a week ago", "11-15", "11-15"),
        ("1 month and 2 days ago", "10-20", "10-20"),
        ("two days before 5 March", "03-03", "03-03"),
        ("the day after 5 March", "03-06", "03-06"),
    ],
)
def test_days_are_read(text: str, first: str, last: str) -> None:
    assert read(text) == days(first, last)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-04", "03-04"),
        ("2026/3/4", "03-04"),
        ("3/4/2026", "03-04"),
        ("3/4/26", "03-04"),
        ("25.3.2026", "03-25"),
        ("25/3", "03-25"),
        ("on 3/4", "03-04"),
        ("4 March", "03-04"),
        ("4 march 2026", "03-04"),
        ("the 4th of March, 2026", "03-04"),
        ("March 4", "03-04"),
        ("MARCH 4TH", "03-04"),
        ("Wednesday, March 4th, 2026", "03-04"),
        ("Sept. 5", "09-05"),
        ("5-Oct-2025", "2025-10-05"),
        ("2025/oct/05", "2025-10-05"),
        ("twenty-first of March", "03-21"),
        ("June the third", "06-03"),
        ("December 24", "2025-12-24"),
        ("Feb 29", "2024-02-29"),
        ("the 15th", "11-15"),
        ("the 31st", "10-31"),
        ("the 20th of last month", "10-20"),
    ],
)
def test_dates_are_read_and_without_a_year_are_the_latest(text: str, day: str) -> None:
    assert read(text) == days(day, day)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("this week", "11-16", "11-22"),
        ("last week", "11-09", "11-15"),
        ("the week before last", "11-02", "11-08"),
        ("next week", "11-23", "11-29"),
        ("week of November 7", "11-02", "11-08"),
        ("the week starting 4 November", "11-04", "11-10"),
        ("first week of March", "03-02", "03-08"),
        ("last week of 2025", "2025-12-22", "2025-12-28"),
        ("week 12", "03-16", "03-22"),
        ("last weekend", "11-14", "11-15"),
        ("over the weekend", "11-21", "11-22"),
        ("the last two weekends", "11-07", "11-15"),
        ("last month", "10-01", "10-31"),
        ("next month", "12-01", "12-31"),
        ("in March", "03-01", "03-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("this September", "09-01", "09-30"),
        ("last September", "2025-09-01", "2025-09-30"),
        ("March 2025", "2025-03-01", "2025-03-31"),
        ("2025, March", "2025-03-01", "2025-03-31"),
        ("03/2025", "2025-03-01", "2025-03-31"),
        ("2025-03", "2025-03-01", "2025-03-31"),
        ("March of last year", "2025-03-01", "2025-03-31"),
        ("the second half of last month", "10-16", "10-31"),
        ("the end of the month", "11-16", "11-30"),
        ("mid-March", "03-10", "03-20"),
        ("early last week", "11-09", "11-11"),
        ("Q1", "01-01", "03-31"),
        ("Q2 of last year", "2025-04-01", "2025-06-30"),
        ("last quarter", "07-01", "09-30"),
        ("the third quarter of 2025", "2025-07-01", "2025-09-30"),
        ("H1 2026", "01-01", "06-30"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("in two thousand and twenty four", "2024-01-01", "2024-12-31"),
        ("the first 3 days of March", "03-01", "03-03"),
    ],
)
def test_weeks_months_quarters_and_years_are_read(text: str, first: str, last: str) -> None:
    assert read(text) == days(first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("the last 7 days", "11-15", "11-21"),
        ("last three weeks", "11-01", "11-21"),
        ("past 2 months", "09-22", "11-21"),
        ("the past year", "2025-11-22", "2026-11-21"),
        ("in the last month", "10-22", "11-21"),
        ("the last few days", "11-19", "11-21"),
        ("the next 3 days", "11-23", "11-25"),
        ("the last 2 quarters", "04-01", "09-30"),
    ],
)
def test_the_last_so_many_end_yesterday_and_the_next_begin_tomorrow(
    text: str, first: str, last: str
) -> None:
    assert read(text) == days(first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("so far this month", "11-01", "11-22"),
        ("this month so far", "11-01", "11-22"),
        ("year to date", "01-01", "11-22"),
        ("earlier this year", "01-01", "11-21"),
        ("the rest of the month", "11-22", "11-30"),
        ("since 1 June", "06-01", "11-22"),
        ("since last week", "11-09", "11-22"),
        ("since the 15th", "11-15", "11-22"),
        ("from 1 June onwards", "06-01", "11-22"),
        ("after 5 March", "03-06", "11-22"),
        ("from June 3 until now", "06-03", "11-22"),
        ("after March and before June", "04-01", "05-31"),
    ],
)
def test_what_lasts_until_now_has_today_in_it(text: str, first: str, last: str) -> None:
    assert read(text) == days(first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("from 5 to 18 this month", "11-05", "11-18"),
        ("between 6 and 19 May 2021", "2021-05-06", "2021-05-19"),
        ("6–19 May", "05-06", "05-19"),
        ("March 3 to 9", "03-03", "03-09"),
        ("from the 4th to the 9th", "11-04", "11-09"),
        ("from 3 March to 5 April", "03-03", "04-05"),
        ("1/1/2026 - 3/31/2026", "01-01", "03-31"),
        ("from Monday to Wednesday", "11-16", "11-18"),
        ("from Monday 2 to Thursday 5 March", "03-02", "03-05"),
        ("from Tuesday 3 to Thursday 5 March", "03-03", "03-05"),
        ("monday to friday last week", "11-09", "11-13"),
        ("last week between Tuesday and Thursday", "11-10", "11-12"),
        ("between Monday and today", "11-16", "11-22"),
        ("from March to May", "03-01", "05-31"),
        ("between June and August last year", "2025-06-01", "2025-08-31"),
        ("March and April", "03-01", "04-30"),
        ("2023 to 2024", "2023-01-01", "2024-12-31"),
        ("from November to February", "2025-11-01", "2026-02-28"),
        ("20 December to 5 January", "2025-12-20", "2026-01-05"),
    ],
)
def test_ranges_have_their_last_day_month_or_year_in_them(text: str, first: str, last: str) -> None:
    assert read(text) == days(first, last)


def test_what_has_one_end_is_open_at_the_other() -> None:
    assert parse_period("until yesterday", "en", TODAY) == Period(BEGINNING, TODAY)
    assert parse_period("before 5 March", "en", TODAY) == Period(BEGINNING, date(2026, 3, 5))
    assert parse_period("up to 5 March", "en", TODAY) == Period(BEGINNING, date(2026, 3, 6))
    assert parse_period("to date", "en", TODAY) == Period(BEGINNING, TOMORROW)
    assert parse_period("after tomorrow", "en", TODAY) == Period(date(2026, 11, 24), END)


@pytest.mark.parametrize(
    "text",
    [
        "31 February", "February 29, 2025", "30/02/2026", "13/13/2026", "November 31",
        "the 31st of this month", "the fifth Tuesday of this month", "Q5", "week 60 of 2025",
        "from 5 May 2020 to 3 April 2020", "from 22 to 4 this month", "January and May",
        "between Monday and the kitchen", "from 1 March to the end of it all",
        "in the year 9999", "since 3025", "5000 years ago", "the 1960s", "the year 12",
        "every Friday", "by Friday", "Good Friday", "two Fridays ago", "half a year ago",
        "the past 24 hours", "12", "", "   ", "?",
    ],
)  # fmt: skip
def test_what_contradicts_itself_or_is_unknown_is_no_period(text: str) -> None:
    assert parse_period(text, "en", TODAY) is None


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("How much did we spend on fish last week?", "last week"),
        ("Show me last month's receipts", "last month's"),
        ("What did I spend in May on wine?", "in May"),
        ("List my expenses between June 1 and June 15, please", "between June 1 and June 15"),
        ("What were June sales?", "June"),
        ("I spent 12 euros on bread on the 3rd", "on the 3rd"),
        ("add 45.50 for wine, 3 March", "3 March"),
        ("How did we do on Friday night?", "on Friday"),
        ("Lunch Wednesday, 4 March was slow", "Wednesday, 4 March"),
        ("Everything since the start of the month", "since the start of the month"),
        ("delete the taxi from yesterday", "from yesterday"),
        ("What did I spend last month compared to March?", "last month"),
    ],
)
def test_a_sentence_says_where_its_period_stands(sentence: str, words: str) -> None:
    found = find_period(sentence, "en", TODAY)
    assert found is not None and sentence[found.start : found.end] == words
    assert parse_period(words, "en", TODAY) == found.period


def test_a_month_or_a_weekday_has_begun_on_its_first_day() -> None:
    assert read("in March", date(2026, 3, 1)) == days("03-01", "03-31")
    assert read("in March", date(2026, 2, 28)) == days("2025-03-01", "2025-03-31")
    assert read("Friday", date(2026, 11, 20)) == days("11-20", "11-20")
    assert read("last Friday", date(2026, 11, 20)) == days("11-13", "11-13")


def test_units_clip_at_the_end_of_a_shorter_month() -> None:
    assert read("a month ago", date(2026, 3, 31)) == days("02-28", "02-28")
    assert read("a year ago", date(2024, 2, 29)) == days("2023-02-28", "2023-02-28")
