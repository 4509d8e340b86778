"""Expenses as a workbook: the rows of the table, as numbers and dates, with a total by currency."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import IO, Any
from uuid import UUID

from flask_babel import gettext as _
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font

from app.files.spreadsheets import WRITING, neutral
from app.skills.expenses.services.export import Table, batches, cells, headings

# It is made on this machine before it is sent; a CSV is sent while it is written.
MOST_ROWS = 200_000
_WIDTHS = (12, 42, 14, 10, 22, 24, 42, 10)


def write_workbook(table: Table) -> IO[bytes]:
    """The same as a workbook in a file that is gone when it is closed, with totals at its end."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(_("Expenses"))
    sheet.freeze_panes = "A2"
    for letter, width in zip("ABCDEFGH", _WIDTHS, strict=True):
        sheet.column_dimensions[letter].width = width
    sheet.append([_bold(sheet, heading) for heading in headings()])
    totals: dict[str, Decimal] = {}
    for rows, names in batches(table):
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
        sheet.append([_cell(sheet, value) for value in cells(table, row, names)])


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
