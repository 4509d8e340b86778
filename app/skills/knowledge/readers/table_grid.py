"""Tables on one grid: a cell that spans several columns or rows stands in each of them.

HTML and Word say where a cell stands only by what stands before it and above it, and a Markdown
table has no spans. Written in their order, the values would move to the columns of others.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.skills.knowledge.readers.markup import MOST_CELLS
from app.skills.knowledge.readers.result import Unreadable

# As HTML has them; Word allows fewer.
MOST_COLUMNS, MOST_ROWS = 1_000, 65_534
# A table may become so many times as large as what was written, where it is not small; all the
# tables of a document, those within cells counted again, so large.
MOST_TIMES, SMALL, MOST_SIGNS = 4, 200_000, 20_000_000
LONG = 100
_DIGITS = re.compile(r"\s*\+?(\d+)")


@dataclass(frozen=True)
class Cell:
    """What a cell says, and how much it covers; with 0 `rows` all to the end of its group."""

    text: str
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True)
class Table:
    """Rows of one width. It `is_even` when each place of the grid was covered by one cell."""

    rows: list[list[str]]
    is_even: bool = True


@dataclass(frozen=True)
class _Placed:
    """A cell on the grid: its first column, the one behind its last, and its last row."""

    start: int
    end: int
    last_row: int
    text: str


class _TooLarge(Exception):
    """The spans of a table make far more of it than was written."""


Row = Sequence[Cell]


def read_span(text: str, least: int, most: int) -> int:
    """The number that a span begins with, within its bounds; 1 for what is none."""
    found = _DIGITS.match(text[:40])
    return min(most, max(least, int(found[1]))) if found else 1


def lay_out(groups: Sequence[Sequence[Row]]) -> Table:
    """The table of these groups of rows; no cell reaches from one group into the next.

    A place that no cell covers is empty, and one that two cover has both texts. A table that
    its spans would blow up has one column, with a row's texts in it: no value stands in a
    column that is not its own.
    """
    try:
        return _laid_out(groups)
    except _TooLarge:
        return Table([[text] for text in _listed(groups)], is_even=False)


def count_signs(rows: Sequence[Sequence[str]], before: int) -> int:
    """How many signs a document's tables have with this one, `before` being those so far.

    Raises:
        Unreadable: tables within tables repeat each other's cells without end.
    """
    count = before + sum(len(text) for row in rows for text in row)
    if count > MOST_SIGNS:
        raise Unreadable("too_many_words")
    return count


def _laid_out(groups: Sequence[Sequence[Row]]) -> Table:
    cells = [cell for group in groups for row in group for cell in row]
    most = max(MOST_CELLS, MOST_TIMES * len(cells))
    # A text that is the very same in several cells was written once, and stands there again.
    written = {id(cell.text): len(cell.text) for cell in cells}
    most_signs = max(SMALL, MOST_TIMES * sum(written.values()))
    placed = _place(groups, most)
    # Columns in which no cell begins say nothing that the one before them does not.
    starts = sorted({cell.start for row in placed for cell in row})
    if len(starts) * len(placed) > most:
        raise _TooLarge
    rows: list[list[str]] = []
    signs, is_even = 0, True
    for row in placed:
        texts, is_whole = _fill(row, starts)
        signs += sum(map(len, texts))
        if signs > most_signs:
            raise _TooLarge
        rows.append(texts)
        is_even = is_even and is_whole
    return Table(rows, is_even)


def _listed(groups: Sequence[Sequence[Row]]) -> Iterator[str]:
    """The texts of each row as one, long ones that stand there again but once."""
    seen: set[int] = set()
    for row in (row for group in groups for row in group):
        texts = [cell.text for cell in row if len(cell.text) < LONG or id(cell.text) not in seen]
        seen.update(map(id, texts))
        yield ", ".join(texts)


def _place(groups: Sequence[Sequence[Row]], most: int) -> list[list[_Placed]]:
    """The cells of each row, with those that reach into it from above."""
    placed: list[list[_Placed]] = []
    count = 0
    for group in groups:
        above: list[_Placed] = []
        for number, row in enumerate(group):
            cells = [*_place_row(row, above, number, len(group))]
            count += len(cells)
            if count > most:
                raise _TooLarge
            if row:
                placed.append(cells)
            above = sorted(
                (cell for cell in cells if cell.last_row > number), key=lambda cell: cell.start
            )
    return placed


def _place_row(row: Row, above: list[_Placed], number: int, height: int) -> Iterator[_Placed]:
    """The cells from `above`, and those of the row in the columns that these leave free."""
    yield from above
    column, place = 0, 0
    for cell in row:
        while place < len(above) and above[place].start <= column:
            column = max(column, above[place].end)
            place += 1
        end = column + min(MOST_COLUMNS, max(1, cell.columns))
        rows = min(height - number, cell.rows or height)
        yield _Placed(column, end, number + rows - 1, cell.text)
        column = end


def _fill(row: list[_Placed], starts: list[int]) -> tuple[list[str], bool]:
    """The text in each column, and whether one cell stands in each."""
    texts = [""] * len(starts)
    covered = [0] * len(starts)
    for cell in row:
        for column in range(bisect_left(starts, cell.start), bisect_left(starts, cell.end)):
            covered[column] += 1
            if cell.text.strip() and texts[column] != cell.text:
                texts[column] = f"{texts[column]} / {cell.text}" if texts[column] else cell.text
    is_blank = not any(text.strip() for text in texts)
    return texts, is_blank or all(count == 1 for count in covered)
