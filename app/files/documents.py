"""Documents: whole, open to read, without programs, and no larger inside than outside."""

from __future__ import annotations

import re
import zlib
from functools import partial
from io import BytesIO
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from app.files.kinds import ENDINGS, LARGEST_BYTES, MIB, Unfit
from app.files.office_parts import CheckWorkbook, check_names, check_parts

MOST_PAGES = 500
MOST_UNPACKED = 200 * MIB
MOST_MEMBERS = 5_000
# Text shrinks to a tenth, the most repetitive tables to a hundredth.
RATIO, SMALL = 200, 10 * MIB
_ENCRYPTED = 0x1
_MAIN_PARTS = ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml")
_OFFICE = dict(zip(_MAIN_PARTS, (each for each in ENDINGS if "openxml" in each), strict=True))
_TABLE = _OFFICE["xl/workbook.xml"]
# What reading an archive that is damaged raises.
_BROKEN = (BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OSError)
# What no text has: control characters but for tab, line ends and the form feed.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_WITH_MARK = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def check_pdf(content: bytes) -> None:
    """It opens without a password and has pages.

    Raises:
        Unfit
    """
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(content) as document:
            pages = len(document)
    except pypdfium2.PdfiumError as error:
        raise Unfit("locked" if "password" in str(error).lower() else "broken") from None
    if not pages:
        raise Unfit("broken")
    if pages > MOST_PAGES:
        raise Unfit("too_many_pages")


def check_text(content: bytes) -> None:
    """It is text, in an encoding that everybody reads.

    Raises:
        Unfit
    """
    encoding = next((name for mark, name in _WITH_MARK if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        # Older programs write a letter a byte; some of those bytes are no letters.
        text = content.decode("cp1252", errors="replace")
        if "\ufffd" in text:
            raise Unfit("unknown") from None
    if _CONTROL.search(text):
        raise Unfit("unknown")


def check_office(content: bytes) -> str:
    """The media type of a document, a table or slides.

    Raises:
        Unfit: it is another archive, broken, locked, or unpacks to too much; it has programs or
            other files in it, or loads something when it is opened.
    """
    unpacked = _Unpacked(len(content))
    try:
        return _check_package(content, unpacked, partial(_check_workbook, unpacked))
    except _BROKEN:
        raise Unfit("broken") from None


def _check_package(
    content: bytes, unpacked: _Unpacked, check_workbook: CheckWorkbook | None
) -> str:
    with ZipFile(BytesIO(content)) as archive:
        members = archive.infolist()
        unpacked.add(members)
        if any(member.flag_bits & _ENCRYPTED for member in members):
            raise Unfit("locked")
        check_names(members, takes_workbooks=check_workbook is not None)
        names = {member.filename for member in members}
        main = next((part for part in _MAIN_PARTS if part in names), "")
        if not main or "[Content_Types].xml" not in names:
            raise Unfit("archive")
        if archive.comment:
            raise Unfit("two_kinds")
        check_parts(archive, members, check_workbook)
    return _OFFICE[main]


def _check_workbook(unpacked: _Unpacked, part: IO[bytes]) -> None:
    """The table behind a chart: like any other, but with no further ones in it."""
    content = part.read(LARGEST_BYTES + 1)
    try:
        kind = _check_package(content, unpacked, None) if len(content) <= LARGEST_BYTES else ""
    except _BROKEN:
        kind = ""
    if kind != _TABLE:
        raise Unfit("embedded")


class _Unpacked:
    """What a file and those in it unpack to, together, by their lists alone."""

    def __init__(self, packed: int) -> None:
        self._packed = packed
        self._length = self._members = 0

    def add(self, members: list[ZipInfo]) -> None:
        """Count these in.

        Raises:
            Unfit: it is too much.
        """
        self._members += len(members)
        self._length += sum(member.file_size for member in members)
        is_too_much = self._length > SMALL and self._length > RATIO * self._packed
        if is_too_much or self._length > MOST_UNPACKED or self._members > MOST_MEMBERS:
            raise Unfit("bomb")


def is_archive(content: bytes) -> bool:
    """Whether a program that unpacks archives would find one in it."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            return bool(archive.infolist())
    except (BadZipFile, ValueError, NotImplementedError, OSError):
        return False
