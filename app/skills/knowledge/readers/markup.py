"""Plain text as Markdown that shows it as it is: signs of the syntax lose their meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A row of a thousand cells above a thousand rows of one is no million of cells.
MOST_CELLS = 20_000
_INLINE = re.compile(r"([*`\\]|~(?=~)|(?<=~)~)")
_STARTS_BLOCK = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+$|~~~)")
_STARTS_LIST = re.compile(r"^(\s*\d{1,9})([.)])(?=\s|$)")


def escape_text(text: str) -> str:
    """Text within a line: no emphasis, no striking out and no code comes of it."""
    return _INLINE.sub(r"\\\1", text)


def escape_start(line: str) -> str:
    """A paragraph's first line: no heading, quote or list comes of it."""
    line = _STARTS_BLOCK.sub(r"\1\\\2", line)
    return _STARTS_LIST.sub(r"\1\\\2", line)


def code_block(text: str) -> str:
    """Text whose spaces and lines count, between fences longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose first row is its head; "" when there is nothing in it."""
    filled = [[_cell(cell) for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not filled:
        return ""
    width = max(len(row) for row in filled)
    head, *body = filled
    head = head + [""] * (width - len(head))
    if width * len(filled) <= MOST_CELLS:
        # Rows may be shorter than the head; where it is little, they are as long.
        body = [row + [""] * (width - len(row)) for row in body]
    return "\n".join(_row(row) for row in (head, ["---"] * width, *body))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))
