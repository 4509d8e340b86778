"""Files as people bring them, good and bad, made where they are needed."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import docx
import openpyxl
from reportlab.lib.pagesizes import letter
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from app.skills.knowledge.readers import Reading, ReadRow, read_file

PROSE = (
    "Keep cold food at or below 41 degrees and hot food at or above 135 degrees while it waits",
    "for the guest, and write both numbers on the sheet that hangs beside the door of the walk-in",
    "so that the closing manager can sign it before the lights go out in the kitchen at night.",
)


def read(content: bytes | str, name: str, target: str = "sop", language: str = "en") -> Reading:
    content = content.encode() if isinstance(content, str) else content
    return read_file(content, name, target, language)


def menu(
    content: bytes | str, name: str = "menu.csv", language: str = "en", kind: str = "dishes"
) -> Reading:
    return read(content, name, kind, language)


def only(content: bytes | str, language: str = "en") -> ReadRow:
    """The one row of a menu."""
    (row,) = menu(content, language=language).rows
    return row


def errors(row: ReadRow) -> list[tuple[str, str]]:
    return [(problem.code, problem.detail) for problem in row.problems]


def codes(reading: Reading) -> list[str]:
    return [problem.code for problem in reading.problems]


def fatal(reading: Reading) -> str:
    """The code of the one problem for which a file was refused."""
    assert not reading.is_usable
    assert (reading.documents, reading.rows) == ([], [])
    (problem,) = reading.problems
    return problem.code


def outline(reading: Reading) -> list[tuple[str, int, str | None]]:
    """Title, level and the parent's title of each section of the first document."""
    sections = reading.documents[0].sections
    return [
        (each.title, each.level, None if each.parent is None else sections[each.parent].title)
        for each in sections
    ]


def body(reading: Reading, title: str) -> str:
    found = [
        section.body
        for document in reading.documents
        for section in document.sections
        if section.title == title
    ]
    assert len(found) == 1, title
    return found[0]


def everything(reading: Reading) -> str:
    """All titles and texts of all documents."""
    return " ".join(
        f"{section.title} {section.body}"
        for document in reading.documents
        for section in document.sections
    )


def told(reading: Reading, code: str) -> list[str]:
    """What the problems of a code are about."""
    return [problem.detail for problem in reading.problems if problem.code == code]


def zip_of(files: Mapping[str, bytes | str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def repacked(content: bytes, changes: Mapping[str, bytes | str]) -> bytes:
    """A packed file with members added or replaced."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    return zip_of({**files, **changes})


def lying_zip(name: str, content: bytes, says: int) -> bytes:
    """A zip file that says of its one member that it is smaller than it is."""
    packed = bytearray(zip_of({name: content}))
    size = struct.pack("<I", len(content))
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = packed.index(mark) + offset
        assert packed[place : place + 4] == size
        packed[place : place + 4] = struct.pack("<I", says)
    return bytes(packed)


def docx_of(document: Any) -> bytes:
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def small_docx() -> bytes:
    document = docx.Document()
    document.add_heading("Opening", 1)
    document.add_paragraph("Turn on the hoods.")
    return docx_of(document)


def xlsx_of(rows: Iterable[Sequence[Any]], *, empty_first: bool = False) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    if empty_first:
        sheet = book.create_sheet("Menu")
    for row in rows:
        sheet.append(list(row))
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


class Pdf:
    """A printed manual, written line by line."""

    def __init__(self, *, title: str = "", password: str = "", head: str = "") -> None:
        self._content = io.BytesIO()
        encryption = StandardEncryption(password) if password else None
        self._canvas = Canvas(self._content, pagesize=letter, encrypt=encryption)
        self._canvas.setTitle(title)
        self._head = head
        self._page = 1
        self._y = 0.0
        self._start()

    def line(self, text: str, size: float = 11, font: str = "Helvetica", left: float = 72) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(left, self._y, text)
        self._y -= size * 1.25

    def gap(self) -> None:
        self._y -= 12

    def heading(self, text: str, size: float, *, level: int | None = None) -> None:
        self.gap()
        if level is not None:
            self._canvas.bookmarkHorizontal(text, 0, self._y + size)
            self._canvas.addOutlineEntry(text, text, level)
        self.line(text, size, "Helvetica-Bold")
        self.gap()

    def prose(self, lines: Iterable[str] = PROSE) -> None:
        for line in lines:
            self.line(line)
        self.gap()

    def page(self) -> None:
        self._canvas.showPage()
        self._page += 1
        self._start()

    def rectangle(self) -> None:
        self._canvas.rect(100, 100, 200, 200, fill=1)

    def bytes(self) -> bytes:
        self._canvas.save()
        return self._content.getvalue()

    def _start(self) -> None:
        if self._head:
            self._y = 760
            self.line(self._head, 9)
            self._y = 30
            self.line(f"Page {self._page} of 300", 9)
        self._y = 690
