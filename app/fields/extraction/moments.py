"""Days and times into the fields that ask for them, never what lies where the field forbids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, TypeVar

from app.fields.extraction.clock import Ago, Clock, find_ago, find_times
from app.fields.extraction.dates import Day, find_days
from app.fields.extraction.extract import Reading, cue_words, stem, stems
from app.fields.extraction.lexicon import either
from app.fields.extraction.numbers import find_fractions
from app.fields.extraction.sentence import Span
from app.text.normalize import words

Timed = TypeVar("Timed", Day, Clock, Ago)
TYPES = ("date", "time", "datetime")
_SPANISH = re.compile(rf"\b(?:{either('moments', 'spanish')})\b")
_KIND_WORDS, _FIRST, _LAST = (either("moments", name) for name in ("kinds", "first", "last"))
_BEGIN = re.compile(rf"\b(?:{either('moments', 'begin')})(?: el)?$")
_END = re.compile(rf"\b(?:{either('moments', 'end')})(?: el)?$")


@dataclass(frozen=True)
class Moment:
    """A day, a time, or both, that were said together."""

    day: Day | None
    clock: Clock | None
    ago: Ago | None = None

    @property
    def spans(self) -> list[Span]:
        return [each.span for each in (self.day, self.clock, self.ago) if each]


def is_spanish(folded: str) -> bool:
    """Whether a sentence has at least two of Spanish's small words."""
    return len(_SPANISH.findall(folded)) > 1


def fill_moments(reading: Reading) -> None:
    """Give each moment to the field whose label is named beside it, else to the first one."""
    said = reading.said
    for number, moment in enumerate(_moments(reading)):
        # "Change it to the 4th" gives no end; "to the 4th to the 8th" does.
        has_end = number > 0 or not reading.is_correction
        fields = _cued(reading, moment, has_end=has_end)
        is_end = has_end and _END.search(said.before(min(moment.spans), 3))
        if not fields and not is_end:
            fields = _first_ones(reading)
        for field in fields:
            if reading.may_fill(field.name):
                _fill(reading, field, moment)
        for span in moment.spans:
            said.take(span)


def _moments(reading: Reading) -> list[Moment]:
    """Each time with the day nearest to it, and the days and times that stand alone.

    What is part of a fraction is none: "2 1/2 lb", "1/2 hour ago".
    """
    said, fractions = reading.said, find_fractions(reading)
    found = [Moment(None, None, ago) for ago in _apart(find_ago(said), fractions)]
    for each in found:
        said.take(each.spans[0])
    days = _apart(find_days(said, is_spanish(said.folded)), fractions)
    clocks = _apart(find_times(said), fractions)
    parts = {day.part for day in days if day.part}
    for clock in clocks:
        day = min(days, key=lambda each: abs(each.span.start - clock.span.start), default=None)
        if day:
            days.remove(day)
        part = day.part if day and day.part else "".join(parts) if len(parts) == 1 else ""
        found.append(Moment(day, clock.in_part(part)))
    found += [Moment(day, None) for day in days]
    return sorted(found, key=lambda each: min(each.spans))


def _apart(found: Sequence[Timed], fractions: Sequence[Span]) -> list[Timed]:
    """Those that no fraction overlaps."""
    return [each for each in found if not any(each.span.overlaps(part) for part in fractions)]


def _cued(reading: Reading, moment: Moment, *, has_end: bool) -> list[Any]:
    """The fields that the words right before a moment name."""
    before = reading.said.before(min(moment.spans), 4)
    beside = {stem(word) for word in words(before)} - stems(_KIND_WORDS)
    ends = stems(_FIRST if _BEGIN.search(before) else _LAST if _END.search(before) else "")
    dated = [each for each in reading.fields if each.type in TYPES and not each.show_if]
    labels = {each.name: cue_words(each.label) - stems(_KIND_WORDS) for each in dated}
    if ends and has_end:
        return [each for each in dated if labels[each.name] & ends]
    # Of two days the one of whose label most is said: "the last day off".
    most: dict[str, int] = {}
    for each in dated:
        most[each.type] = max(most.get(each.type, 0), len(labels[each.name] & beside))
    return [each for each in dated if 0 < len(labels[each.name] & beside) == most[each.type]]


def _first_ones(reading: Reading) -> list[Any]:
    """The form's first day, time, or both, whether open or not: later ones ask for others."""
    dated = [each for each in reading.fields if each.type in TYPES]
    if not dated:
        return []
    if dated[0].type == "datetime":
        return dated[:1]
    firsts = (next((each for each in dated if each.type == type_), None) for type_ in TYPES[:2])
    return [each for each in firsts if each]


