"""The lines of a PDF's pages as they are printed: their words, size, font and place."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from app.skills.knowledge.readers.lexicon import compiled
from app.skills.knowledge.readers.omissions import must_be_kept, says_nothing
from app.skills.knowledge.readers.pdf_signs import (
    Piece,
    Sign,
    base_of,
    between,
    goes_on,
    is_word,
    marked,
    read_signs,
    size_of,
    starts_of_pieces,
)
from app.skills.knowledge.readers.superscripts import settle

FIXED_PITCH = 1  # a bit of a font's flags, as the PDF standard numbers them
BOLD_WEIGHT = 600
# Heads and feet stand in these parts of the page, and are the same on at least so many.
EDGE, REPEATED = 0.11, 3
_MONO = re.compile(r"mono|courier|consol|typewriter|cmtt|fixed", re.IGNORECASE)
_PAGE_NUMBER = compiled("page_number", re.IGNORECASE)
_PAGE, _CONTENTS = compiled("page", re.IGNORECASE), compiled("contents", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:\d+(?:\.\d+)*|[IVXLC]+)[.:)]?\s+")
# In characters: a page number with its words, and what is looked at of a line's end.
LONGEST_NUMBER, LONGEST_LEADER = 60, 200
_LEADER = re.compile(r"(?:\.\s?){4,}\s*\d*\s*$|…{2,}\s*\d*\s*$")
# What stands before an item of a list, or a numbered title.
LIST_SIGN = re.compile(r"^(?:[^\w\s]{1,2}|\(?[a-zA-Z]?[.)]|(?:\d+\.)*\d+[.)]?|[ivxIVX]+[.)])$")
# Where a line ends within a word, the library puts this for the hyphen and goes on.
_PARTED = re.compile(r"(?<=[^\W\d_])[\x02\ufffe](?=[^\W\d_])")
_HYPHENS = str.maketrans({"\x02": "-", "\ufffe": "-", "\u00ad": "-", "\u2010": "-"})
_LIGATURES = str.maketrans({"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl"})

# Of the fields of a page's form so many are looked at, and so many letters of their names.
MOST_FIELDS, LONGEST_NAME = 2_000, 200


@dataclass(slots=True)
class Line:
    """One printed line; coordinates are points from the lower left corner of its page."""

    text: str
    page: int
    size: float
    left: float
    right: float
    bottom: float
    height: float  # of the page
    is_bold: bool = False
    is_mono: bool = False
    pieces: tuple[Piece, ...] = ()  # words that stand apart
    table: int = 0  # the number of the table that it is a row of, if it is

    @property
    def is_at_edge(self) -> bool:
        return not EDGE < self.bottom / self.height < 1 - EDGE


@dataclass(frozen=True)
class Bookmark:
    level: int
    title: str
    page: int
    top: float | None  # where on the page it leads to, if it says


def open_page(document: pdfium.PdfDocument, number: int) -> tuple[pdfium.PdfPage, list[str]]:
    """A page with what its fields hold as part of its text, and its boxes: "☒ gluten".

    Boxes are drawn and have no letters.

    Raises:
        pdfium.PdfiumError: the page is damaged.
    """
    page = document[number]
    if not document.formenv or not raw.FPDFPage_GetAnnotCount(page):
        return page, []
    boxes = [*_boxes(document.formenv, page)]
    page.flatten()
    # What was flattened is there when the page is opened anew.
    page.close()
    return document[number], boxes


def _boxes(form: pdfium.PdfFormEnv, page: pdfium.PdfPage) -> Iterator[str]:
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_FIELDS)):
        field = raw.FPDFPage_GetAnnot(page, number)
        if not field:
            continue
        kind = raw.FPDFAnnot_GetFormFieldType(form, field)
        if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
            is_ticked = raw.FPDFAnnot_IsChecked(form, field)
            yield f"{'☒' if is_ticked else '☐'} {_name(form, field)}"
        raw.FPDFPage_CloseAnnot(field)


def _name(form: pdfium.PdfFormEnv, field: raw.FPDF_ANNOTATION) -> str:
    letters = (ctypes.c_ushort * LONGEST_NAME)()
    size = raw.FPDFAnnot_GetFormFieldName(form, field, letters, ctypes.sizeof(letters))
    return bytes(letters)[: max(0, size - 2)].decode("utf-16-le", "replace")


def read_lines(page: pdfium.PdfPage, number: int) -> list[Line]:
    """The lines of page `number` that have words, in reading order."""
    text_page = page.get_textpage()
    try:
        text = text_page.get_text_range()
        height = page.get_height() or 1.0
        return [_line(text_page, signs, number, height) for signs in _joined(text_page, text)]
    finally:
        text_page.close()


def _joined(text_page: pdfium.PdfTextPage, text: str) -> Iterator[list[Sign]]:
    """The signs of each line that has words, without the blanks at its ends."""
    line: list[Sign] = []
    for words, start in _split(text):
        signs = read_signs(text_page, words, start)
        if line and goes_on(line, signs):
            line += [*between(line, signs), *signs]
            continue
        yield from filter(None, [_stripped(line)])
        line = signs
    yield from filter(None, [_stripped(line)])


def _stripped(line: list[Sign]) -> list[Sign]:
    start, end = 0, len(line)
    while start < end and line[start].text.isspace():
        start += 1
    while start < end and line[end - 1].text.isspace():
        end -= 1
    return line[start:end]


def _split(text: str) -> Iterator[tuple[str, int]]:
    """Each line's text, and its place in the page's, in 16-bit units."""
    place = 0
    for line in text.split("\n"):
        units = len(line) + sum(sign > "\uffff" for sign in line)
        words = line.rstrip("\r")
        if words:
            yield words, place
        place += units + 1


def _line(text_page: pdfium.PdfTextPage, signs: list[Sign], number: int, height: float) -> Line:
    base = base_of(signs)
    size = round(size_of(text_page, base.index) * 2) / 2
    texts = marked(text_page, signs, base)
    bold, mono = _font(text_page, signs[0].index)
    last_bold, last_mono = _font(text_page, signs[-1].index)
    return Line(
        text=_clean("".join(texts)),
        page=number,
        size=size,
        left=signs[0].left,
        right=max(signs[0].left, signs[-1].right),
        bottom=base.bottom,
        height=height,
        is_bold=bold and last_bold,
        is_mono=mono and last_mono,
        pieces=_pieces(signs, texts, size),
    )


def _pieces(signs: list[Sign], texts: list[str], size: float) -> tuple[Piece, ...]:
    """The line's words, parted where a wide gap is, but for the one behind a list's sign."""
    starts = starts_of_pieces(signs, size)
    found = []
    for start, end in zip(starts, [*starts[1:], len(signs)], strict=True):
        inside = [each for each in signs[start:end] if is_word(each)]
        right = inside[-1].right if inside else signs[start].left
        found.append(Piece(_clean("".join(texts[start:end])), signs[start].left, right))
    if len(found) > 1 and LIST_SIGN.match(found[0].text):
        first, second, *others = found
        return Piece(f"{first.text} {second.text}", first.left, second.right), *others
    return tuple(found)


def _clean(text: str) -> str:
    """The words as they are read, without what a printer put in."""
    text = _PARTED.sub("", text).translate(_HYPHENS).translate(_LIGATURES)
    return settle(text).strip()


def _font(text_page: pdfium.PdfTextPage, index: int) -> tuple[bool, bool]:
    """Whether the letter is bold, and whether its font has letters of one width."""
    flags = ctypes.c_int()
    name = ctypes.create_string_buffer(128)
    length = raw.FPDFText_GetFontInfo(text_page, index, name, len(name), flags)
    called = name.value.decode("utf-8", "replace") if 0 < length <= len(name) else ""
    is_bold = (
        raw.FPDFText_GetFontWeight(text_page, index) >= BOLD_WEIGHT or "bold" in called.lower()
    )
    return is_bold, bool(flags.value & FIXED_PITCH) or bool(_MONO.search(called))


def read_bookmarks(document: pdfium.PdfDocument) -> list[Bookmark]:
    """The outline, in the order of the pages that it leads to."""
    found = []
    for bookmark in document.get_toc(max_depth=6):
        destination = bookmark.get_dest()
        page = destination.get_index() if destination else None
        title = " ".join(bookmark.get_title().split())
        if page is None or destination is None or not title:
            continue
        found.append(Bookmark(bookmark.level + 1, title, page, _top(destination)))
    return sorted(found, key=lambda each: each.page)


def _top(destination: pdfium.PdfDest) -> float | None:
    mode, values = destination.get_view()
    if mode == raw.PDFDEST_VIEW_XYZ and len(values) >= 2:
        return float(values[1])
    if mode in (raw.PDFDEST_VIEW_FITH, raw.PDFDEST_VIEW_FITBH) and values:
        return float(values[0])
    return None


def body_size(lines: Iterable[Line]) -> float:
    """The size in which most of the text is set."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0]


