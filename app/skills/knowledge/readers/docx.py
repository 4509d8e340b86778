"""Word documents: heading styles become the tree; lists, tables and emphasis Markdown.

Words that were added in a revision are read, deleted ones are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import groupby
from typing import Any
from zipfile import BadZipFile

import docx
from docx.document import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.oxml.ns import qn
from lxml import etree

from app.skills.knowledge.readers.archive import open_office
from app.skills.knowledge.readers.docx_styles import Styles
from app.skills.knowledge.readers.markup import escape_start, escape_text, table
from app.skills.knowledge.readers.result import (
    FileProblem,
    Limits,
    OnProgress,
    Reading,
    Unreadable,
)
from app.skills.knowledge.readers.tree import TreeBuilder
from app.text.slugs import UsedSlugs

PROGRESS_EVERY = 500
_CONTAINERS = tuple(map(qn, ("w:sdtContent", "w:ins", "w:moveTo", "w:customXml")))
_COUNTED_BOOKMARK = re.compile(r"^_|\d{4,}|^OLE_LINK", re.IGNORECASE)
# Text boxes are drawn twice, for old programs too; what was deleted is there no more.
_NOT_READ = frozenset(
    (qn("w:del"), qn("w:moveFrom"), qn("w:pict"), qn("w:drawing"), qn("w:txbxContent"),
     "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent")
)  # fmt: skip
_BREAKS = {qn("w:tab"): " ", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_OFF = ("0", "false", "none", "off")


def read_docx(content: bytes, source: str, on_progress: OnProgress, limits: Limits) -> Reading:
    """The reading of a Word document.

    Raises:
        Unreadable: it is damaged, has macros, or is not what it seems.
    """
    open_office(content, limits)
    try:
        document = docx.Document(BytesIO(content))
    except (
        PackageNotFoundError, BadZipFile, KeyError, ValueError, AttributeError, etree.LxmlError,
    ):  # fmt: skip
        raise Unreadable("damaged") from None
    reader = _Reader(document, source)
    blocks = list(_blocks(document.element.body))
    for number, block in enumerate(blocks):
        if number % PROGRESS_EVERY == 0:
            on_progress("reading", number, len(blocks))
        reader.take(block)
    return reader.finish()


def _blocks(parent: Any) -> Iterator[Any]:
    """Paragraphs and tables in order, those in content controls too, printed contents not."""
    for child in parent:
        if child.tag in (qn("w:p"), qn("w:tbl")):
            yield child
        elif child.tag == qn("w:sdt") and not _is_contents(child):
            yield from _blocks(child.iterchildren(qn("w:sdtContent")))
        elif child.tag in _CONTAINERS:
            yield from _blocks(child)


def _is_contents(control: Any) -> bool:
    gallery = control.find(f"{qn('w:sdtPr')}/{qn('w:docPartObj')}/{qn('w:docPartGallery')}")
    return gallery is not None and "contents" in str(gallery.get(qn("w:val"))).lower()


class _Reader:
    """Takes a document's blocks one by one and keeps what the next one must know."""

    def __init__(self, document: Document, source: str) -> None:
        self._styles = Styles(document)
        self._builder = TreeBuilder(source, UsedSlugs())
        self._title = ""
        self._properties = document.core_properties.title or ""
        self._items: list[str] = []
        self._is_numbered = False  # whether the list that is open is
        self._counts: dict[str, dict[int, int]] = {}  # by list and depth

    def take(self, block: Any) -> None:
        if block.tag == qn("w:tbl"):
            self._end_list()
            self._builder.text(table(_rows(block)))
        else:
            self._take_paragraph(block)

    def finish(self) -> Reading:
        self._end_list()
        problems = [] if self._builder.has_headings else [FileProblem("", "no_headings")]
        title = self._title or " ".join(self._properties.split())
        return Reading(documents=[self._builder.build(title)], problems=problems)

    def _take_paragraph(self, paragraph: Any) -> None:
        text = plain_text(paragraph)
        style = self._styles.of(paragraph)
        if not text.strip() or style.is_contents:
            return
        if style.is_title and not self._title and not self._builder.has_headings:
            self._title = " ".join(text.split())
        elif style.level:
            self._end_list()
            self._builder.heading(style.level, text, _bookmark(paragraph))
        elif item := self._styles.list_of(paragraph, style):
            self._take_item(paragraph, *item)
        else:
            self._end_list()
            self._builder.text(escape_start(inline_markdown(paragraph)))

    def _take_item(self, paragraph: Any, list_id: str, depth: int, is_numbered: bool) -> None:
        if depth == 0 and self._items and is_numbered != self._is_numbered:
            self._end_list()
        if depth == 0:
            self._is_numbered = is_numbered
        counts = self._counts.get(list_id, {})
        number = counts.get(depth, 0) + 1
        above = {each: count for each, count in counts.items() if each < depth}
        self._counts[list_id] = {**above, depth: number}
        sign = f"{number}." if is_numbered else "-"
        self._items.append(f"{'    ' * depth}{sign} {inline_markdown(paragraph)}")

    def _end_list(self) -> None:
        if self._items:
            self._builder.text("\n".join(self._items))
            self._items.clear()


