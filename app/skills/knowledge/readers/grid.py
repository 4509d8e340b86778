"""A table's cells, whatever the file: rows of texts with the line each of them stands on."""

from __future__ import annotations

import csv
import html
import io
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from itertools import islice
from typing import Any
from zipfile import BadZipFile

import openpyxl
from charset_normalizer import from_bytes
from lxml import etree
from openpyxl.cell.read_only import EMPTY_CELL
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.worksheet import _read_only
from openpyxl.worksheet._reader import WorkSheetParser

from app.skills.knowledge.readers.archive import Archive, open_office
from app.skills.knowledge.readers.result import Limits, OnProgress, Unreadable
from app.skills.knowledge.readers.superscripts import lowered, raised, settle
from app.text.plain_text import clean_lines

Grid = list[tuple[int, list[str]]]

SEPARATORS = ",;\t|"
MOST_COLUMNS = 200
# The last row that a sheet can have.
LAST_ROW = 1_048_576
PROGRESS_EVERY = 500
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
# What stands beside plain letters in menus of these two languages, and of their wines.
_WESTERN = frozenset("áéíóúüñÁÉÍÓÚÜÑ¿¡€çàèâêîôûäöïÇ“”‘’«»–—ºª°½¼¾ \xa0")
# Cells cannot be compared; one stands for all that are not there.
_NOTHING_THERE = {id(EMPTY_CELL)}
# Notes at cells, and boxes of text that lie on them.
_NOTES = re.compile(r"xl/(?:(?:threaded)?comments|drawings/drawing)", re.IGNORECASE)
# A cell beyond the last column that is read.
_BEYOND = re.compile(rb"<(?:\w+:)?c\b[^>]*\br=[\"'](?:[A-Z]{3}|G[S-Z]|[H-Z][A-Z])\d+[^>]*[^/]>")
# A formula without its result, as programs write it that work out nothing. One that came to an
# empty text says that its result is a text.
_NOT_WORKED_OUT = re.compile(
    rb"<(?:\w+:)?c\b(?![^>]*\bt=[\"']str)[^>]*>"
    rb"\s*<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)"
    rb"\s*(?:<(?:\w+:)?v\s*(?:/>|>\s*</(?:\w+:)?v>)\s*)?</(?:\w+:)?c>"
)
_NOTED = ("{*}comment", "{*}threadedComment", "{*}txBody")
_MARGINS = re.compile(rb"<(?:\w+:)?(?:odd|even|first)(?:Header|Footer)[^>]*>([^<]*)<")
# What a margin's text has for its place, font, size, colour and numbers.
_MARGIN_CODES = re.compile(r'&(?:"[^"]*"|\d+|K[0-9A-F]{6}|.)', re.IGNORECASE)
_ALIGNMENTS = {"superscript": raised, "subscript": lowered}
# The line that a table in Markdown has below its head.
_RULE = re.compile(r"^\s*:?-{3,}:?\s*$")


def decode(content: bytes) -> str:
    """Text in the encoding that it was written in.

    Raises:
        Unreadable: it is no text.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if content.count(b"\0") * 3 > len(content):
        even = content[::2].count(b"\0") > content[1::2].count(b"\0")
        return content.decode("utf-16-be" if even else "utf-16-le", "replace")
    return _guess(content)


def utf8(content: bytes) -> bytes:
    """Content that says it is UTF-16 as UTF-8; any other as it is."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return decode(content).encode("utf-8", "replace")
    return content


def _guess(content: bytes) -> str:
    """In restaurants it is what Windows wrote, unless the letters say otherwise."""
    if b"\0" in content:
        raise Unreadable("unknown_format")
    western = content.decode("cp1252", "replace")
    foreign = [sign for sign in western if not sign.isascii()]
    strange = sum(sign not in _WESTERN for sign in foreign)
    if strange * 4 <= len(foreign):
        return western
    best = from_bytes(content[:200_000]).best()
    return content.decode(best.encoding, "replace") if best else western


def read_csv(text: str) -> Grid:
    """The rows that have anything in them, by the line on which they begin."""
    lines = io.StringIO(text, newline="")
    csv.field_size_limit(1_000_000)
    reader = csv.reader(lines, delimiter=separator_of(text), skipinitialspace=True)
    grid: Grid = []
    begins = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) and not all(map(_RULE.match, cells)):
                beyond = [cell for cell in cells[MOST_COLUMNS:] if cell.strip()][:1]
                grid.append((begins, [_tidy(cell) for cell in cells[:MOST_COLUMNS] + beyond]))
            begins = reader.line_num + 1
    except csv.Error:
        raise Unreadable("damaged", place=f"row {begins}") from None
    return grid


def separator_of(text: str) -> str:
    """The sign that parts the cells of the first line that has any; a comma if none does."""
    for line in text.lstrip("\ufeff").splitlines()[:20]:
        bare = re.sub(r'"[^"]*"', "", line)
        best = max(SEPARATORS, key=bare.count)
        if bare.count(best):
            return best
    return ","


# What stands in the cells themselves the library reads without heights and strikes, unless told.
_read_only.WorkSheetParser = partial(WorkSheetParser, rich_text=True)


@dataclass
class Sheet:
    """The cells of a table, and what of its file stands in none of them.

    `sheets` are the names of others that are not read, `elsewhere` their rows, `struck` what is
    struck out, `notes` what is noted at cells or lies on them, and `margins` what is printed
    above and below them, with the sheet's own name.
    """

    grid: Grid = field(default_factory=list)
    sheets: list[str] = field(default_factory=list)
    elsewhere: list[list[str]] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    margins: list[str] = field(default_factory=list)


