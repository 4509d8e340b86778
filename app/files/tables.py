"""Tables that people bring, such as a list of contacts: read apart, or refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from app.errors import N_, InvalidInput
from app.files.kinds import MIB, Unfit
from app.files.sandbox import read_cells_of
from app.files.spool import size_of
from app.files.table_cells import MOST_COLUMNS, MOST_ROWS, Cells

LARGEST_TABLE = MIB


def read_table(file: IO[bytes], folder: Path | None) -> Cells:
    """The rows of a table that came with a form, which has its file in the field `file`.

    Called within `app.files.posted_files.examination`, and before a transaction begins.

    Raises:
        InvalidInput: it is none, or too much of one.
    """
    size = size_of(file)
    if size > LARGEST_TABLE:
        raise InvalidInput(
            "The file is larger than %(limit)s MB.", field="file", limit=LARGEST_TABLE // MIB
        )
    try:
        cells = read_cells_of(file, folder) if size else []
    except Unfit as unfit:
        message = UNFIT.get(unfit.code, UNFIT["too_much"])
        count = f"{unfit.number:,}"
        limits = {"limit": f"{MOST_ROWS:,}", "columns": MOST_COLUMNS}
        raise InvalidInput(message, field="file", line=count, count=count, **limits) from None
    if not cells:
        raise InvalidInput("The file is empty. Choose another one.", field="file")
    return cells


# What is wrong with a table, by the code of `Unfit`.
UNFIT = {
    "no_table": N_("This is not a text table. Save it as CSV."),
    "table_line": N_("Line %(line)s cannot be read as a table. Save it as CSV again."),
    "too_many_rows": N_(
        "The table has %(count)s rows; only %(limit)s fit at once. Split it into several."
    ),
    "too_many_columns": N_(
        "Line %(line)s has more than %(columns)s columns. Leave out those that are not needed."
    ),
    "broken": N_("The file is damaged or incomplete. Save it again, or download it again."),
    "too_much": N_(
        "This file takes too much time or memory to check. Save a smaller version and add that."
    ),
}
