"""Times of day in a sentence: "3pm", "a las 3 de la tarde", "7:15", "noon", "20 minutes ago"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from app.fields.extraction.lexicon import WORDS, either
from app.fields.extraction.sentence import Sentence, Span
from app.text.numbers import SMALL_NUMBERS

_HOURS = "|".join(sorted((w for w, n in SMALL_NUMBERS.items() if n <= 12), key=len, reverse=True))
_PART = rf"(?:early |late )?(?P<part>{either('parts_of_days')})"
_THEN = rf"(?:,?\s*(?:{either('clock', 'before_parts')})\s+{_PART})?"
_NOT_A_COUNT = rf"(?!\s*(?:{either('clock', 'counted')}))(?![\d.:]*\d)"
_EXACT = re.compile(
    r"(?<![\d:.$#])(?P<hour>1[0-2]|0?[1-9])(?:[:.h](?P<minute>[0-5]\d))?\s*"
    r"(?P<half>a\.?\s?m\b\.?|p\.?\s?m\b\.?)"
)
_CLOCK = re.compile(
    rf"(?<![\d:.$#])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?![\d:])"
    rf"(?:\s*(?:{either('clock', 'hours')})\b)?{_THEN}"
)
# Minutes behind the hour.
_PAST: Mapping[str, int] = WORDS["clock"]["past"]
_HOUR = re.compile(
    rf"\b(?P<lead>{either('clock', 'before_hours')})\s+"
    rf"(?:{either('clock', 'about')})?(?P<hour>[01]?\d|2[0-3]|(?:{_HOURS})\b){_NOT_A_COUNT}"
    rf"(?:\s+(?:y\s+(?P<past>{'|'.join(_PAST)}|\d{{1,2}})|menos\s+(?P<to>cuarto|\d{{1,2}})))?"
    rf"(?:\s*(?:{either('clock', 'sharp')}))?{_THEN}"
)
_NAMED = re.compile(rf"\b(?P<named>{either('clock', 'named')})\b")
_COUNT = rf"(?P<count>\d{{1,3}}|{either('clock', 'few')}|{_HOURS}|{either('clock', 'many')})"
_AGO = re.compile(
    rf"\b{_COUNT}\s+(?P<unit>{either('clock', 'units')})(?P<half> and a half)?\s+ago\b"
    rf"|\bhace\s+(?:{either('clock', 'about_es')})?{_COUNT.replace('count', 'count_es')}"
    rf"\s+(?P<unit_es>{either('clock', 'units_es')})(?P<half_es> y media)?\b"
)
# It tells a state, not a time, that stands before "at 40".
_STATE = re.compile(rf"(?:\b(?:{either('clock', 'states')})|'s)$")
_BETWEEN = re.compile(
    rf"\b(?:{either('clock', 'between')})"
    rf"(?: (?:las )?[\d:]+(?: ?[ap]m)? (?:{either('clock', 'between_and')}))?$"
)
_NOON = 12
_MORNING, _NIGHT = (tuple(WORDS["clock"][part].split()) for part in ("morning", "night"))


@dataclass(frozen=True)
class Clock:
    """A time that was said; before or after noon may be open, then there are two of it."""

    span: Span
    times: tuple[time, ...]

    def in_part(self, part: str) -> Clock:
        """The time where the part of the day is known."""
        if len(self.times) < 2 or not part:
            return self
        return Clock(self.span, (_in_part(min(self.times), part),))


@dataclass(frozen=True)
class Ago:
    """A moment that was said as so long ago."""

    span: Span
    before: timedelta

    def moment(self, here: datetime) -> datetime:
        return here.replace(second=0, microsecond=0, tzinfo=None) - self.before


def find_ago(said: Sentence) -> list[Ago]:
    """All "two hours ago" and "hace dos horas"."""
    found = []
    for match in said.find(_AGO):
        tail = "" if match["unit"] else "_es"
        count, unit = match["count" + tail], match["unit" + tail]
        amount = _amount(count) + (0.5 if match["half" + tail] else 0)
        minutes = amount if unit.startswith("min") else amount * 60
        found.append(Ago(Span(*match.span()), timedelta(minutes=round(minutes))))
    return found


def _amount(count: str) -> float:
    if count.isdecimal():
        return int(count)
    return 0.5 if count.startswith(("half", "media")) else SMALL_NUMBERS.get(count, 1)


def find_times(said: Sentence) -> list[Clock]:
    """All times of day, those that say more first read; "is at 40" is none."""
    found: list[Clock] = []
    for pattern in (_EXACT, _CLOCK, _NAMED, _HOUR):
        for match in said.find(pattern):
            span = Span(*match.span())
            if not any(span.overlaps(each.span) for each in found) and _is_a_time(said, match):
                found.append(Clock(span, _times(match)))
    return sorted(found, key=lambda each: each.span)


def _is_a_time(said: Sentence, match: re.Match[str]) -> bool:
    before = said.before(Span(*match.span()), 3)
    if _BETWEEN.search(before) or said.is_denied(Span(*match.span())):
        return False
    return match.re is not _HOUR or not _STATE.search(before)


def read_hour(text: str) -> tuple[time, ...]:
    """A time that stands alone, as an answer does: "4", "4pm", "16:00"; else nothing."""
    for pattern in (_EXACT, _CLOCK, _NAMED, _HOUR):
        match = pattern.search(text)
        if match:
            return _times(match)
    alone = _HOUR.fullmatch(f"at {text}")
    return _times(alone) if alone else ()


def _times(match: re.Match[str]) -> tuple[time, ...]:
    given = match.groupdict()
    if given.get("named"):
        return (time(0 if given["named"].startswith(("midn", "median")) else _NOON),)
    hour = int(given["hour"]) if given["hour"].isdecimal() else SMALL_NUMBERS[given["hour"]]
    minute = _minute(given)
    if minute < 0:
        hour, minute = (hour - 1) % 24, minute + 60
    if given.get("half"):
        return (time(hour % 12 + (_NOON if given["half"].startswith("p") else 0), minute),)
    if given.get("part"):
        return (_in_part(time(hour, minute), given["part"]),)
    if hour > _NOON or hour == 0 or match["hour"].startswith("0"):
        return (time(hour, minute),)
    return (time(hour % 12, minute), time(hour % 12 + _NOON, minute))


def _minute(given: dict[str, str | None]) -> int:
    """Past the hour, or less than 0 before it."""
    past, before = given.get("past"), given.get("to")
    if past:
        return _PAST.get(past) or min(int(past), 59)
    if before:
        return -(_PAST.get(before) or min(int(before), 59))
    return int(given.get("minute") or 0)


def _in_part(said: time, part: str) -> time:
    """Three in the afternoon is 15:00, twelve at night 0:00, two at night 2:00."""
    hour = said.hour % 12
    if part in _MORNING:
        return said.replace(hour=hour)
    if part in _NIGHT and hour < 5:
        return said.replace(hour=hour)
    return said.replace(hour=hour + _NOON)
