"""The cells of a table in text; read in the child of `app.files.sandbox`."""

from __future__ import annotations

import csv
import io

from app.files.kinds import Unfit

MOST_ROWS, MOST_COLUMNS = 2_000, 200
# In signs; what is longer is cut, and still too long for whoever takes it.
LONGEST_CELL = 1_000
_SEPARATORS = ",;\t|"

# The rows that say something, by the line on which each begins.
Cells = list[tuple[int, list[str]]]


def read_cells(content: bytes) -> Cells:
    """The rows of a table, the first of which names its columns.

    Raises:
        Unfit: `no_table` (it is no text, or empty), or with a number `table_line`,
            `too_many_rows` or `too_many_columns`.
    """
    text = _decode(content)
    first = next(filter(str.strip, text.splitlines()), "")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=first.count), strict=True
    )
    cells: Cells = []
    count, begins = 0, 1
    try:
        for row in reader:
            if len(row) > MOST_COLUMNS:
                raise Unfit("too_many_columns", begins)
            if any(cell.strip() for cell in row):
                count += 1
                # One more than is taken are the names of the columns.
                if count <= MOST_ROWS + 1:
                    cells.append((begins, [cell[:LONGEST_CELL] for cell in row]))
            begins = reader.line_num + 1
    except csv.Error:
        raise Unfit("table_line", begins) from None
    if count > MOST_ROWS + 1:
        raise Unfit("too_many_rows", count - 1)
    return cells


def _decode(content: bytes) -> str:
    """Text as Excel and others write it: UTF-8, UTF-16 with its mark, or that of Windows."""
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding, "replace" if encoding == "utf-16" else "strict")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    if "\0" in text:
        raise Unfit("no_table")
    return text
