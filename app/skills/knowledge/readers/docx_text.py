"""The words of a Word document's paragraphs: their emphasis, signs, notes and text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from lxml import etree

from app.skills.knowledge.readers.docx_styles import OFF, Styles, is_on
from app.skills.knowledge.readers.markup import escape_text
from app.skills.knowledge.readers.superscripts import fraction, lowered, raised, settle

_MARKUP = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATE, _CHOICE = f"{_MARKUP}AlternateContent", f"{_MARKUP}Choice"
_MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# What stands in a part of an equation, by the element that it is.
_HEIGHTS = {f"{_MATHS}sup": raised, f"{_MATHS}sub": lowered, f"{_MATHS}deg": raised}
_ALIGNMENTS = {"superscript": raised, "subscript": lowered}
_BOX = qn("w:txbxContent")
# What was deleted is there no more; text boxes are read as texts of their own.
_NOT_READ = frozenset((qn("w:del"), qn("w:moveFrom"), qn("w:pict"), qn("w:drawing"), _BOX))
_BREAKS = {qn("w:tab"): " ", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_NOTES = {qn("w:footnoteReference"): "footnote", qn("w:endnoteReference"): "endnote"}
# The signs of fonts that have pictures in the place of letters, as far as they say something.
_WINGDINGS = {
    0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x72: "❒", 0x78: "☒", 0x9F: "•", 0xA7: "▪",
    0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xFB: "✗", 0xFC: "✓",
    0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_SYMBOL = {
    0xA3: "≤", 0xA5: "∞", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±",
    0xB3: "≥", 0xB4: "×", 0xB7: "•", 0xB9: "≠", 0xBB: "≈", 0xD6: "√",
}  # fmt: skip
_SIGNS = {
    "wingdings": _WINGDINGS,
    "wingdings 2": {
        0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐",
    },
    "wingdings 3": {},
    "webdings": {0x61: "✓", 0x72: "✗", 0x63: "☐", 0x67: "■", 0x6E: "●"},
    "symbol": _SYMBOL,
}  # fmt: skip
UNKNOWN = "■"
_STRIKES, _HIDES = ("w:strike", "w:dstrike"), "w:vanish"
_GENERATED = re.compile(
    r"\s*(?:description )?(?:automatically generated|generada autom.*)\s*$", re.I
)
_FILE = re.compile(r"^.*\.(?:png|jpe?g|gif|svg|bmp|emf|wmf|tiff?)$", re.IGNORECASE)


@dataclass(frozen=True)
class _Run:
    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False


class Texts:
    """What paragraphs of one document say, with the words of its notes."""

    def __init__(self, document: Document, styles: Styles) -> None:
        self._styles = styles
        self._notes = _read_notes(document)
        self._first: dict[tuple[str, str], Any] = {}  # of the references to each note
        # What is hidden by a style, in the order in which it was met.
        self.hidden: dict[str, None] = {}

    def plain(self, paragraph: Any) -> str:
        """The words without emphasis; what is struck out is marked all the same."""
        parts = []
        for struck, runs in groupby(self._runs(paragraph), key=lambda run: run.struck):
            text = "".join(run.text for run in runs)
            parts.append(_struck(text) if struck else text)
        return settle("".join(parts))

    def markdown(self, paragraph: Any) -> str:
        """The paragraph as Markdown, neighbouring words of one emphasis put together."""
        parts = []
        for struck, runs in groupby(self._runs(paragraph), key=lambda run: run.struck):
            text = "".join(
                _emphasised("".join(run.text for run in alike), bold, italic)
                for (bold, italic), alike in groupby(runs, key=lambda run: (run.bold, run.italic))
            )
            parts.append(_struck(text) if struck else text)
        lines = settle("".join(parts)).split("\n")
        return "  \n".join(line.strip() for line in lines if line.strip())

    def _runs(self, paragraph: Any) -> Iterator[_Run]:
        style = paragraph.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        is_struck = self._styles.switches_on(style, *_STRIKES)
        is_hidden = self._styles.switches_on(style, _HIDES)
        yield from self._runs_in(paragraph, is_struck, is_hidden)

    def _runs_in(self, element: Any, is_struck: bool, is_hidden: bool) -> Iterator[_Run]:
        """Each run, in links and additions too."""
        for child in element:
            if child.tag == qn("w:r"):
                if self._is_hidden(child, is_hidden):
                    continue
                yield _Run(
                    self._aligned(child),
                    is_on(child, "w:b"),
                    is_on(child, "w:i"),
                    self._is_struck(child, is_struck),
                )
            elif child.tag == f"{_MATHS}oMath":
                yield _Run(_maths(child))
            elif child.tag == _ALTERNATE:
                yield from self._runs_in(child[0] if len(child) else (), is_struck, is_hidden)
            elif child.tag not in _NOT_READ:
                yield from self._runs_in(child, is_struck, is_hidden)

    def _is_struck(self, run: Any, by_paragraph: bool) -> bool:
        for name in _STRIKES:
            if is_on(run, name):
                return True
            if run.find(f"{qn('w:rPr')}/{qn(name)}") is not None:
                return False
        return by_paragraph or self._styles.switches_on(_style_of(run), *_STRIKES)

    def _is_hidden(self, run: Any, by_paragraph: bool) -> bool:
        """Whether a run is not shown; what a style hides is kept to be named."""
        if run.find(f"{qn('w:rPr')}/{qn(_HIDES)}") is not None:
            return is_on(run, _HIDES)
        if not by_paragraph and not self._styles.switches_on(_style_of(run), _HIDES):
            return False
        self.hidden["".join(each.text or "" for each in run.iterchildren(qn("w:t")))] = None
        return True

    def _aligned(self, run: Any) -> str:
        """The run's text, marked where it is raised or lowered; a note in brackets never is."""
        text = self._text(run)
        mark = _ALIGNMENTS.get(self._styles.alignment(run))
        has_note = any(child.tag in _NOTES for child in run)
        return mark(text) if mark and text.strip() and not has_note else text

    def _text(self, run: Any) -> str:
        fonts = run.find(f"{qn('w:rPr')}/{qn('w:rFonts')}")
        font = "" if fonts is None else str(fonts.get(qn("w:ascii"), ""))
        return "".join(self._piece(child, font) for child in run)

    def _piece(self, child: Any, font: str) -> str:
        if child.tag == qn("w:t"):
            return _in_font(child.text or "", font)
        if child.tag == qn("w:sym"):
            code = str(child.get(qn("w:char"), ""))
            sign = chr(int(code, 16)) if re.fullmatch(r"[0-9A-Fa-f]{1,4}", code) else UNKNOWN
            return _in_font(sign, str(child.get(qn("w:font"), "")))
        if child.tag in _NOTES:
            return self._note(child)
        if child.tag == qn("w:fldChar"):
            return _form_field(child)
        if child.tag == _ALTERNATE:
            return _picture(child) or "".join(_in_font(each, font) for each in _instead(child))
        if child.tag in (qn("w:drawing"), qn("w:pict")):
            return _picture(child)
        return _BREAKS.get(child.tag, "")

    def _note(self, reference: Any) -> str:
        """A note stands where it is referred to: what it is about, it would not say elsewhere.

        It does so once, be it referred to a thousand times, or by itself.
        """
        name = (_NOTES[reference.tag], str(reference.get(qn("w:id"))))
        note = self._notes.get(name)
        if note is None or self._first.setdefault(name, reference) is not reference:
            return ""
        texts = (self.plain(each).strip() for each in note.iter(qn("w:p")))
        text = " ".join(each for each in texts if each)
        return f" ({text})" if text else ""