def drop_furniture(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """The lines without running heads and feet, page numbers, and printed tables of contents.

    The other list is of those. What names an allergen or warns is kept where it stands first.
    """
    size = body_size(lines)
    same, alike = _repeated(lines)
    contents = _contents_pages(lines)
    titles = keys_of(line.text for line in lines if line.page not in contents)
    seen: set[str] = set()
    kept: list[Line] = []
    dropped: list[Line] = []
    for line in lines:
        if line.page in contents:
            is_dropped = _may_be_dropped(line, titles)
        else:
            is_dropped = line.is_at_edge and _is_furniture(line, size, same, alike)
            text = _PAGE.sub("", line.text)
            if is_dropped and text not in seen:
                seen.add(text)
                is_dropped = not must_be_kept(text)
        (dropped if is_dropped else kept).append(line)
    return (kept, dropped) if kept else (lines, [])


def _may_be_dropped(line: Line, titles: set[str]) -> bool:
    """Whether a line of a table of contents stands elsewhere too, or harms nobody."""
    return not must_be_kept(line.text) or not titles.isdisjoint(keys_of([line.text]))


def _is_furniture(line: Line, size: float, same: set[str], alike: set[str]) -> bool:
    is_number = len(line.text) <= LONGEST_NUMBER and _PAGE_NUMBER.match(line.text)
    if is_number or line.text in same:
        return True
    # "Station 1", "Station 2" at the head of their pages are headings, when they are large.
    return _without_digits(line.text) in alike and line.size <= size


def _repeated(lines: list[Line]) -> tuple[set[str], set[str]]:
    """The texts at the edges of several pages; and those that differ in digits alone."""
    pages: dict[str, set[int]] = {}
    for line in lines:
        if line.is_at_edge:
            pages.setdefault(line.text, set()).add(line.page)
            pages.setdefault(_without_digits(line.text), set()).add(line.page)
    often = {text for text, found in pages.items() if len(found) >= REPEATED}
    return {text for text in often if "#" not in text}, often


def _without_digits(text: str) -> str:
    return "#" + re.sub(r"\d+|\b[ivxl]+\b", "", text)


def drop_printed_contents(
    lines: list[Line], bookmarks: list[Bookmark]
) -> tuple[list[Line], list[Line]]:
    """The lines without those that lead with dots to a page, before the first heading's page.

    The other list is of those.
    """
    begin = bookmarks[0].page
    titles = keys_of(
        [*(line.text for line in lines if line.page >= begin), *(each.title for each in bookmarks)]
    )
    kept: list[Line] = []
    dropped: list[Line] = []
    for line in lines:
        is_entry = line.page < begin and _leader(line) and _may_be_dropped(line, titles)
        (dropped if is_entry else kept).append(line)
    return (kept, dropped) if kept else (lines, [])


def missing_texts(dropped: Iterable[Line], present: Iterable[str]) -> dict[int, str]:
    """By page, the words of lines that were dropped and stand nowhere else, each once."""
    known = keys_of(_PAGE.sub("", text) for text in present)
    texts: dict[int, list[str]] = {}
    for line in dropped:
        text, key = _PAGE.sub("", line.text), _without_digits(line.text)
        is_number = len(line.text) <= LONGEST_NUMBER and _PAGE_NUMBER.match(line.text)
        if is_number or says_nothing(line.text) or _CONTENTS.match(line.text):
            continue
        if key not in known and known.isdisjoint(keys_of([text])):
            texts.setdefault(line.page, []).append(_without_leader(line.text))
        known.add(key)
    return {page: " / ".join(lines) for page, lines in texts.items()}


def keys_of(texts: Iterable[str]) -> set[str]:
    """What lines are compared by: their letters and digits, with and without a number before."""
    keys = set()
    for text in texts:
        title = _without_leader(text)
        keys |= {_key(title), _key(_NUMBERED.sub("", title))}
    return keys - {""}


def _without_leader(text: str) -> str:
    return text[:-LONGEST_LEADER] + _LEADER.sub("", text[-LONGEST_LEADER:])


def _key(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _leader(line: Line) -> re.Match[str] | None:
    """The dots, and the number, at the end of a line of a table of contents."""
    return _LEADER.search(line.text[-LONGEST_LEADER:])


def _contents_pages(lines: list[Line]) -> set[int]:
    """The pages most of whose lines lead with dots to page numbers, which only grow.

    A list of prices looks the same, but for the numbers.
    """
    lines_of = Counter(line.page for line in lines)
    leading: dict[int, list[int]] = {}
    for line in lines:
        if (found := _leader(line)) and (number := re.search(r"\d+", found[0])):
            leading.setdefault(line.page, []).append(int(number[0]))
    return {
        page
        for page, numbers in leading.items()
        if len(numbers) >= 4 and len(numbers) * 2 > lines_of[page] and numbers == sorted(numbers)
    }
