"""Expenses of a group, written as their own people write them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from app.db import Database
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import Row, add_expenses
from app.skills.expenses.services.settings import Ledger, load_ledger
from tests.factories.people import Member


def make_expense(database: Database, member: Member, item: str = "Taxi", **facts: Any) -> Expense:
    """An expense of this person's, of today where nothing else is said."""
    with database.transaction(member.scope) as session:
        ledger = load_ledger(session)
        values: dict[str, Any] = {
            "amount": Decimal("12.00"),
            "currency": ledger.currency,
            "date": ledger.today,
            "category": "transport",
            **facts,
        }
        values["amount"] = Decimal(str(values["amount"])).quantize(Decimal("0.01"))
        [expense] = add_expenses(session, [Row(item=item, **values)])
        session.refresh(expense)
        session.expunge(expense)
    return expense


def ledger_of(database: Database, member: Member) -> Ledger:
    """The ledger of this person's group."""
    with database.transaction(member.scope) as session:
        return load_ledger(session)


def a_day(text: str) -> dt.date:
    """ "2026-11-20" as a date."""
    return dt.date.fromisoformat(text)
