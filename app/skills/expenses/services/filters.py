"""What a list of expenses is narrowed to, as an address says it and as people read it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from flask_babel import gettext as _

from app.db import ScopedSession
from app.periods import Period, period_words
from app.periods.period import BEGINNING, END
from app.skills.expenses.services.expenses import EARLIEST, Filters, may_see_all
from app.skills.expenses.services.people import names_of
from app.skills.expenses.services.settings import Ledger
from app.skills.expenses.services.times import read_time
from app.text.currencies import CODES
from app.text.plain_text import clean_line

LONGEST = 100
MINE = "mine"
NARROWING = ("range", "start", "end", "category", "who", "currency", "q")


@dataclass(frozen=True)
class Narrowed:
    """The filters of an address, and what was typed to get them.

    `typed` are the arguments as they came; `problem` says why a time could not be read.
    """

    filters: Filters
    period: Period | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def is_narrow(self) -> bool:
        return bool(self.typed)


def read_narrowed(
    session: ScopedSession, ledger: Ledger, arguments: Mapping[str, str], language: str
) -> Narrowed:
    """What an address asks for; what cannot be understood narrows nothing.

    Words for a time ("last month") count before dates; whose expenses they are is for those
    who may see others' to say.
    """
    typed = {
        name: value
        for name in NARROWING
        if (value := clean_line(arguments.get(name, ""))[:LONGEST])
    }
    period, problem = _period(typed, language, ledger.today)
    filters = Filters(
        start=period.start if period and period.start > BEGINNING else None,
        end=period.end if period and period.end < END else None,
        category=typed.get("category", ""),
        currency=typed.get("currency", "") if typed.get("currency") in CODES else "",
        user_id=_whose(session, typed.get("who", "")),
        words=typed.get("q", ""),
    )
    return Narrowed(filters, period, typed, problem)


def _period(typed: Mapping[str, str], language: str, today: dt.date) -> tuple[Period | None, str]:
    said = typed.get("range", "")
    if said:
        found = read_time(said, language, today)
        if found:
            return found, ""
    problem = (
        _(
            "I could not read “%(words)s” as a date. Say, for example, “last month” "
            "or “since June 1”.",
            words=said,
        )
        if said
        else ""
    )
    start, last = _day(typed.get("start", "")), _day(typed.get("end", ""))
    if start is None and last is None:
        return None, problem
    end = last + dt.timedelta(days=1) if last else END
    return Period(start or BEGINNING, end), problem


def _day(text: str) -> dt.date | None:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        return None
    # What no calendar of ours can count a day on from.
    return day if EARLIEST.year - 100 <= day.year <= EARLIEST.year + 200 else None


def _whose(session: ScopedSession, who: str) -> UUID | None:
    if who == MINE or not may_see_all(session):
        return session.scope.user_id
    try:
        return UUID(who)
    except ValueError:
        return None


def about(session: ScopedSession, ledger: Ledger, narrowed: Narrowed, language: str) -> str:
    """ "Everybody's expenses, last month, Cleaning": which rows a sum is of."""
    filters = narrowed.filters
    facts = [
        _of_whom(session, filters.user_id),
        period_words(narrowed.period, language, ledger.today) if narrowed.period else "",
        ledger.name_of(filters.category, language) if filters.category else "",
        filters.currency,
        f"“{filters.words}”" if filters.words else "",
    ]
    return ", ".join(filter(None, facts))


def _of_whom(session: ScopedSession, user_id: UUID | None) -> str:
    if user_id is None:
        return _("Everybody's expenses")
    if user_id == session.scope.user_id:
        return _("Your expenses")
    name = names_of(session, [user_id]).get(user_id) or _("Former colleague")
    return _("Expenses of %(name)s", name=name)
