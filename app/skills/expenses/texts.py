"""What is said of expenses, in both languages: the question, the receipt, the card's values."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from babel.dates import format_date
from flask_babel import gettext as _

from app.assistant.tools.tool import Details, Texts
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import Row
from app.skills.expenses.services.settings import Ledger
from app.text.bilingual import in_both
from app.text.money import amount_words, format_amount

# What has no end is not named.
SHOWN_NOTE = 80
# Where what was said ends, as each language quotes it.
_QUOTED = re.compile("[”»]")


def day(date: dt.date, language: str) -> str:
    """ "20 Nov 2026", "20 nov 2026"."""
    return str(format_date(date, "d MMM y", locale=language))


def near_day(date: dt.date, today: dt.date, language: str) -> str:
    """ "for today", "for yesterday", else "for 20 Nov 2026"."""
    if date == today:
        return _("for today")
    if date == today - dt.timedelta(days=1):
        return _("for yesterday")
    return _("for %(day)s", day=day(date, language))


def money(row: Row | Expense, language: str) -> str:
    """The amount as a sentence says it."""
    return amount_words(row.amount, row.currency, language)


def called(row: Row | Expense, language: str) -> str:
    """ "taxi $12 of 20 Nov 2026": enough to know which one is meant."""
    return _(
        "%(item)s %(amount)s from %(day)s",
        item=row.item,
        amount=money(row, language),
        day=day(row.date, language),
    )


def listed(things: Sequence[str]) -> str:
    """ "a, b and c"."""
    if len(things) < 2:
        return "".join(things)
    return _("%(first)s and %(last)s", first=", ".join(things[:-1]), last=things[-1])


def ask_to_add(rows: Sequence[Row]) -> Texts:
    """The question that a proposal to add ends in."""
    return in_both(lambda language: _ask_to_add(rows, language))


def _ask_to_add(rows: Sequence[Row], language: str) -> str:
    what, dates = _rows_in_words(rows, language)
    if dates:
        return _("Would you like me to add %(what)s for %(day)s?", what=what, day=dates)
    return _("Would you like me to add %(what)s?", what=what)


def to_add(rows: Sequence[Row]) -> Texts:
    """What a proposal to add would do, as its card says it."""

    def say(language: str) -> str:
        what, dates = _rows_in_words(rows, language)
        if dates:
            return _("Add %(what)s for %(day)s.", what=what, day=dates)
        return _("Add %(what)s.", what=what)

    return in_both(say)


def _rows_in_words(rows: Sequence[Row], language: str) -> tuple[str, str]:
    """The rows, and the day where it is the same for all; else each says its own."""
    if len({row.date for row in rows}) == 1:
        plain = [f"{row.item} {money(row, language)}" for row in rows]
        return listed(plain), day(rows[0].date, language)
    return listed([called(row, language) for row in rows]), ""


def added(rows: Sequence[Row], today: dt.date) -> Texts:
    """What the receipt of an added expense says."""

    def say(language: str) -> str:
        if len({row.date for row in rows}) > 1:
            return _("I've added %(what)s.", what=listed([called(row, language) for row in rows]))
        what = listed([f"{row.item} {money(row, language)}" for row in rows])
        when = near_day(rows[0].date, today, language)
        return _("I've added your %(what)s %(when)s.", what=what, when=when)

    return in_both(say)


def details_of(rows: Sequence[Row], ledger: Ledger, who: str = "") -> Details:
    """The values of the rows as the card lists them; several have a line each."""
    return in_both(lambda language: _details(rows, ledger, who, language))


def _details(rows: Sequence[Row], ledger: Ledger, who: str, language: str) -> list[tuple[str, str]]:
    if len(rows) > 1:
        return [
            (row.item, " · ".join(filter(None, (*_values(row, ledger, language), row.note))))
            for row in rows
        ]
    labels = (_("Amount"), _("Date"), _("Category"))
    pairs = [
        (_("Item"), rows[0].item),
        *zip(labels, _values(rows[0], ledger, language), strict=True),
    ]
    if rows[0].note:
        pairs.append((_("Note"), rows[0].note))
    if who:
        pairs.append((_("Added by"), who))
    return pairs


def _values(row: Row, ledger: Ledger, language: str) -> tuple[str, str, str]:
    amount = format_amount(row.amount, row.currency, language)
    return amount, day(row.date, language), ledger.name_of(row.category, language)


def ask_to_change(expense: Expense, changes: Mapping[str, Any], ledger: Ledger) -> Texts:
    """The question that a proposal to change ends in."""
    return in_both(
        lambda language: _(
            "Would you like me to change %(what)s: %(changes)s?",
            **_change(expense, changes, ledger, language),
        )
    )


def to_change(expense: Expense, changes: Mapping[str, Any], ledger: Ledger) -> Texts:
    """What a proposal to change would do."""
    return in_both(
        lambda language: _(
            "Change %(what)s: %(changes)s.", **_change(expense, changes, ledger, language)
        )
    )


def _change(
    expense: Expense, changes: Mapping[str, Any], ledger: Ledger, language: str
) -> dict[str, str]:
    """What is to be changed, and what will be different about it."""
    return {
        "what": called(expense, language),
        "changes": _changes(expense, changes, ledger, language),
    }


def changed(expense: Expense, changes: Mapping[str, Any], ledger: Ledger) -> Texts:
    """What the receipt of a change says; `expense` has the new values already."""
    return in_both(
        lambda language: _(
            "I've changed %(what)s: %(changes)s.",
            what=expense.item,
            changes=_changes(expense, changes, ledger, language),
        )
    )


def _changes(expense: Expense, changes: Mapping[str, Any], ledger: Ledger, language: str) -> str:
    """ "amount $15, category Cleaning": what will be different."""
    currency = changes.get("currency", expense.currency)
    amount: Decimal = changes.get("amount", expense.amount)
    said = {
        "item": lambda: _("item “%(item)s”", item=changes["item"]),
        "amount": lambda: _("amount %(amount)s", amount=amount_words(amount, currency, language)),
        "currency": lambda: (
            ""
            if "amount" in changes
            else _("amount %(amount)s", amount=amount_words(amount, currency, language))
        ),
        "date": lambda: _("date %(day)s", day=day(changes["date"], language)),
        "category": lambda: _(
            "category %(name)s", name=ledger.name_of(changes["category"], language)
        ),
        "note": lambda: _("note “%(note)s”", note=" ".join(changes["note"][:SHOWN_NOTE].split())),
    }
    return listed([words for name in said if name in changes and (words := said[name]())])


def ask_which() -> Texts:
    """The question where several may be meant; what is said next chooses one of them."""
    return in_both(lambda _language: _("Which one do you mean?"))


def ask_which_expense() -> Texts:
    """The question where nothing says which is meant."""
    return in_both(
        lambda _language: _("Which expense do you mean? Say what it was for, or how much.")
    )


def fits_none(which: str) -> Texts:
    """What is said where none is meant; what is said next may name one."""
    return in_both(
        lambda _language: _(
            "I found no expense that fits “%(words)s”. Say what it was for, or how much.",
            words=which,
        )
    )


def asks_which(said: str) -> bool:
    """Whether these words asked to name an expense."""
    ends = [_QUOTED.split(text)[-1].lstrip(". ") for text in fits_none("").values()]
    asked = (*ask_which().values(), *ask_which_expense().values(), *ends)
    return said.rstrip().endswith(asked)


def asks_to_differ(said: str) -> bool:
    """Whether these words asked what should be different about what was declined."""
    asked = in_both(
        lambda _language: _(
            "All right. What the card showed was not done. What should be different?"
        )
    )
    return said.rstrip().endswith(tuple(asked.values()))


def ask_to_delete(expense: Expense) -> Texts:
    return in_both(
        lambda language: _("Would you like me to delete %(what)s?", what=called(expense, language))
    )


def to_delete(expense: Expense) -> Texts:
    return in_both(lambda language: _("Delete %(what)s.", what=called(expense, language)))


def deleted(expense: Expense) -> Texts:
    return in_both(
        lambda language: _(
            "I've deleted %(what)s. It can be brought back for 30 days.",
            what=called(expense, language),
        )
    )
