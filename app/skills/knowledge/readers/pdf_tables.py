"""Tables of a PDF, told by lines below each other whose words stand apart in the same columns.

A PDF has no cells: where nothing is printed in one, the values behind it would move to its column.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.skills.knowledge.readers.markup import escape_text, table
from app.skills.knowledge.readers.omissions import shorten
from app.skills.knowledge.readers.pdf_lines import LIST_SIGN, Line
from app.skills.knowledge.readers.pdf_signs import Piece
from app.skills.knowledge.readers.result import FileProblem

# In sizes of letters: rows further apart than this are of two tables.
APART = 4.0
MOST_COLUMNS = 60
_Column = tuple[float, float]


def mark_rows(lines: Sequence[Line]) -> list[FileProblem]:
    """Give the rows of each table its number, and a problem for each page that has tables."""
    number = 0
    problems: dict[int, FileProblem] = {}
    start = 0
    while start < len(lines):
        end = _end_of(lines, start)
        if end is None:
            start += 1
            continue
        number += 1
        for line in lines[start:end]:
            line.table = number
        named = shorten(", ".join(piece.text for piece in lines[start].pieces))
        place = f"page {lines[start].page + 1}"
        problems.setdefault(lines[start].page, FileProblem(place, "pdf_table", named))
        start = end
    return list(problems.values())


def to_table(lines: Sequence[Line]) -> str:
    """The rows as a Markdown table; a place where nothing is printed is an empty cell."""
    columns = _columns(lines)
    rows = []
    for number, line in enumerate(lines):
        if not number or not is_beside(lines[number - 1], line):
            cells = [""] * len(columns)
            rows.append(cells)
        for piece in line.pieces:
            place = _column_of(piece, columns)
            cells[place] = " / ".join(filter(None, (cells[place], escape_text(piece.text))))
    return table(rows)


def _end_of(lines: Sequence[Line], start: int) -> int | None:
    """The place behind the last row of a table that begins at `start`; None if none does."""
    if not _is_row(lines[start]) and not any(
        is_beside(lines[start], line) for line in lines[start + 1 : start + 2]
    ):
        return None
    known: list[_Column] = []
    end, rows = start, 0
    while end < len(lines):
        line = lines[end]
        if end > start and is_beside(lines[end - 1], line):
            # Its row counts from its second piece on.
            rows += len(lines[end - 1].pieces) == 1
        elif end > start and not _follows(lines[end - 1], line):
            break
        elif _is_row(line):
            rows += 1
        elif end > start and not _fits(line, known):
            break
        known += [(piece.left, piece.right) for piece in line.pieces]
        end += 1
    return end if rows > 1 else None


def is_beside(before: Line, line: Line) -> bool:
    """Whether a line is a cell of the row that the one before it is of; it may be set higher."""
    rise = line.bottom - before.bottom
    is_right = before.page == line.page and line.left >= before.right
    is_other = line.is_mono or before.is_mono or LIST_SIGN.match(before.text) is not None
    return is_right and -0.7 * line.size < rise < APART * line.size and not is_other


def _is_row(line: Line) -> bool:
    return len(line.pieces) > 1 and not line.is_mono


def _follows(before: Line, line: Line) -> bool:
    gap = before.bottom - line.bottom
    return before.page == line.page and 0 < gap < APART * line.size


def _fits(line: Line, known: Sequence[_Column]) -> bool:
    """Whether a line of one piece stands in one column: below one cell, and short of the others.

    Only the last rows are looked at, so that a long table is no long work.
    """
    recent = known[-40:]
    below = [each for each in recent if each[0] < line.right and line.left < each[1]]
    starts = {round(left) for left, _ in below}
    return bool(below) and max(starts) - min(starts) < 3 * line.size and not line.is_mono


def _columns(lines: Sequence[Line]) -> list[_Column]:
    """Where columns stand, from the fullest rows on; a title above several of them is none."""
    columns: list[_Column] = []
    for line in sorted(lines, key=lambda each: -len(each.pieces)):
        for piece in line.pieces:
            met = [each for each in columns if piece.left < each[1] and each[0] < piece.right]
            if not met and len(columns) < MOST_COLUMNS:
                columns.append((piece.left, piece.right))
            elif len(met) == 1:
                [(left, right)] = met
                wider = (min(left, piece.left), max(right, piece.right))
                columns[columns.index(met[0])] = wider
    return sorted(columns)


def _column_of(piece: Piece, columns: Sequence[_Column]) -> int:
    """The column that a piece shares most with."""
    shared = [min(piece.right, right) - max(piece.left, left) for left, right in columns]
    return shared.index(max(shared))
