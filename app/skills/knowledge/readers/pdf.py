"""PDF: the outline gives the tree; where there is none, the size of the letters does."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from app.skills.knowledge.readers.lexicon import either
from app.skills.knowledge.readers.omissions import left_out, listed
from app.skills.knowledge.readers.pdf_lines import (
    Bookmark,
    Line,
    body_size,
    drop_furniture,
    drop_printed_contents,
    missing_texts,
    open_page,
    read_bookmarks,
    read_lines,
)
from app.skills.knowledge.readers.pdf_tables import mark_rows
from app.skills.knowledge.readers.pdf_text import measure, to_markdown
from app.skills.knowledge.readers.result import (
    FileProblem,
    Limits,
    OnProgress,
    Reading,
    Unreadable,
)
from app.skills.knowledge.readers.tree import TreeBuilder
from app.text.slugs import UsedSlugs

# A heading's letters are so much larger than the text's; it is no longer than this.
LARGER, HEADING_LENGTH, LEVELS = 1.12, 150, 5
MENTIONED_PAGES = 20
# Two pages have no more lines than this, as they are printed.
LOOKED_AT = 400
TAIL = 8192  # in which the mark of the end must stand; some programs write on after it
_NUMBER = re.compile(
    rf"^(?:{either('numbered_parts')}\s+)?(?:[\divxlc]+(?:\.\d+)*|[A-Z](?:\.\d+)*)[.:)]?\s+",
    re.IGNORECASE,
)
_NUMBER_ALONE = re.compile(rf"^{either('parts')}\s+[\divxlcA-Z]+[.:]?$", re.IGNORECASE)
_NO_TITLE = re.compile(r"^untitled|^microsoft word|^document\d*$|\.\w{2,5}$", re.IGNORECASE)


@dataclass(frozen=True)
class _Heading:
    """A heading that takes `count` lines from `start`; none when its words stand nowhere."""

    start: int
    count: int
    level: int
    title: str


def read_pdf(content: bytes, source: str, on_progress: OnProgress, limits: Limits) -> Reading:
    """The reading of a PDF, its pages given back as they are read.

    Raises:
        Unreadable: it is damaged, protected, has pictures of text, or too much text.
    """
    if b"%%EOF" not in content[-TAIL:]:
        # The library would mend it with what is there, and nobody would miss the last pages.
        raise Unreadable("damaged")
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        is_locked = error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        raise Unreadable("encrypted" if is_locked else "damaged") from None
    with document:
        if document.get_formtype():
            document.init_forms()
        reading = Reading(facts={"pages": len(document)})
        lines = _read_pages(document, reading, on_progress, limits)
        bookmarks = read_bookmarks(document)
        title = _title(document)
    on_progress("sorting", 0, 1)
    lines, dropped = drop_furniture(lines)
    if bookmarks:
        lines, entries = drop_printed_contents(lines, bookmarks)
        dropped += entries
    tables = mark_rows(lines)
    headings = _by_outline(bookmarks, lines) or _by_size(lines)
    if not headings:
        reading.problems.append(FileProblem("", "no_headings"))
    present = [title, *(each.title for each in headings), *(line.text for line in lines)]
    missing = missing_texts(dropped, present)
    told = [each for page in missing for each in left_out([missing[page]], f"page {page + 1}")]
    reading.problems += listed([*tables, *told])
    reading.documents = [_tree(lines, headings, source).build(title)]
    return reading


def _read_pages(
    document: pdfium.PdfDocument, reading: Reading, on_progress: OnProgress, limits: Limits
) -> list[Line]:
    lines: list[Line] = []
    words, pictures = 0, []
    for number in range(len(document)):
        on_progress("reading", number + 1, len(document))
        try:
            page, boxes = open_page(document, number)
        except pdfium.PdfiumError:
            reading.problems.append(FileProblem(f"page {number + 1}", "page_unreadable"))
            continue
        reading.problems += listed(left_out(boxes, f"page {number + 1}"))
        found = read_lines(page, number)
        if not found and _has_picture(page):
            pictures.append(number + 1)
        page.close()
        words += sum(line.text.count(" ") + 1 for line in found)
        if words > limits.words:
            raise Unreadable("too_many_words")
        lines += found
    if not lines:
        raise Unreadable("no_text" if pictures else "no_sections")
    noted = pictures[:MENTIONED_PAGES]
    reading.problems += [FileProblem(f"page {number}", "page_without_text") for number in noted]
    return lines


def _has_picture(page: pdfium.PdfPage) -> bool:
    return any(True for _ in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))


def _title(document: pdfium.PdfDocument) -> str:
    title = " ".join(str(document.get_metadata_value("Title")).split())
    return "" if _NO_TITLE.search(title) else title


def _tree(lines: Sequence[Line], headings: Sequence[_Heading], source: str) -> TreeBuilder:
    builder = TreeBuilder(source, UsedSlugs())
    set_in = measure(lines)
    first, *ends = [*(heading.start for heading in headings), len(lines)]
    builder.text(to_markdown(lines[:first], set_in))
    for heading, end in zip(headings, ends, strict=True):
        builder.heading(heading.level, heading.title)
        builder.text(to_markdown(lines[heading.start + heading.count : end], set_in))
    return builder


def _by_outline(bookmarks: Sequence[Bookmark], lines: Sequence[Line]) -> list[_Heading]:
    """A heading for each bookmark, at the line that says the same, or else at its place."""
    headings: list[_Heading] = []
    pages = [line.page for line in lines]
    keys = [_key(line.text) for line in lines]
    free = 0
    for bookmark in bookmarks:
        # Pages are in order: the place of a page's first line, or of the next that has any.
        begin = max(free, bisect_left(pages, bookmark.page))
        end = min(bisect_left(pages, bookmark.page + 2), begin + LOOKED_AT)
        start, count = _find(keys, bookmark.title, begin, end)
        if not count:
            start = _at(lines, bookmark, begin)
        free = start + count
        headings.append(_Heading(start, count, bookmark.level, bookmark.title))
    return headings


def _find(keys: Sequence[str], title: str, begin: int, end: int) -> tuple[int, int]:
    """Where the title's words stand, be it on several lines, and on how many."""
    wanted = _key(title)
    bare = _key(_NUMBER.sub("", title)) or wanted
    for start in range(begin, end):
        joined = ""
        for count in range(1, 5):
            if start + count > end:
                break
            joined += keys[start + count - 1]
            before = joined.removesuffix(bare)
            if joined == wanted or (joined != before and len(before) <= 14):
                return start, count
            if len(joined) > len(wanted) + 14:
                break
    return begin, 0


