"""Word documents: heading styles become the tree; lists, tables and emphasis Markdown.

Words that were added in a revision are read, deleted ones are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import docx
from docx.document import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.oxml.ns import qn
from lxml import etree

from app.skills.knowledge.readers.archive import open_office
from app.skills.knowledge.readers.docx_parts import ALT_CHUNK, Attachments
from app.skills.knowledge.readers.docx_styles import Level, Styles
from app.skills.knowledge.readers.docx_text import Texts, boxes, hidden_texts, parts_of
from app.skills.knowledge.readers.markup import escape_start, escape_text, table
from app.skills.knowledge.readers.omissions import (
    left_out,
    listed,
    must_be_kept,
    says_nothing,
    uneven_table,
)
from app.skills.knowledge.readers.result import (
    FileProblem,
    Limits,
    OnProgress,
    Reading,
    Unreadable,
)
from app.skills.knowledge.readers.table_grid import (
    MOST_COLUMNS,
    Cell,
    count_signs,
    lay_out,
    read_span,
)
from app.skills.knowledge.readers.tree import TreeBuilder
from app.text.slugs import UsedSlugs

PROGRESS_EVERY = 500
_DELETED = (qn("w:del"), qn("w:moveFrom"))
_COUNTED_BOOKMARK = re.compile(r"^_|\d{4,}|^OLE_LINK", re.IGNORECASE)


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
    reader = _Reader(document, source, Attachments(document, limits))
    blocks = list(_blocks(document.element.body))
    for number, block in enumerate(blocks):
        if number % PROGRESS_EVERY == 0:
            on_progress("reading", number, len(blocks))
        reader.take(block)
    return reader.finish()


def _blocks(parent: Any) -> Iterator[Any]:
    """Paragraphs and tables in order, those in content controls too, printed contents not.

    A file that is put in whole is a block as well.
    """
    for child in parent:
        if child.tag in (qn("w:p"), qn("w:tbl"), ALT_CHUNK):
            yield child
        elif child.tag == qn("w:sdt") and not _is_contents(child):
            yield from _blocks(child.iterchildren(qn("w:sdtContent")))
        elif child.tag != qn("w:sdt") and child.tag not in _DELETED:
            yield from _blocks(child)


def _is_contents(control: Any) -> bool:
    gallery = control.find(f"{qn('w:sdtPr')}/{qn('w:docPartObj')}/{qn('w:docPartGallery')}")
    return gallery is not None and "contents" in str(gallery.get(qn("w:val"))).lower()


class _Reader:
    """Takes a document's blocks one by one and keeps what the next one must know."""

    def __init__(self, document: Document, source: str, attachments: Attachments) -> None:
        self._document = document
        self._attachments = attachments
        self._styles = Styles(document)
        self._texts = Texts(document, self._styles)
        self._builder = TreeBuilder(source, UsedSlugs())
        self._title = ""
        self._properties = document.core_properties.title or ""
        self._items: list[str] = []
        self._is_numbered = False  # whether the list that is open is
        self._counts: dict[str, dict[int, int]] = {}  # by list and depth
        self._signs = 0  # of all tables
        self._problems: list[FileProblem] = []
        self._left: list[str] = []  # the lines that were left out

    def take(self, block: Any) -> None:
        """Read a block of the document, and after it what it refers to."""
        self._take_block(block)
        self._keep(self._attachments.of(block))

    def _take_block(self, block: Any) -> None:
        if block.tag == qn("w:tbl"):
            self._end_list()
            self._builder.text(table(self._rows(block)))
        elif block.tag == qn("w:p"):
            self._take_paragraph(block)
            for box in boxes(block):
                for inner in _blocks(box):
                    self._take_block(inner)

    def _keep(self, lines: Iterable[str]) -> None:
        """Read what may not be left out of lines that stand beside the text."""
        for line in lines:
            if must_be_kept(line):
                self._end_list()
                self._builder.text(escape_start(escape_text(line)))
            else:
                self._left.append(line)

    def finish(self) -> Reading:
        self._end_list()
        self._keep(self._attachments.rest())
        left = [
            *self._take_heads_and_feet(),
            *hidden_texts(self._document),
            *self._texts.hidden,
            *self._left,
        ]
        problems = [] if self._builder.has_headings else [FileProblem("", "no_headings")]
        title = self._title or " ".join(self._properties.split())
        problems += listed([*self._problems, *left_out(left)])
        return Reading(documents=[self._builder.build(title)], problems=problems)

    def _take_heads_and_feet(self) -> list[str]:
        """Read what pages say at their head and foot if it may not be left out; the other lines."""
        roots = parts_of(self._document, "header", "footer")
        lines = dict.fromkeys(line for root in roots for line in self._lines(root))
        kept = dict.fromkeys(line for line in lines if must_be_kept(line))
        for line in kept:
            self._builder.text(escape_start(line))
        return [line for line in lines if line not in kept and not says_nothing(line)]

    def _take_paragraph(self, paragraph: Any) -> None:
        text = self._texts.plain(paragraph)
        style = self._styles.of(paragraph)
        if not text.strip() or (style.is_contents and _is_entry(text)):
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
            self._builder.text(escape_start(self._texts.markdown(paragraph)))

    def _take_item(self, paragraph: Any, list_id: str, depth: int, level: Level) -> None:
        is_numbered = level.is_numbered
        if depth == 0 and self._items and is_numbered != self._is_numbered:
            self._end_list()
        if depth == 0:
            self._is_numbered = is_numbered
        counts = self._counts.get(list_id, {})
        number = counts.get(depth, 0) + 1
        above = {each: count for each, count in counts.items() if each < depth}
        self._counts[list_id] = {**above, depth: number}
        # Markdown counts in figures alone; what a legend calls "B" must not become 2.
        label = level.label(number)
        sign = f"- {label}." if label else f"{level.start + number - 1}." if is_numbered else "-"
        self._items.append(f"{'    ' * depth}{sign} {self._texts.markdown(paragraph)}")

    def _end_list(self) -> None:
        if self._items:
            self._builder.text("\n".join(self._items))
            self._items.clear()

    def _rows(self, element: Any) -> list[list[str]]:
        """A table's cells as one line each, on one grid."""
        merged: dict[int, str] = {}
        rows = []
        for row in element.iter(qn("w:tr")):
            is_deleted = row.find(f"{qn('w:trPr')}/{qn('w:del')}") is not None
            # A table within a cell is read as that cell's words.
            if not is_deleted and next(row.iterancestors(qn("w:tbl"))) is element:
                rows.append(self._cells(row, merged))
        laid_out = lay_out([rows])
        self._signs = count_signs(laid_out.rows, self._signs)
        if not laid_out.is_even:
            self._problems.append(uneven_table(next(filter(any, laid_out.rows), [])))
        return laid_out.rows

    def _cells(self, row: Any, merged: dict[int, str]) -> list[Cell]:
        """The row's cells, and the places that it leaves out before and after them.

        `merged` has the texts of the cells above that go on below, by their first column.
        """
        before = _span(row, "w:trPr", "w:gridBefore", 0)
        cells = [Cell("", before)] if before else []
        column = before
        for cell in row.iter(qn("w:tc")):
            if next(cell.iterancestors(qn("w:tr"))) is not row:
                continue
            text = " ".join(self._lines(cell))
            if _goes_on(cell, "w:hMerge") and cells:
                text = " ".join(filter(None, (cells[-1].text, text)))
            elif _goes_on(cell, "w:vMerge"):
                text = " ".join(filter(None, (merged.get(column, ""), text)))
            else:
                merged[column] = text
            columns = _span(cell, "w:tcPr", "w:gridSpan", 1)
            cells.append(Cell(text, columns))
            column += columns
        after = _span(row, "w:trPr", "w:gridAfter", 0)
        return [*cells, Cell("", after)] if after else cells

    def _lines(self, parent: Any) -> Iterator[str]:
        """The paragraphs in there that have words, those of text boxes and tables too."""
        for block in _blocks(parent):
            if block.tag == qn("w:tbl"):
                yield "; ".join(" | ".join(row) for row in self._rows(block))
            if block.tag != qn("w:p"):
                continue
            if text := self._texts.markdown(block).strip():
                yield text
            for box in boxes(block):
                yield from self._lines(box)


def _bookmark(paragraph: Any) -> str:
    """What somebody called this heading in the document; not what a program has counted."""
    for mark in paragraph.iter(qn("w:bookmarkStart")):
        name = str(mark.get(qn("w:name"), ""))
        if name and not _COUNTED_BOOKMARK.search(name):
            return name
    return ""


def _is_entry(text: str) -> bool:
    """Whether a line of printed contents is one: it ends in a page's number, or harms nobody."""
    return text.rstrip()[-1:].isdecimal() or not must_be_kept(text)


def _goes_on(cell: Any, name: str) -> bool:
    """Whether the cell is but a part of the one above it, or before it."""
    merge = cell.find(f"{qn('w:tcPr')}/{qn(name)}")
    return merge is not None and str(merge.get(qn("w:val"), "continue")) == "continue"


def _span(element: Any, properties: str, name: str, least: int) -> int:
    span = element.find(f"{qn(properties)}/{qn(name)}")
    return least if span is None else read_span(str(span.get(qn("w:val"))), least, MOST_COLUMNS)
