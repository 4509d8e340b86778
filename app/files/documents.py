"""Documents: whole, open to read, without programs, and no larger inside than outside."""

from __future__ import annotations

import re
import zlib
from io import BytesIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from app.files.kinds import ENDINGS, MIB, Unfit

MOST_PAGES = 500
MOST_UNPACKED = 200 * MIB
MOST_MEMBERS = 5_000
# Text shrinks to a tenth, the most repetitive tables to a hundredth.
RATIO, SMALL = 200, 10 * MIB
_ENCRYPTED = 0x1
_MAIN_PARTS = ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml")
_OFFICE = dict(zip(_MAIN_PARTS, (each for each in ENDINGS if "openxml" in each), strict=True))
_DECLARATIONS = tuple(
    mark.encode(encoding)
    for mark in ("<!DOCTYPE", "<!ENTITY")
    for encoding in ("ascii", "utf-16-le", "utf-16-be")
)
_PROGRAMS = ("vbaproject.bin", "vbadata.xml")
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
        Unfit: it is another archive, broken, locked, has programs, or unpacks to too much.
    """
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = archive.infolist()
            _check_members(content, members)
            names = {member.filename for member in members}
            main = next((part for part in _MAIN_PARTS if part in names), "")
            if not main or "[Content_Types].xml" not in names:
                raise Unfit("archive")
            if archive.comment:
                raise Unfit("two_kinds")
            _check_parts(archive, members)
    except (BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OSError):
        raise Unfit("broken") from None
    return _OFFICE[main]


def _check_members(content: bytes, members: list[ZipInfo]) -> None:
    """Judge by the list alone; nothing is unpacked yet."""
    unpacked = sum(member.file_size for member in members)
    is_too_much = unpacked > SMALL and unpacked > RATIO * len(content)
    if is_too_much or unpacked > MOST_UNPACKED or len(members) > MOST_MEMBERS:
        raise Unfit("bomb")
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise Unfit("locked")
    if any(member.filename.lower().endswith(_PROGRAMS) for member in members):
        raise Unfit("programs")


def _check_parts(archive: ZipFile, members: list[ZipInfo]) -> None:
    """Each part is whole, and its XML declares nothing that a reader would follow."""
    for member in members:
        with archive.open(member) as part:
            head = part.read(MIB)
            while part.read(MIB):
                continue
        if member.filename == "[Content_Types].xml" and b"macroenabled" in head.lower():
            raise Unfit("programs")
        is_xml = member.filename.lower().endswith((".xml", ".rels"))
        if is_xml and any(mark in head for mark in _DECLARATIONS):
            raise Unfit("two_kinds")


def is_archive(content: bytes) -> bool:
    """Whether a program that unpacks archives would find one in it."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            return bool(archive.infolist())
    except (BadZipFile, ValueError, NotImplementedError, OSError):
        return False
