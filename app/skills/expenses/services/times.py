"""The time that a question to the ledger names."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from app.periods import Period, parse_period
from app.skills.expenses.nlu.lexicon import listed
from app.text.normalize import words

_A_DAY = dt.timedelta(days=1)
_ROLLING = listed("rolling")


def read_time(said: str, language: str, today: dt.date) -> Period | None:
    """The days that are counted, in either language; None where no time can be read.

    Asked "from January to March" a ledger counts March.
    """
    other = "es" if language == "en" else "en"
    found = parse_period(said, language, today) or parse_period(said, other, today)
    if found is None:
        return None
    if found.end == today and found.days > 1 and _ROLLING & set(words(said)):
        # "The last 7 days" and "the last 2 weeks" end yesterday; who logs a taxi and asks at
        # once means it too: so many days, of which today is the last.
        return replace(found, start=found.start + _A_DAY, end=found.end + _A_DAY)
    return found.whole
