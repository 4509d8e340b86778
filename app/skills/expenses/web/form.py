"""An expense as it is typed into a form: kept as it came, read, or told what is wrong where."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from flask_babel import gettext as _

from app.errors import InvalidInput
from app.skills.expenses.models import LONGEST_ITEM, LONGEST_NOTE, Expense
from app.skills.expenses.nlu import guess_category
from app.skills.expenses.services.expenses import Row, category_for, check_row
from app.skills.expenses.services.settings import Ledger
from app.text.money import find_amounts, parse_amount
from app.text.plain_text import clean_text

FIELDS = ("item", "amount", "currency", "date", "category", "note")
# More than any field takes, so that what is too long can be shown and told.
LONGEST = LONGEST_ITEM + LONGEST_NOTE
Errors = dict[str, str]


@dataclass(frozen=True)
class Typed:
    """The texts of a form's fields; an empty currency is the group's own."""

    item: str = ""
    amount: str = ""
    currency: str = ""
    date: str = ""
    category: str = ""
    note: str = ""


def read_typed(form: Mapping[str, str]) -> Typed:
    """What was sent, as it was typed but for what no database takes."""
    return Typed(*(clean_text(form.get(name, ""))[:LONGEST] for name in FIELDS))


def typed_of(expense: Expense) -> Typed:
    """An expense that is kept, as its form begins."""
    return Typed(
        expense.item,
        f"{expense.amount:,.2f}",
        expense.currency,
        expense.date.isoformat(),
        expense.category,
        expense.note,
    )


def read_row(
    ledger: Ledger, typed: Typed, language: str, file_id: UUID | None = None
) -> tuple[Row, Errors]:
    """The row that was typed, and what is wrong with it by field, in the reader's language.

    A row with errors is not to be written. What has no category is given the likely one.
    """
    errors: Errors = {}
    category = typed.category or guess_category(typed.item, ledger.for_reading(), language)
    row = Row(
        typed.item,
        _amount(typed, errors),
        _currency(ledger, typed, language, errors),
        _date(ledger, typed, errors),
        category_for(ledger, category),
        typed.note,
        file_id,
    )
    return _checked(ledger, row, errors), errors


def _checked(ledger: Ledger, row: Row, errors: Errors) -> Row:
    """The row, checked: what is wrong is replaced until nothing is, so that all of it is told."""
    good: dict[str, Any] = {
        "item": "?",
        "amount": Decimal(1),
        "currency": ledger.currency,
        "date": ledger.today,
        "category": category_for(ledger, None),
        "note": "",
    }
    row = replace(row, **{name: good[name] for name in errors})
    for _round in good:
        try:
            return check_row(ledger, row)
        except InvalidInput as error:
            field = error.field or "item"
            errors.setdefault(field, _(error.message, **error.params))
            row = replace(row, **{field: good[field]})
    return row


def _amount(typed: Typed, errors: Errors) -> Decimal:
    try:
        return parse_amount(typed.amount)
    except ValueError:
        errors["amount"] = (
            _("Enter the amount in numbers, like 12.50.")
            if typed.amount.strip()
            else _("Say how much it was.")
        )
        return Decimal(1)


def _currency(ledger: Ledger, typed: Typed, language: str, errors: Errors) -> str:
    """The one that was chosen, or the one whose sign was typed with the amount."""
    chosen = typed.currency or ledger.currency
    said = next((each.currency for each in find_amounts(typed.amount, language, chosen)), "")
    if not said or said == chosen:
        return chosen
    if chosen == ledger.currency:
        return said
    errors["currency"] = _(
        "The amount says %(said)s and the currency %(chosen)s. Make them the same.",
        said=said,
        chosen=chosen,
    )
    return chosen


def _date(ledger: Ledger, typed: Typed, errors: Errors) -> dt.date:
    if not typed.date.strip():
        return ledger.today
    try:
        return dt.date.fromisoformat(typed.date.strip())
    except ValueError:
        errors["date"] = _("Choose a date, or write it as 2026-11-20.")
        return ledger.today
