"""Which expenses somebody means: "the taxi of Friday", "the last one", "the $14 ones"."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from app.db import ScopedSession
from app.periods import find_period
from app.skills.expenses.models import Expense
from app.skills.expenses.nlu.lexicon import listed
from app.skills.expenses.services.expenses import recent_expenses
from app.text.money import find_amounts
from app.text.normalize import words

# Among so many of the latest; what is older is found on the page.
LOOKED_AT = 300
MOST_CHOICES = 5
_LATEST = listed("latest")
# Words that say nothing of which one it is.
_EMPTY = _LATEST | listed("says_nothing")


def find_meant(
    session: ScopedSession, which: str, language: str, today: dt.date, home: str
) -> list[Expense]:
    """The expenses that these words may mean, the latest first; one, where it is clear.

    Who may see others' gets those only where none of their own is meant.
    """
    time = find_period(which, language, today)
    # Without its time: "the taxi of last week" is not the last taxi.
    rest = which[: time.start] + " " + which[time.end :] if time else which
    recent = recent_expenses(session, LOOKED_AT)
    if time is not None:
        recent = [each for each in recent if each.date in time.period]
    found = [each for each in recent if _is_meant(each, rest, language, home)]
    own = [each for each in found if each.user_id == session.scope.user_id]
    found = own or found
    is_clear = bool(_LATEST & set(words(rest))) or _are_twins(found)
    return found[:1] if is_clear else found[:MOST_CHOICES]


def _is_meant(expense: Expense, rest: str, language: str, home: str) -> bool:
    for amount in reversed(find_amounts(rest, language, home)):
        if expense.amount in (amount.value, amount.or_value):
            rest = rest[: amount.start] + " " + rest[amount.end :]
        elif amount.is_marked or amount.has_cents:
            return False
    named = [word for word in words(rest) if word not in _EMPTY]
    known = (expense.words or "").split()
    return all(any(_same(word, other) for other in known) for word in named)


def _same(word: str, known: str) -> bool:
    """Alike but for an ending: "taxis" means the taxi."""
    short, long = sorted((word, known), key=len)
    return (
        long.startswith(short) and len(long) - len(short) <= 2 and len(short) >= 3
    ) or short == long


def _are_twins(found: Sequence[Expense]) -> bool:
    """True where choosing between them makes no difference."""
    told = {(each.item, each.amount, each.currency, each.date, each.user_id) for each in found}
    return len(found) > 1 and len(told) == 1
