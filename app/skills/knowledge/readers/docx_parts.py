"""The words of a Word document that stand in parts of their own, not in its text.

Diagrams, charts, comments, and files that are put in whole: Word shows them where the text
refers to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bs4 import BeautifulSoup
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from lxml import etree

from app.skills.knowledge.readers.archive import open_office
from app.skills.knowledge.readers.grid import decode
from app.skills.knowledge.readers.result import Limits, Unreadable

ALT_CHUNK = qn("w:altChunk")
# Whatever names one of these parts does so by such an attribute.
_REFERENCES = (
    qn("r:id"),
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm",
)
_REFERRING = ("relIds", "chart", "altChunk")
_NOT_SHOWN = ["script", "style", "head", "template"]


class Attachments:
    """The texts of a document's parts, each given out once."""

    def __init__(self, document: Document, limits: Limits) -> None:
        self._limits = limits
        self._parts: dict[str, Any] = {
            relation_id: relation
            for relation_id, relation in document.part.rels.items()
            if relation.reltype.rpartition("/")[2] in _READERS and _is_inside(relation)
        }

    def of(self, block: Any) -> list[str]:
        """The lines of what a block of the document refers to."""
        lines = []
        for element in block.iter():
            if not self._parts:
                break
            if str(element.tag).rpartition("}")[2] in _REFERRING:
                for name in _REFERENCES:
                    lines += self._take(str(element.get(name, "")))
        return lines

    def rest(self) -> list[str]:
        """The lines of all parts that no block referred to, such as comments."""
        return [line for relation_id in list(self._parts) for line in self._take(relation_id)]

    def _take(self, relation_id: str) -> list[str]:
        relation = self._parts.pop(relation_id, None)
        if relation is None:
            return []
        read = _READERS[relation.reltype.rpartition("/")[2]]
        part = relation.target_part
        try:
            lines = [" ".join(line.split()) for line in read(part.blob, self._limits)]
        except (etree.LxmlError, ValueError, RecursionError, Unreadable):
            # What cannot be read is called by its name, so that somebody looks at it.
            lines = [str(part.partname).rpartition("/")[2]]
        return [line for line in lines if line]


def _is_inside(relation: Any) -> bool:
    try:
        return relation.target_part is not None
    except ValueError:
        return False  # it leads out of the file


def _drawing_lines(content: bytes, _: Limits) -> Iterator[str]:
    """The paragraphs of a diagram."""
    for paragraph in parse_xml(content).iter(qn("a:p")):
        yield "".join(text.text or "" for text in paragraph.iter(qn("a:t")))


def _chart_lines(content: bytes, limits: Limits) -> Iterator[str]:
    """A chart's titles, and on one line each what its rows of data say."""
    yield from _drawing_lines(content, limits)
    for data in parse_xml(content).iter("{*}ser"):
        yield ", ".join(value.text or "" for value in data.iter("{*}v"))


def _word_lines(content: bytes, _: Limits) -> Iterator[str]:
    """The paragraphs of what Word wrote: comments, or a whole document."""
    for paragraph in parse_xml(content).iter(qn("w:p")):
        texts = paragraph.iter(qn("w:t"), qn("w:tab"), qn("w:br"))
        yield "".join((each.text or "") if each.tag == qn("w:t") else " " for each in texts)


def _file_lines(content: bytes, limits: Limits) -> Iterator[str]:
    """The lines of a file that is put in whole.

    Raises:
        Unreadable: it is no text, page or Word document.
    """
    if content.startswith(b"PK"):
        yield from _word_lines(open_office(content, limits).read("word/document.xml"), limits)
        return
    if content.startswith(b"{\\rtf") or b"\0\0" in content or b"MIME-Version" in content[:2_000]:
        raise Unreadable("unknown_format")
    soup = BeautifulSoup(decode(content), "lxml")
    for element in soup.find_all(_NOT_SHOWN):
        element.clear()
    yield from soup.get_text("\n").split("\n")


_READERS: dict[str, Callable[[bytes, Limits], Iterator[str]]] = {
    "diagramData": _drawing_lines,
    "chart": _chart_lines,
    "chartEx": _chart_lines,
    "comments": _word_lines,
    "aFChunk": _file_lines,
}