def _style_of(run: Any) -> Any:
    return run.find(f"{qn('w:rPr')}/{qn('w:rStyle')}")


def _form_field(mark: Any) -> str:
    """What a box of an older form is ticked with, or what was chosen of its list."""
    box = mark.find(f"{qn('w:ffData')}/{qn('w:checkBox')}")
    if box is not None:
        switch = box.find(qn("w:checked"))
        switch = box.find(qn("w:default")) if switch is None else switch
        is_ticked = switch is not None and str(switch.get(qn("w:val"), "1")).lower() not in OFF
        return "☒" if is_ticked else "☐"
    choice = mark.find(f"{qn('w:ffData')}/{qn('w:ddList')}")
    if choice is None:
        return ""
    entries = [str(each.get(qn("w:val"), "")) for each in choice.iterchildren(qn("w:listEntry"))]
    chosen = choice.find(qn("w:result"))
    place = "0" if chosen is None else str(chosen.get(qn("w:val"), "0"))
    return "".join(entries[int(place) : int(place) + 1]) if place.isdecimal() else ""


def _maths(element: Any) -> str:
    """An equation on one line: "1/2", "(a/b)", with marks around powers and indices."""
    if element.tag in (f"{_MATHS}t", qn("w:t")):
        return element.text or ""
    if element.tag in _NOT_READ:
        return ""
    if element.tag == f"{_MATHS}f":
        above, below = element.find(f"{_MATHS}num"), element.find(f"{_MATHS}den")
        if above is not None and below is not None:
            return fraction(_maths(above), _maths(below))
    text = "".join(map(_maths, element))
    if element.tag == f"{_MATHS}rad":
        return f"√({text})"
    if element.tag == f"{_MATHS}d":
        return f"({text})"
    height = _HEIGHTS.get(element.tag)
    return height(text) if height and text.strip() else text


