"""Printed lines as Markdown: paragraphs put together again, lists, and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from app.skills.knowledge.readers.markup import code_block, escape_start, escape_text
from app.skills.knowledge.readers.pdf_lines import Line
from app.skills.knowledge.readers.pdf_tables import to_table

_BULLET = re.compile(r"^[•◦▪‣●○■□➢·∙–—*-]\s*(?=\S)|^[•◦▪‣●○■□➢·∙]$")
_DASH = re.compile(r"^[–—*-](?!\s)")
_NUMBERED = re.compile(r"^(\d{1,3}|[a-zA-Z])[.)]\s+(?=\S)")
_ENDS = re.compile(r"[.:;!?…][\"'”’»)\]]*$")
_SYLLABLE = re.compile(r"(?<=[^\W\d_])-$")
# A gap of this many usual ones begins a paragraph; a line this short was ended on purpose.
GAP, SHORT, VERY_SHORT = 1.4, 0.85, 0.65


@dataclass
class _Block:
    kind: str  # text, item, number, code, row
    lines: list[Line] = field(default_factory=list)

    @property
    def last(self) -> Line:
        return self.lines[-1]


@dataclass(frozen=True)
class Measure:
    """How the text of a document is set: the distance of two lines, and its right edge."""

    leading: float
    left: float
    right: float


def measure(lines: Sequence[Line]) -> Measure:
    gaps = [
        before.bottom - line.bottom
        for before, line in pairwise(lines)
        if before.page == line.page and 0 < before.bottom - line.bottom < 4 * line.size
    ]
    rights = sorted(line.right for line in lines)
    lefts = sorted(line.left for line in lines)
    return Measure(
        leading=median(gaps) if gaps else 14.0,
        left=lefts[len(lefts) // 10],
        right=rights[int(len(rights) * 0.9)],
    )


def to_markdown(lines: Sequence[Line], set_in: Measure) -> str:
    """The lines' Markdown, block after block."""
    blocks: list[_Block] = []
    for line in lines:
        kind = _kind(line)
        if blocks and _goes_on(blocks[-1], line, kind, set_in):
            blocks[-1].lines.append(line)
        else:
            blocks.append(_Block(kind, [line]))
    return _join(blocks, set_in)


def _kind(line: Line) -> str:
    if line.table:
        return "row"
    if line.is_mono:
        return "code"
    if _BULLET.match(line.text) and not _DASH.match(line.text):
        return "item"
    return "number" if _NUMBERED.match(line.text) else "text"


def _goes_on(block: _Block, line: Line, kind: str, set_in: Measure) -> bool:
    """Whether the line belongs to the block before it."""
    if kind == "row" or block.kind == "row":
        return line.table == block.last.table
    if kind == "code" or block.kind == "code":
        return kind == block.kind
    if kind != "text":
        return False
    last = block.last
    if last.page != line.page or line.bottom > last.bottom + line.size:
        # A page or a column further on only a sentence that is not over goes on.
        return not _ENDS.search(last.text) and not line.text[:1].isupper()
    if last.bottom - line.bottom > GAP * max(set_in.leading, 1.2 * line.size):
        return False
    if abs(last.size - line.size) > 1.5:
        return False
    return not _is_new(block, line, set_in)


def _is_new(block: _Block, line: Line, set_in: Measure) -> bool:
    """Whether its place on the page says that a paragraph begins with it."""
    first, last = block.lines[0], block.last
    if block.kind != "text":
        return line.left <= first.left + 1
    if _reach(last, set_in) < SHORT and _ENDS.search(last.text):
        return True
    # The first line of a paragraph may be set in.
    return len(block.lines) > 1 and line.left > last.left + 0.8 * line.size


def _reach(line: Line, set_in: Measure) -> float:
    """How far towards the right edge of the text the line goes."""
    return (line.right - set_in.left) / max(1.0, set_in.right - set_in.left)


def _join(blocks: Sequence[_Block], set_in: Measure) -> str:
    parts: list[str] = []
    before = ""
    for block in blocks:
        is_list = block.kind in ("item", "number")
        tight = is_list and before == block.kind
        parts.append("\n" if tight else "\n\n")
        parts.append(_markdown(block, set_in))
        before = block.kind
    return "".join(parts).strip("\n")


def _markdown(block: _Block, set_in: Measure) -> str:
    if block.kind == "code":
        return code_block(_code(block.lines))
    if block.kind == "row":
        return to_table(block.lines)
    text = _prose(block.lines, set_in)
    if block.kind == "item":
        return "- " + escape_text(_BULLET.sub("", text, count=1).strip())
    if block.kind == "number":
        number = _NUMBERED.match(text)
        if number and number[1].isdecimal():
            return f"{number[1]}. " + escape_text(text[number.end() :])
        return "- " + escape_text(text)
    return escape_start(escape_text(text))


def _prose(lines: Sequence[Line], set_in: Measure) -> str:
    """The lines as one, words that were parted put together again."""
    parts = [lines[0].text]
    for before, line in pairwise(lines):
        if _SYLLABLE.search(before.text[-2:]) and line.text[:1].islower():
            parts[-1] = parts[-1][:-1]
        elif _reach(before, set_in) < VERY_SHORT and len(before.text) > 1:
            parts.append("  \n")
        else:
            parts.append(" ")
        parts.append(line.text)
    return "".join(parts)


def _code(lines: Sequence[Line]) -> str:
    left = min(line.left for line in lines)
    return "\n".join(" " * _indent(line, left) + line.text for line in lines)


def _indent(line: Line, left: float) -> int:
    """How many letters the line is set in, all letters being of one width."""
    width = (line.right - line.left) / max(1, len(line.text))
    return min(40, round((line.left - left) / width)) if width > 0 else 0
