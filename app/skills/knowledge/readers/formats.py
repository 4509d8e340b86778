"""Which kind of file it is, found by what stands in it, and the reader of that kind.

Every reading is cleaned at its end, kept within limits, and counted.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from app.skills.knowledge.models import PRODUCT_KINDS
from app.skills.knowledge.readers.archive import Archive
from app.skills.knowledge.readers.columns import looks_like_menu
from app.skills.knowledge.readers.grid import Sheet, decode, read_csv, read_xlsx, utf8
from app.skills.knowledge.readers.markdown import read_markdown_text
from app.skills.knowledge.readers.menu import read_menu
from app.skills.knowledge.readers.omissions import left_out, listed
from app.skills.knowledge.readers.result import (
    FileProblem,
    Limits,
    OnProgress,
    Reading,
    ReadSection,
    Unreadable,
)
from app.skills.knowledge.readers.source import source_name
from app.skills.knowledge.readers.tree import shortened, split_long
from app.skills.knowledge.services.sections import LONGEST_BODY
from app.text.plain_text import clean_line, clean_lines
from app.text.slugs import UsedSlugs

TABLES = ("csv", "xlsx")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|article|h[1-6]|p|div)[\s>]", re.I)
_BINARY = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x1f\x8b",
    b"Rar!",
    b"7z\xbc\xaf",
    b"MZ",
    b"\x7fELF",
)
_PAGE_ENDINGS = (".html", ".htm", ".xhtml")
_TABLE_ENDINGS = (".csv", ".tsv", ".tab")
LONGEST_NAMES = 200
_SPACE_AT_END = re.compile(r"(?<=\S)(?:[ \t]|[ \t]{3,})$", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}")


def read(
    content: bytes,
    filename: str,
    target: str,
    language: str,
    on_progress: OnProgress,
    limits: Limits,
) -> Reading:
    """See `read_file`, which is this with defaults."""
    try:
        on_progress("opening", 0, 1)
        format_ = format_of(content, filename, limits)
        is_menu = target in PRODUCT_KINDS
        if is_menu != (format_ in TABLES):
            raise Unreadable("manual_as_menu" if is_menu else "menu_as_manual")
        if is_menu:
            sheet = _sheet(content, format_, on_progress, limits)
            reading = read_menu(sheet, target, language, on_progress, limits)
            if sheet.sheets:
                names = ", ".join(sheet.sheets)[:LONGEST_NAMES]
                reading.problems.insert(0, FileProblem("", "sheets_left_out", names))
            reading.problems += listed(left_out(sheet.struck))
        else:
            reading = _read_manual(content, filename, format_, language, on_progress, limits)
        return finish(reading, limits)
    except Unreadable as failure:
        return Reading(problems=[failure.problem])
    except RecursionError:
        # Elements within elements, thousands deep: nobody has written that to be read.
        return Reading.failed("could_not_be_read")


def format_of(content: bytes, filename: str, limits: Limits) -> str:
    """`markdown`, `html`, `site`, `pdf`, `docx`, `csv` or `xlsx`.

    Raises:
        Unreadable: it is none of them, and why.
    """
    if not content.strip(b" \t\r\n\0"):
        raise Unreadable("empty_file")
    if len(content) > limits.file_bytes:
        raise Unreadable("too_big")
    if b"%PDF-" in content[:1024]:
        return "pdf"
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _format_of_archive(Archive(content, limits))
    if content.startswith(_OLE):
        raise Unreadable("encrypted" if _ENCRYPTED_OFFICE in content else "old_office")
    if content.startswith((*_BINARY, b"{\\rtf")):
        raise Unreadable("unknown_format")
    return _format_of_text(utf8(content), filename)


def _format_of_archive(archive: Archive) -> str:
    names = archive.members
    if "word/document.xml" in names:
        return "docx"
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "xl/workbook.bin" in names:
        raise Unreadable("old_office")
    from app.skills.knowledge.readers.site import is_site

    if is_site(archive):
        return "site"
    raise Unreadable("damaged" if "[Content_Types].xml" in names else "unknown_format")


def _format_of_text(content: bytes, filename: str) -> str:
    ending = PurePosixPath(filename.lower()).suffix
    text = decode(content)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if _HTML.match(content.lstrip(b"\xef\xbb\xbf \t\r\n")) or _is_html(content, ending):
        return "html"
    if ending in _TABLE_ENDINGS or _names_columns(text, first):
        return "csv"
    if sum(sign == "\ufffd" or (sign < " " and sign not in "\t\r\n\f") for sign in text) > 20:
        raise Unreadable("unknown_format")
    return "markdown"


def _is_html(content: bytes, ending: str) -> bool:
    head = content[:4096]
    is_declared = head.lstrip().startswith((b"<?xml", b"<!--", b"<!")) and b"<html" in head.lower()
    return is_declared or (ending in _PAGE_ENDINGS and bool(_HTML.search(content)))


def _names_columns(text: str, first: str) -> bool:
    """Whether the first line names the columns of a menu, and others have as many cells."""
    grid = read_csv("\n".join(text.splitlines()[:20])) if not first.startswith("#") else []
    if len(grid) < 2 or len(grid[0][1]) < 2:
        return False
    return looks_like_menu(grid[0][1]) and len(grid[1][1]) > 1


def _sheet(content: bytes, format_: str, on_progress: OnProgress, limits: Limits) -> Sheet:
    if format_ == "xlsx":
        return read_xlsx(content, on_progress, limits)
    return Sheet(read_csv(decode(content)))


def _read_manual(
    content: bytes,
    filename: str,
    format_: str,
    language: str,
    on_progress: OnProgress,
    limits: Limits,
) -> Reading:
    """Each reader's libraries are loaded only for a file that needs them."""
    source = source_name(filename)
    if format_ == "pdf":
        from app.skills.knowledge.readers.pdf import read_pdf

        return read_pdf(content, source, on_progress, limits)
    if format_ == "docx":
        from app.skills.knowledge.readers.docx import read_docx

        return read_docx(content, source, on_progress, limits)
    if format_ == "site":
        from app.skills.knowledge.readers.site import read_site

        return read_site(Archive(content, limits), source, language, on_progress, limits)
    if format_ == "html":
        from app.skills.knowledge.readers.html import read_html

        return read_html(utf8(content), source)
    return read_markdown_text(clean_lines(decode(content)), source)