def _fill(reading: Reading, field: Any, moment: Moment) -> None:
    value = _value(reading, field, moment)
    if value is not None:
        start = min(span.start for span in moment.spans)
        end = max(span.end for span in moment.spans)
        is_apart = end - start > 40
        sure = 0.9 if _is_likely(reading, field, value) else 0.6
        reading.add(field.name, value, sure, moment.spans[0] if is_apart else Span(start, end))


def _is_likely(reading: Reading, field: Any, value: str) -> bool:
    """Whether a time lies on the side of now that the form is about."""
    day = _known_day(reading)
    if field.type != "time" or day is None:
        return True
    here = reading.around.here.replace(tzinfo=None)
    return _is_allowed(datetime.combine(day, time.fromisoformat(value)), here, _when(reading))


def _value(reading: Reading, field: Any, moment: Moment) -> str | None:
    if moment.ago:
        return _as_typed(field.type, moment.ago.moment(reading.around.here), field)
    today = reading.around.today
    when = field.when if field.type != "time" else _when(reading)
    day = moment.day.on(today, when) if moment.day else None
    if field.type == "date":
        return day.isoformat() if day and _is_allowed(day, today, when) else None
    if day and field.type == "time" and not _is_allowed(day, today, when):
        return None
    # What is put right keeps what is not said of it: the day, or the half of it.
    before = _known_moment(reading, field) if reading.changes(field.name) else None
    if field.type == "datetime" and before:
        day = day or before.date()
    at = _time(reading, moment, day or _known_day(reading), when, before)
    if field.type == "time":
        return f"{at:%H:%M}" if at else None
    at = at or (before.time() if before and not moment.clock else None)
    is_midnight = moment.clock is not None and at == time(0)
    # "Friday at midnight" is the night before it to one, the night after it to another.
    if day is None or at is None or is_midnight:
        return None
    full = _after_midnight(moment, day, at)
    here = reading.around.here.replace(tzinfo=None)
    return full.isoformat(timespec="minutes") if _is_allowed(full, here, when) else None


def _as_typed(type_: str, moment: datetime, field: Any) -> str | None:
    if getattr(field, "when", "any") == "future":
        return None
    if type_ == "date":
        return moment.date().isoformat()
    return f"{moment:%H:%M}" if type_ == "time" else moment.isoformat(timespec="minutes")


def _when(reading: Reading) -> str:
    """On which side of now the form's first day lies: a time of that day does too."""
    return next((each.when for each in reading.fields if each.type in ("date", "datetime")), "any")


def _is_allowed(given: date | datetime, now: date | datetime, when: str) -> bool:
    return not (when == "past" and given > now) and not (when == "future" and given < now)


def _time(
    reading: Reading, moment: Moment, day: date | None, when: str, before: datetime | None
) -> time | None:
    """The one time that it can have been; None where before or after noon stays open."""
    if not moment.clock:
        return None
    times = list(moment.clock.times)
    if len(times) > 1 and before:
        times = [each for each in times if (each.hour < 12) == (before.hour < 12)]
    here = reading.around.here.replace(tzinfo=None)
    if day == here.date() and when in ("past", "future"):
        # One time that was said stays what it is, on whichever side of now it lies.
        likely = [each for each in times if _is_allowed(datetime.combine(day, each), here, when)]
        times = likely or times
    return times[0] if len(times) == 1 else None


def _after_midnight(moment: Moment, day: date, at: time) -> datetime:
    """Last night at one was today."""
    is_night = moment.day is not None and moment.day.part == "night" and at.hour < 5
    return datetime.combine(date.fromordinal(day.toordinal() + int(is_night)), at)


def _known_day(reading: Reading) -> date | None:
    """The day that the form holds already, or has just been given."""
    field = next((each for each in reading.fields if each.type == "date"), None)
    if field is None:
        return None
    found = reading.found.get(field.name)
    raw = found.raw if found else reading.known.get(field.name)
    try:
        return date.fromisoformat(str(raw))
    except ValueError:
        return None


def _known_moment(reading: Reading, field: Any) -> datetime | None:
    """What the field holds already, as a moment."""
    raw = str(reading.known.get(field.name) or "")
    try:
        if field.type == "time":
            return datetime.combine(reading.around.today, time.fromisoformat(raw))
        return datetime.fromisoformat(raw)
    except ValueError:
        return None