def _bookmark(paragraph: Any) -> str:
    """What somebody called this heading in the document; not what a program has counted."""
    for mark in paragraph.iter(qn("w:bookmarkStart")):
        name = str(mark.get(qn("w:name"), ""))
        if name and not _COUNTED_BOOKMARK.search(name):
            return name
    return ""


def _rows(element: Any) -> list[list[str]]:
    """A table's cells as one line each; one that spans several stands in the first."""
    rows = []
    for row in element.iter(qn("w:tr")):
        if next(row.iterancestors(qn("w:tbl"))) is not element:
            continue  # a table within a cell is read as that cell's words
        cells = []
        for cell in row.iter(qn("w:tc")):
            if next(cell.iterancestors(qn("w:tr"))) is row:
                cells += [_cell(cell), *[""] * (_span(cell) - 1)]
        rows.append(cells)
    return rows


def _cell(cell: Any) -> str:
    paragraphs = (inline_markdown(each).strip() for each in cell.iter(qn("w:p")))
    return " ".join(text for text in paragraphs if text)


def _span(cell: Any) -> int:
    span = cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}")
    value = str(span.get(qn("w:val"), "1")) if span is not None else "1"
    return min(50, max(1, int(value))) if value.isdecimal() else 1


def plain_text(paragraph: Any) -> str:
    return "".join(text for text, *_ in _runs(paragraph))


def inline_markdown(paragraph: Any) -> str:
    """The paragraph as Markdown, neighbouring words of one emphasis put together."""
    parts = []
    for (bold, italic), runs in groupby(_runs(paragraph), key=lambda run: run[1:]):
        parts.append(_emphasised("".join(text for text, *_ in runs), bold, italic))
    return "  \n".join(line.strip() for line in "".join(parts).split("\n") if line.strip())


def _emphasised(text: str, bold: bool, italic: bool) -> str:
    mark = "*" * (2 * bold + italic)
    words = text.strip()
    escaped = escape_text(text)
    # Emphasis over a break of lines, or over signs alone, would not be read as such.
    if not mark or "\n" in words or not any(sign.isalnum() for sign in words):
        return escaped
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{escape_text(words)}{mark}{after}"


def _runs(element: Any) -> Iterator[tuple[str, bool, bool]]:
    """Text, bold and italic of each run, in links and additions too."""
    for child in element:
        if child.tag == qn("w:r"):
            yield _text(child), _is_on(child, "w:b"), _is_on(child, "w:i")
        elif child.tag not in _NOT_READ:
            yield from _runs(child)


def _text(run: Any) -> str:
    if _is_on(run, "w:vanish"):
        return ""
    parts = []
    for child in run:
        if child.tag == qn("w:t"):
            parts.append(child.text or "")
        elif child.tag in _BREAKS:
            parts.append(_BREAKS[child.tag])
    return "".join(parts)


def _is_on(run: Any, name: str) -> bool:
    switch = run.find(f"{qn('w:rPr')}/{qn(name)}")
    return switch is not None and str(switch.get(qn("w:val"), "1")).lower() not in _OFF
