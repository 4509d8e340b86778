"""Expenses as tables for spreadsheets: exactly the rows that are listed, however many.

They are read a batch at a time, each in a transaction of its own, so that neither memory nor
a connection is held for as long as somebody downloads.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import IO, Any
from uuid import UUID

from flask_babel import gettext as _
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font
from sqlalchemy import select, tuple_

from app.db import ScopedSession
from app.files.spreadsheets import BYTE_ORDER_MARK, WRITING, csv_lines, neutral
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import Filters, conditions, visible
from app.skills.expenses.services.people import names_of
from app.skills.expenses.services.settings import Ledger
from app.text.free_text import limit_search

AT_ONCE = 500
# A workbook is made on this machine before it is sent; a text is sent while it is written.
MOST_ROWS = 200_000
_WIDTHS = (12, 42, 14, 10, 22, 24, 42, 10)

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
    for rows, names in _batches(table):
        yield WRITING.run(partial(_write_lines, table, rows, names))


def _write_lines(table: Table, rows: Sequence[Any], names: dict[UUID, str]) -> str:
    lines = [_cells(table, row, names) for row in rows]
    return csv_lines([[str(cell) for cell in line] for line in lines])


def write_workbook(table: Table) -> IO[bytes]:
    """The same as a workbook in a file that is gone when it is closed, with totals at its end."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(_("Expenses"))
    sheet.freeze_panes = "A2"
    for letter, width in zip("ABCDEFGH", _WIDTHS, strict=True):
        sheet.column_dimensions[letter].width = width
    sheet.append([_bold(sheet, heading) for heading in headings()])
    totals: dict[str, Decimal] = {}
    for rows, names in _batches(table):
        WRITING.run(partial(_append, sheet, table, rows, names))
        for row in rows:
            totals[row.currency] = totals.get(row.currency, Decimal(0)) + row.amount
    for currency, total in sorted(totals.items()):
        label = _("Total in %(currency)s", currency=currency)
        sheet.append(
            [None, *(_bold(sheet, value) for value in (label, total, currency))],
        )
    file = tempfile.TemporaryFile()  # noqa: SIM115 (whoever sends it closes it)
    WRITING.run(partial(book.save, file))
    file.seek(0)
    return file


def _append(sheet: Any, table: Table, rows: Sequence[Any], names: dict[UUID, str]) -> None:
    for row in rows:
        sheet.append([_cell(sheet, value) for value in _cells(table, row, names)])


def _cells(table: Table, row: Any, names: dict[UUID, str]) -> list[Any]:
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


def _cell(sheet: Any, value: Any) -> Any:
    """A cell of what is a number, a date or a text; a text is never run."""
    text = isinstance(value, str)
    cell = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("", neutral(value)) if text else value)
    if text:
        cell.data_type = "s"
    elif isinstance(value, Decimal):
        cell.number_format = "#,##0.00"
    else:
        cell.number_format = "yyyy-mm-dd"
    return cell


def _bold(sheet: Any, value: Any) -> Any:
    cell = _cell(sheet, value)
    cell.font = Font(bold=True)
    return cell


def _batches(table: Table) -> Iterator[tuple[Sequence[Any], dict[UUID, str]]]:
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
    with limit_search(session):
        return session.execute(ordered.limit(AT_ONCE)).all()
