"""Tables that people open in a spreadsheet: no cell of theirs is ever run."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

from app.jobs.system_threads import RealThreads

# Without it, spreadsheets read accents as something else.
BYTE_ORDER_MARK = "\ufeff"
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
# As a number it would lose its plus, and be rounded in a narrow column.
_PHONE = re.compile(r"\+\d{7,15}", re.ASCII)
_FORMULA = frozenset("=+-@\N{MINUS SIGN}")
_CONTROL = ("\t", "\r", "\n")
# Where tables are written: each batch of rows in its turn, so that a long one delays no other.
WRITING = RealThreads(1)
# By which spreadsheets part the cells and lines of a CSV in other countries, or when told to.
_SEPARATORS = re.compile(r"[;\t|\r\n]")
# In a text of ASCII: a separator, all that may stand between it and a cell, and the sign of a
# formula if one begins there. Told in a third of the time.
_ASCII_CELL = re.compile(r'([;\t|\r\n][;|"\x00-\x20\x7f]*+)([=+\-@]?)')
# Fillers and stand-ins that are letters or signs by their category, and nothing on the screen.
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u180b\u180c\u180d\u180f\ufffc")


def neutral(text: str) -> str:
    """A cell that no spreadsheet takes for a formula.

    An apostrophe is put before what would be one, also where the sign is of full width or
    small, or comes after blanks and characters that cannot be seen: programs drop those, and
    fold those signs, before they look. Plain numbers stay; phone numbers stay whole.
    """
    seen = text[_first_seen(text) :]
    if _NUMBER.fullmatch(seen) and not _PHONE.fullmatch(seen):
        return text
    if text.startswith(_CONTROL) or _begins_formula(seen):
        return f"'{text}"
    return text


def csv_lines(lines: Iterable[Sequence[str]]) -> str:
    """The lines as CSV, each cell neutral, by whatever sign a spreadsheet parts them.

    A number with a sign stays one in every column but the first.
    """
    page = io.StringIO()
    writer = csv.writer(page)
    writer.writerows(map(_neutral_line, lines))
    return page.getvalue()


def _neutral_line(line: Sequence[str]) -> list[str]:
    cells = [_neutral_within(neutral(cell)) for cell in line]
    # Where commas part nothing, a number at the beginning of a line goes on with the next cells.
    if cells and _begins_formula(cells[0][_first_seen(cells[0]) :]):
        cells[0] = f"'{cells[0]}"
    return cells


def _neutral_within(text: str) -> str:
    """An apostrophe before each sign that would begin a formula behind another separator."""
    if text.isascii():
        return _ASCII_CELL.sub(lambda cell: f"{cell[1]}'{cell[2]}" if cell[2] else cell[1], text)
    pieces, done = list[str](), 0
    found = _SEPARATORS.search(text)
    while found:
        place = _behind_separators(text, found.end())
        if _begins_formula(text[place : place + 1]):
            pieces += text[done:place], "'"
            done = place
        found = _SEPARATORS.search(text, place)
    return "".join([*pieces, text[done:]])


def _behind_separators(text: str, place: int) -> int:
    """Where a cell begins behind a separator: after blanks, and after further separators."""
    # A quotation mark after a separator may be dropped, as that of a cell in quotes.
    while place < len(text) and (text[place] in ';|"' or _is_blank(text[place])):
        place += 1
    return place


def _first_seen(text: str) -> int:
    """The place of the first character that is more than a blank; the length where none is."""
    return next((place for place, sign in enumerate(text) if not _is_blank(sign)), len(text))


def _is_blank(sign: str) -> bool:
    """True of white space, controls, format characters, fillers, and marks without a letter."""
    # Z: separators; Cc, Cf, Cn, Co, Cs: controls, format characters and what is nothing; M: what
    # is combined with the letter before it (selectors too), of which there is none here.
    return sign in _BLANK_LETTERS or sign.isspace() or unicodedata.category(sign)[0] in "ZCM"


def _begins_formula(seen: str) -> bool:
    # Full-width, small and raised forms are folded to the plain sign.
    return bool(seen) and unicodedata.normalize("NFKC", seen[0])[0] in _FORMULA