def finish(reading: Reading, limits: Limits) -> Reading:
    """The same reading, ready to be kept.

    Raises:
        Unreadable: there is more of it than may be, or nothing at all.
    """
    for document in reading.documents:
        for section in document.sections:
            _finish_section(section)
    used = UsedSlugs(
        section.slug for document in reading.documents for section in document.sections
    )
    for document in reading.documents:
        split_long(document, used)
    for row in reading.rows:
        row.values = _clean_values(row.values)
    sections = [section for document in reading.documents for section in document.sections]
    words = sum(len(f"{section.title} {section.body}".split()) for section in sections)
    if len(sections) > limits.sections:
        raise Unreadable("too_many_sections")
    for section in sections:
        if len(section.body) > LONGEST_BODY:
            raise Unreadable("section_too_long", section.title)
    if words > limits.words:
        raise Unreadable("too_many_words")
    if reading.documents and not any(section.body for section in sections):
        raise Unreadable("no_sections")
    reading.facts |= {"words": words, "sections": len(sections), "rows": len(reading.rows)}
    return reading


def _finish_section(section: ReadSection) -> None:
    title, body = clean_line(section.title), clean_lines(section.body)
    section.title = shortened(title)
    if section.title != title:
        # A heading that is too long to be a title is read as text too.
        body = f"{title}\n\n{body}".strip()
    section.body = _EMPTY_LINES.sub("\n\n", _SPACE_AT_END.sub("", body))


def _clean_values(value: Any) -> Any:
    if isinstance(value, str):
        return clean_lines(value)
    if isinstance(value, dict):
        return {name: _clean_values(each) for name, each in value.items()}
    return [_clean_values(each) for each in value] if isinstance(value, list) else value
