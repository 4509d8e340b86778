"""Days in a sentence: "yesterday", "el martes", "last Sat", "the 12th", "11/12", "December 4"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import chain

import dateparser

from app.fields.extraction.lexicon import WORDS, either
from app.fields.extraction.sentence import Sentence, Span
from app.text.calendar_words import (
    ALL_WEEKDAYS,
    MONTHS,
    SHORT_MONTHS,
    SHORT_WEEKDAYS,
    either_of,
)
from app.text.numbers import SMALL_NUMBERS

_PARTS = either("parts_of_days")
_PART = rf"(?:early |late )?(?:{_PARTS})"
_THEN = rf"(?:,?\s*(?:{either('dates', 'before_parts')})?{_PART})?"
_PART_ALONE = re.compile(rf"\b(?:{_PARTS})\b")
_COUNTS = "|".join(SMALL_NUMBERS)
_RELATIVE = tuple(
    (offset, re.compile(rf"\b(?:{said.replace('{part}', _PART).replace('{then}', _THEN)})(?!\w)"))
    for offset, said in WORDS["dates"]["relative"]
)
_AGO = re.compile(
    rf"\b(?P<count>\d{{1,3}}|an?|{_COUNTS})\s+(?P<unit>days?|weeks?)\s+ago\b"
    rf"|\bhace\s+(?P<count_es>\d{{1,3}}|{_COUNTS})\s+(?P<unit_es>dias?|semanas?)\b"
)
_WEEKDAYS = {**SHORT_WEEKDAYS["en"], **SHORT_WEEKDAYS["es"], **ALL_WEEKDAYS}
# These mean more than a day: they need a word before them, or stand alone.
_UNSURE, _BEFORE_DAYS = (
    tuple(WORDS["dates"][name].split()) for name in ("unsure", "before_unsure")
)
_WEEKDAY = re.compile(
    rf"\b(?:(?P<next>{either('dates', 'next')})\s+|(?P<last>{either('dates', 'last')})\s+)?"
    rf"(?P<day>{either_of(_WEEKDAYS)})"
    rf"(?P<last_es>\s+pasado)?(?P<next_es>\s+(?:{either('dates', 'next_behind')}))?{_THEN}(?!\w)"
)
_TH = either("dates", "endings")
# The 12th of a month that is not said; before a noun it counts: "the 2nd floor".
_OF_MONTH = re.compile(
    rf"\b(?:{either('dates', 'before_numbers')}) the (?P<number>[1-9]|[12]\d|3[01])(?:{_TH})\b"
    rf"(?=\s*(?:$|[^\w\s]|(?:{either('dates', 'after_numbers')})\b))"
    rf"|^\W*(?:the )?(?P<alone>[1-9]|[12]\d|3[01])(?:{_TH})\W*$"
)
# So many days hold a 31st.
_TWO_MONTHS = 62
_MONTHS = f"(?:{either_of([*MONTHS['en'], *SHORT_MONTHS['en'], *MONTHS['es']])})"
_WRITTEN = re.compile(
    rf"\b{_MONTHS}\.?\s+(?:the\s+)?\d{{1,2}}(?:{_TH})?(?:,?\s+20\d\d)?(?![\w:])"
    rf"|\b\d{{1,2}}(?:{_TH})?\s+(?:of\s+|de\s+)?{_MONTHS}\b\.?(?:,?\s+(?:de\s+|del\s+)?20\d\d)?"
)
# Both days of "December 20 to 24" and "del 20 al 24 de diciembre" are of the month said once.
_TO = rf"\s*(?:{either('dates', 'ranges')})\s*"
_RANGE = re.compile(
    rf"\b(?P<month>{_MONTHS})\.?\s+(?P<first>\d{{1,2}})(?:{_TH})?{_TO}"
    rf"(?P<last>\d{{1,2}})(?:{_TH})?(?![\w:/])"
    rf"|\b(?P<first_es>\d{{1,2}}){_TO}(?P<last_es>\d{{1,2}})"
    rf"\s+(?:of\s+|de\s+)(?P<month_es>{_MONTHS})\b"
)
_NUMBERS = re.compile(
    r"(?<![\d/-])(?P<iso>20\d\d-\d\d-\d\d)(?![\d-])"
    r"|(?<![\d/-])(?P<first>\d{1,2})/(?P<second>\d{1,2})(?:/(?P<year>20\d\d|\d\d))?(?![\d/-])"
)


@dataclass(frozen=True)
class Day:
    """A day that was said: so far from today, of the week, of a month, or as it was written."""

    span: Span
    offset: int | None = None
    weekday: int | None = None
    of_month: int | None = None
    # "past" or "future" where it was said which Tuesday.
    side: str = ""
    written: str = ""
    part: str = ""

    def on(self, today: date, when: str) -> date | None:
        """The day for a field that takes past, future or any ones; None where it is open."""
        if self.offset is not None:
            return today + timedelta(days=self.offset)
        side = self.side or when
        if side not in ("past", "future"):
            return _read(self.written, today, "") if self.written else None
        if self.of_month is not None:
            return _nearest(self.of_month, today, side)
        if self.weekday is None:
            return _read(self.written, today, side)
        if side == "past":
            return today - timedelta(days=(today.weekday() - self.weekday - 1) % 7 + 1)
        return today + timedelta(days=(self.weekday - today.weekday() - 1) % 7 + 1)


def find_days(said: Sentence, is_spanish: bool) -> list[Day]:
    """All days of a sentence that are not denied, in their order."""
    found: list[Day] = []
    days = (
        _ranges(said), _relative(said), _ago(said), _weekdays(said), _written(said, is_spanish)
    )  # fmt: skip
    for day in (*chain.from_iterable(days), *_of_month(said)):
        is_new = not any(day.span.overlaps(each.span) for each in found)
        if is_new and not said.is_denied(day.span):
            found.append(day)
    return sorted(found, key=lambda each: each.span)


def _relative(said: Sentence) -> Iterator[Day]:
    for offset, pattern in _RELATIVE:
        for match in said.find(pattern):
            part = _part(match[0])
            if "night" in match[0] or match[0] == "anoche":
                part = "night"
            yield Day(Span(*match.span()), offset=offset, part=part)


def _part(words: str) -> str:
    """The part of the day behind the first of these words."""
    found = _PART_ALONE.search(words.partition(" ")[2])
    return found[0] if found else ""


def _ago(said: Sentence) -> Iterator[Day]:
    for match in said.find(_AGO):
        count = match["count"] or match["count_es"]
        unit = match["unit"] or match["unit_es"]
        days = int(count) if count.isdecimal() else SMALL_NUMBERS.get(count, 1)
        times = 7 if unit[0] in "ws" else 1
        yield Day(Span(*match.span()), offset=-days * times)


def _weekdays(said: Sentence) -> Iterator[Day]:
    for match in said.find(_WEEKDAY):
        if match["day"] in _UNSURE and not _is_a_day(said, match):
            continue
        side = "past" if match["last"] or match["last_es"] else ""
        side = "future" if match["next"] or match["next_es"] else side
        day = _WEEKDAYS[match["day"]]
        yield Day(Span(*match.span()), weekday=day, side=side, part=_part(match[0]))


def _is_a_day(said: Sentence, match: re.Match[str]) -> bool:
    """Whether "sat" or "sun" is one: "on sat", "next sun", or nothing else."""
    before = said.before(Span(*match.span()), 1)
    is_alone = said.folded.strip(" .,!?") == match[0]
    return bool(match["next"] or match["last"]) or before in _BEFORE_DAYS or is_alone


def _of_month(said: Sentence) -> Iterator[Day]:
    for match in said.find(_OF_MONTH):
        yield Day(Span(*match.span()), of_month=int(match["number"] or match["alone"]))


def _nearest(number: int, today: date, side: str) -> date | None:
    """The day of that number which is the next from today on, or the last until today."""
    step = 1 if side == "future" else -1
    days = (today + timedelta(days=step * each) for each in range(_TWO_MONTHS))
    return next((day for day in days if day.day == number), None)


def _written(said: Sentence, is_spanish: bool) -> Iterator[Day]:
    for match in said.find(_WRITTEN):
        yield Day(Span(*match.span()), written=match[0])
    for match in said.find(_NUMBERS):
        written = match["iso"] or _slashes(match, is_spanish)
        if written:
            yield Day(Span(*match.span()), written=written)


def _ranges(said: Sentence) -> Iterator[Day]:
    for match in said.find(_RANGE):
        month = match["month"] or match["month_es"]
        first, last = ("first", "last") if match["first"] else ("first_es", "last_es")
        # The month stands beside one of them: the other one is its number alone.
        begin = Span(match.start(), match.end(first))
        yield Day(begin, written=f"{month} {match[first]}")
        yield Day(Span(match.start(last), match.end()), written=f"{month} {match[last]}")


def _slashes(match: re.Match[str], is_spanish: bool) -> str:
    """The month first; in Spanish only where there is no other way to read it."""
    first, second = int(match["first"]), int(match["second"])
    if first > 12:
        first, second = second, first
    elif is_spanish and second <= 12 and first != second:
        return ""
    if not (1 <= first <= 12 and 1 <= second <= 31):
        return ""
    year = match["year"] or ""
    full_year = f"/20{year[-2:]}" if year else ""
    return f"{first}/{second}{full_year}"


def _read(written: str, today: date, side: str) -> date | None:
    read = dateparser.parse(
        written,
        languages=["en", "es"],
        settings={
            "RELATIVE_BASE": datetime.combine(today, time(12)),
            "PREFER_DATES_FROM": side or "current_period",
            "DATE_ORDER": "MDY",
            "REQUIRE_PARTS": ["day", "month"],
        },
    )
    return read.date() if read else None