def _at(lines: Sequence[Line], bookmark: Bookmark, begin: int) -> int:
    """The first line at or below the place on the page that a bookmark leads to."""
    for place in range(begin, min(begin + LOOKED_AT, len(lines))):
        line = lines[place]
        if line.page != bookmark.page:
            return place if line.page > bookmark.page else begin
        if bookmark.top is None or line.bottom <= bookmark.top:
            return place
    return begin


def _key(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _by_size(lines: Sequence[Line]) -> list[_Heading]:
    """The lines in larger letters; the larger, the higher. Those of one heading are one."""
    levels = _levels(lines)
    # What stands there again and again ("Note") labels texts and is no heading.
    labels = {text for text, count in Counter(line.text for line in lines).items() if count > 3}
    headings: list[_Heading] = []
    for place, line in enumerate(lines):
        level = levels.get(line.size) if _may_be_heading(line) else None
        is_label = line.text in labels or line.size in levels
        if level is None and not is_label and _is_bold_heading(lines, place):
            level = len(levels) + 1
        if level is None:
            continue
        if headings and _continues(headings[-1], place, level, lines):
            last = headings.pop()
            title = f"{last.title} {line.text}"
            headings.append(_Heading(last.start, last.count + 1, min(last.level, level), title))
        else:
            headings.append(_Heading(place, 1, level, line.text))
    return headings


def _continues(last: _Heading, place: int, level: int, lines: Sequence[Line]) -> bool:
    if last.start + last.count != place:
        return False
    if _NUMBER_ALONE.match(last.title):
        return True  # its title stands below it, in letters of another size
    if last.level != level:
        return False
    before, line = lines[place - 1], lines[place]
    is_close = before.page == line.page and before.bottom - line.bottom < 1.6 * line.size
    return is_close and len(last.title) + len(line.text) < HEADING_LENGTH


def _levels(lines: Sequence[Line]) -> dict[float, int]:
    """The sizes of headings, the largest being level 1."""
    size = body_size(lines)
    larger = Counter(
        line.size for line in lines if line.size >= LARGER * size and _may_be_heading(line)
    )
    return {each: min(LEVELS, number) for number, each in enumerate(sorted(larger)[::-1], start=1)}


def _may_be_heading(line: Line) -> bool:
    return (
        not line.is_mono
        and not line.table
        and len(line.text) <= HEADING_LENGTH
        and any(sign.isalpha() for sign in line.text)
    )


def _is_bold_heading(lines: Sequence[Line], place: int) -> bool:
    """A bold line of the text's size is a heading when it stands alone above a text."""
    line = lines[place]
    if not line.is_bold or not _may_be_heading(line) or len(line.text) > 80:
        return False
    if line.text.endswith((".", ",", ";", ":")) or not line.text[0].isalnum():
        return False
    before = lines[place - 1] if place else None
    after = lines[place + 1] if place + 1 < len(lines) else None
    has_space = (
        before is None
        or before.page != line.page
        or abs(before.bottom - line.bottom) > 1.5 * line.size
    )
    return has_space and after is not None and not after.is_bold