def read_xlsx(content: bytes, on_progress: OnProgress, limits: Limits) -> Sheet:
    """The first visible sheet that has rows. Formulas are what they last came to.

    Raises:
        Unreadable: it is damaged, has macros, or is far larger than it says.
    """
    archive = open_office(content, limits)
    try:
        book = openpyxl.load_workbook(
            io.BytesIO(content), read_only=True, data_only=True, rich_text=True
        )
        read = Sheet()
        for sheet in book.worksheets:
            is_hidden = sheet.sheet_state != "visible"
            if read.grid or is_hidden:
                rows = _rows_of(sheet, [], on_progress)
                others = list(islice(rows, limits.rows))
                read.elsewhere += [cells for _line, cells in others]
                read.sheets += [sheet.title] if others else []
            else:
                read.grid = list(islice(_rows_of(sheet, read.struck, on_progress), limits.rows + 2))
                if len(read.grid) > limits.rows + 1:
                    raise Unreadable("too_many_rows")
                if read.grid:
                    _read_beside(archive, sheet, read)
    except (
        BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, EOFError,
        SyntaxError, OSError,
    ):  # fmt: skip
        # The library has no exception of its own for a part that is not as it should be.
        raise Unreadable("damaged") from None
    return read


def _notes(archive: Archive, sheet: Any) -> list[str]:
    """What is noted on a sheet; which parts have it is written beside the sheet's own."""
    folder, name = posixpath.split("/" + str(sheet._worksheet_path).lstrip("/"))
    relations = f"{folder}/_rels/{name}.rels"[1:]
    if relations not in archive.members:
        return []
    targets = (str(each.get("Target")) for each in etree.fromstring(archive.read(relations)))
    named = {posixpath.normpath(posixpath.join(folder, each))[1:] for each in targets}
    parts = [name for name in sorted(named & archive.members.keys()) if _NOTES.match(name)]
    roots = [etree.fromstring(archive.read(name)) for name in parts]
    said = ["".join(note.itertext()) for root in roots for note in root.iter(*_NOTED)]
    # Pictures are described for those who do not see them.
    pictures = [picture for root in roots for picture in root.iter("{*}cNvPr")]
    said += [picture.get(name, "") for picture in pictures for name in ("descr", "title")]
    return [text for text in dict.fromkeys(" ".join(each.split()) for each in said) if text]


def _read_beside(archive: Archive, sheet: Any, read: Sheet) -> None:
    """What the library leaves out of a sheet.

    Raises:
        Unreadable: there is a cell of which nobody can say what it shows.
    """
    part = archive.read(str(sheet._worksheet_path).lstrip("/"))
    if _BEYOND.search(part):
        raise Unreadable("too_many_columns")
    if _NOT_WORKED_OUT.search(part):
        raise Unreadable("not_worked_out")
    read.notes = _notes(archive, sheet)
    read.margins = [sheet.title, *_margins(part)]


def _margins(part: bytes) -> list[str]:
    """The headers and footers of a sheet's pages."""
    found = (html.unescape(text.decode("utf-8", "replace")) for text in _MARGINS.findall(part))
    texts = (" ".join(_MARGIN_CODES.sub(" ", text).split()) for text in found)
    return [text for text in dict.fromkeys(texts) if text]


def _rows_of(
    sheet: Any, struck: list[str], on_progress: OnProgress
) -> Iterator[tuple[int, list[str]]]:
    """The rows that have anything in them; what is struck out is noted."""
    # What a file says of its size is often wrong, and then rows would be left out.
    sheet.reset_dimensions()
    # The library makes up every row that a file leaves out, however far the next one says it is:
    # always the same one.
    made_up: object = None
    rows = sheet.iter_rows(max_row=LAST_ROW, max_col=MOST_COLUMNS)
    for number, cells in enumerate(rows, start=1):
        if number % PROGRESS_EVERY == 0:
            on_progress("reading", number, number)
        if cells is made_up or {*map(id, cells)} <= _NOTHING_THERE:
            made_up = cells
            continue
        row = [_text_of(cell, struck) for cell in cells]
        if any(row):
            yield number, row


def _text_of(cell: Any, struck: list[str]) -> str:
    """What a cell shows; what is struck out in it is noted, and stands there no more."""
    value = cell.value
    if value is None:
        return ""
    if cell.has_style and cell.font is not None and cell.font.strike:
        struck.append(_cell_text(str(value)))
        return ""
    if isinstance(value, CellRichText):
        return _tidy(settle("".join(_pieces(value, struck))))
    return _cell_text(value)


def _pieces(text: CellRichText, struck: list[str]) -> Iterator[str]:
    for piece in text:
        if not isinstance(piece, TextBlock):
            yield str(piece)
        elif piece.font.strike:
            struck.append(_tidy(piece.text))
        else:
            mark = _ALIGNMENTS.get(str(piece.font.vertAlign))
            yield mark(piece.text) if mark else piece.text


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        # Ten digits are what the sheet shows; the rest is how computers add. Three decimals
        # get a fourth, because as text they would be taken for thousands.
        shown = f"{value:.10g}" if abs(value) < 1e10 else repr(value)
        return f"{shown}0" if re.search(r"\.\d{3}$", shown) else shown
    if isinstance(value, datetime | date):
        return value.isoformat()
    return _tidy(str(value))


def _tidy(cell: str) -> str:
    return clean_lines(cell).replace("\xa0", " ").strip()
