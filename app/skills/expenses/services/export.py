"""Expenses as tables for spreadsheets: exactly the rows that are listed, however many.

They are read a batch at a time, each in a transaction of its own, so that neither memory nor
a connection is held for as long as somebody downloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from flask_babel import gettext as _
from sqlalchemy import select, tuple_

from app.db import ScopedSession
from app.files.spreadsheets import BYTE_ORDER_MARK, WRITING, csv_lines
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import Filters, conditions, visible
from app.skills.expenses.services.people import names_of
from app.skills.expenses.services.settings import Ledger
from app.text.free_text import limit_search

AT_ONCE = 500

Transaction = Callable[[], AbstractContextManager[ScopedSession]]
COLUMNS = (
    Expense.date,
    Expense.item,
    Expense.amount,
    Expense.currency,
    Expense.category,
    Expense.user_id,
    Expense.note,
    Expense.file_id,
    Expense.id,
)


@dataclass(frozen=True)
class Table:
    """Which expenses are wanted, of which ledger, in whose language."""

    transaction: Transaction
    ledger: Ledger
    filters: Filters
    language: str


def headings() -> list[str]:
    return [
        _("Date"),
        _("Item"),
        _("Amount"),
        _("Currency"),
        _("Category"),
        _("Added by"),
        _("Note"),
        _("Receipt"),
    ]


def write_csv(table: Table) -> Iterator[str]:
    """The lines of a CSV, some at a time; amounts have a point, dates are year-month-day."""
    yield BYTE_ORDER_MARK + WRITING.run(lambda: csv_lines([headings()]))
    for rows, names in batches(table):
        yield WRITING.run(partial(_write_lines, table, rows, names))


def _write_lines(table: Table, rows: Sequence[Any], names: dict[UUID, str]) -> str:
    lines = [cells(table, row, names) for row in rows]
    return csv_lines([[str(cell) for cell in line] for line in lines])


def cells(table: Table, row: Any, names: dict[UUID, str]) -> list[Any]:
    return [
        row.date,
        row.item,
        row.amount,
        row.currency,
        table.ledger.name_of(row.category, table.language),
        names.get(row.user_id) or _("Former colleague"),
        row.note,
        _("yes") if row.file_id else "",
    ]


def batches(table: Table) -> Iterator[tuple[Sequence[Any], dict[UUID, str]]]:
    """The rows in the order of the list, some at a time, with who added those seen so far."""
    names: dict[UUID, str] = {}
    last: Any = None
    while True:
        with table.transaction() as session:
            rows = _next_rows(session, table.filters, last)
            new = {row.user_id for row in rows} - names.keys()
            names |= names_of(session, new)
        if not rows:
            return
        yield rows, names
        last = rows[-1]


def _next_rows(session: ScopedSession, filters: Filters, after: Any) -> Sequence[Any]:
    place = tuple_(Expense.date, Expense.id)
    # Rows of before the last one's day are found by the index; those of its day by their place.
    until = replace(filters, end=None) if after is not None else filters
    query = select(*COLUMNS).where(
        *visible(session), Expense.deleted_at.is_(None), *conditions(until)
    )
    if after is not None:
        query = query.where(place < (after.date, after.id))
    ordered = query.order_by(Expense.date.desc(), Expense.id.desc())
    with limit_search(session, alone=False):
        return session.execute(ordered.limit(AT_ONCE)).all()