def boxes(element: Any) -> Iterator[Any]:
    """The text boxes of a paragraph, each once though it is drawn for old programs too."""
    for child in element:
        if child.tag == _BOX:
            yield child
        elif child.tag == _ALTERNATE:
            drawn = ([*boxes(each)] for each in sorted(child, key=lambda each: each.tag != _CHOICE))
            yield from next((found for found in drawn if found), [])
        elif child.tag not in (qn("w:del"), qn("w:moveFrom")):
            yield from boxes(child)


def hidden_texts(document: Document) -> list[str]:
    """The words that the document does not show, paragraph by paragraph."""
    texts: dict[int, list[str]] = {}
    paragraphs = []  # so that no two have the same identity
    for switch in document.element.body.iter(qn("w:vanish")):
        run = switch.getparent().getparent()
        if run.tag != qn("w:r") or not is_on(run, "w:vanish"):
            continue
        paragraph = run.getparent()
        paragraphs.append(paragraph)
        words = "".join(each.text or "" for each in run.iterchildren(qn("w:t")))
        texts.setdefault(id(paragraph), []).append(words)
    return ["".join(words) for words in texts.values()]


def parts_of(document: Document, *kinds: str) -> Iterator[Any]:
    """The roots of the document's parts of these kinds: "header", "footnotes"."""
    for relation in document.part.rels.values():
        if relation.reltype.rpartition("/")[2] not in kinds:
            continue
        try:
            yield parse_xml(relation.target_part.blob)
        # It is no XML, or lies outside the file.
        except (etree.LxmlError, ValueError):
            continue


def _read_notes(document: Document) -> dict[tuple[str, str], Any]:
    return {
        (kind, str(note.get(qn("w:id")))): note
        for kind in _NOTES.values()
        for root in parts_of(document, f"{kind}s")
        for note in root.iterchildren(qn(f"w:{kind}"))
    }


def _in_font(text: str, font: str) -> str:
    """The text as its font shows it: some have pictures in the place of letters."""
    signs = _SIGNS.get(font.strip().lower())
    if signs is None:
        # Signs of private use are somebody's pictures.
        return re.sub("[\ue000-\uf8ff]", UNKNOWN, text)
    return "".join(sign if sign.isspace() else _sign(sign, signs) for sign in text)


def _sign(sign: str, signs: dict[int, str]) -> str:
    number = ord(sign)
    if 0xF000 <= number <= 0xF0FF:
        number -= 0xF000
    return signs.get(number, UNKNOWN if number <= 0xFF or 0xE000 <= number <= 0xF8FF else sign)


def _picture(drawing: Any) -> str:
    """The words that somebody wrote for a picture."""
    if next(boxes(drawing), None) is not None:
        return ""
    for properties in drawing.iter("{*}docPr"):
        said = _GENERATED.sub("", " ".join(str(properties.get("descr") or "").split()))
        return "" if not said or _FILE.match(said) else f" {said} "
    return ""


def _instead(alternate: Any) -> Iterator[str]:
    """What old programs show for a sign, such as an emoji."""
    for fallback in alternate.iterchildren(f"{_MARKUP}Fallback"):
        for each in fallback.iterchildren(qn("w:t")):
            yield each.text or ""


def _struck(text: str) -> str:
    lines = (line.partition(line.strip()) for line in text.split("\n"))
    return "\n".join(
        f"{before}~~{words}~~{after}" if words else before for before, words, after in lines
    )


def _emphasised(text: str, bold: bool, italic: bool) -> str:
    mark = "*" * (2 * bold + italic)
    words = text.strip()
    escaped = escape_text(text)
    # Emphasis over a break of lines, or over signs alone, would not be read as such.
    if not mark or "\n" in words or not any(sign.isalnum() for sign in words):
        return escaped
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{escape_text(words)}{mark}{after}"
