"""Tables that people open in a spreadsheet: no cell of theirs is ever run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

# Without it, spreadsheets read accents as something else.
BYTE_ORDER_MARK = "\ufeff"
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def neutral(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def csv_lines(lines: Iterable[Sequence[str]]) -> str:
    """The lines as CSV, each cell neutral."""
    page = io.StringIO()
    writer = csv.writer(page)
    writer.writerows([[neutral(cell) for cell in line] for line in lines])
    return page.getvalue()
