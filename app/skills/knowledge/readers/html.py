"""HTML pages: headings become the tree, ids the slugs, and what is between them Markdown."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector
from bs4.element import PageElement

from app.skills.knowledge.readers.grid import decode
from app.skills.knowledge.readers.html_furniture import (
    HEADINGS,
    classes_of,
    remove,
    take_out_furniture,
    text_of,
)
from app.skills.knowledge.readers.html_inline import apply_styles, strike_title
from app.skills.knowledge.readers.html_markdown import MARK, to_markdown
from app.skills.knowledge.readers.omissions import left_out, listed, must_be_kept
from app.skills.knowledge.readers.result import FileProblem, ReadDocument, Reading, Unreadable
from app.skills.knowledge.readers.stylesheet import read_stylesheets
from app.skills.knowledge.readers.superscripts import settle
from app.skills.knowledge.readers.tree import TreeBuilder
from app.text.normalize import words
from app.text.slugs import UsedSlugs

# DocBook says how deep a section is by where it stands, not by its heading's number.
_LEVELS = re.compile(r"^(?:book|part|chapter|preface|appendix|article|section|sect[1-5])$")
_ADMONITIONS = frozenset("note tip warning caution important danger hint attention".split())
# Ids that a program has counted: they say something else as soon as a heading is put in.
_COUNTED = re.compile(r"^_?(?:id[mpn]?|toc|ref|sec|section|heading|h|x|_)?[-_.]?[\d.-]+\w?$", re.I)
_EMPTY = re.compile(
    rb"<(a|b|code|div|em|i|li|p|pre|script|span|strong|style|table|td|th|tr|title)(\s[^<>]*)?/>"
)
# They end a line for browsers, and nothing for the parser where it thinks that they close nothing.
_ENDS_LINE = re.compile(
    rb"</(?:address|article|aside|blockquote|br|center|dd|details|div|dl|dt|fieldset|figcaption"
    rb"|figure|footer|form|h[1-6]|header|hgroup|label|legend|li|main|menu|ol|option|p|pre|section"
    rb"|summary|table|ul)\s*>",
    re.IGNORECASE,
)
# What a page shows when it is pointed at or filled in, or tells those who do not see it.
_SHOWN_ON_DEMAND = (
    "title", "alt", "abbr", "aria-label", "label", "summary", "placeholder", "value", "srcdoc",
)  # fmt: skip
_IDS = re.compile(r"^[A-Za-z_][\w:.-]*$")


@dataclass(frozen=True)
class Page:
    """A page as a document, None when it has no text; whether it has headings; what is wrong."""

    document: ReadDocument | None
    has_headings: bool
    problems: list[FileProblem]


def read_html(content: bytes, source: str) -> Reading:
    """The reading of one page.

    Raises:
        Unreadable: there is no text in it.
    """
    page = read_page(content, source, UsedSlugs())
    if page.document is None:
        raise Unreadable("no_sections")
    problems = [] if page.has_headings else [FileProblem("", "no_headings")]
    return Reading(documents=[page.document], problems=[*problems, *listed(page.problems)])


def read_page(content: bytes, source: str, used: UsedSlugs) -> Page:
    """The page, its sections called what `used` does not have yet."""
    soup = parse(content)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    sheet = read_stylesheets(map(_style_text, soup.find_all("style")))
    apply_styles(soup, soup.body or soup, sheet)
    on_demand = [*_on_demand(soup)]
    body, texts = _clean(soup)
    builder = TreeBuilder(source, used)
    markdown, problems = to_markdown(body)
    shown = " ".join(words(markdown))
    texts += (each for each in on_demand if " ".join(words(each)) not in shown)
    problems += left_out(map(settle, texts))
    if sheet.is_unclear:
        problems.append(FileProblem("", "struck_unclear"))
    _take(builder, markdown)
    if not builder.has_headings and not body.get_text(strip=True):
        return Page(None, False, problems)
    return Page(builder.build(title), builder.has_headings, problems)


def _take(builder: TreeBuilder, markdown: str) -> None:
    """Hand the headings, and the lines between two of them, to the builder."""
    lines: list[str] = []
    for line in markdown.split("\n"):
        if line.startswith(MARK):
            builder.text("\n".join(lines))
            lines.clear()
            level, title, name = json.loads(line.removeprefix(MARK))
            builder.heading(level, title, name)
        else:
            lines.append(line)
    builder.text("\n".join(lines))


def parse(content: bytes) -> BeautifulSoup:
    """The page as a tree, in the encoding that it is written in."""
    # In XHTML `<a id="x"/>` is empty; to HTML's parser all that follows would be within it.
    content = _EMPTY.sub(rb"<\1\2></\1>", content)
    content = _ENDS_LINE.sub(rb"\g<0> ", content)
    with warnings.catch_warnings():
        # XHTML is read as HTML on purpose: many pages that say they are the one are the other.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(_text(content), "lxml")


def _text(content: bytes) -> str:
    """UTF-8 when it can be, else what the page says that it is, else what it seems to be."""
    declared = EncodingDetector.find_declared_encoding(content, is_html=True)
    for encoding in ("utf-8-sig", declared or "utf-8"):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return decode(content)


def _on_demand(soup: BeautifulSoup) -> Iterator[str]:
    """What attributes say that warns or names an allergen, and what no browser draws by itself."""
    for element in soup.find_all(True):
        texts = [str(element.get(name) or "") for name in _SHOWN_ON_DEMAND]
        texts += [element.get_text(" ")] if element.name == "template" else []
        yield from (text for text in texts if text and must_be_kept(text))


def _style_text(style: Tag) -> str:
    text = str(style.string or "")
    # What is for some media only may not count on a screen.
    return f"@media {{{text}}}" if style.get("media") not in (None, "", "all", "screen") else text


def _clean(soup: BeautifulSoup) -> tuple[Tag, list[str]]:
    """The part of the page that is its text, its headings told their level and name.

    Also the words that were left out.
    """
    body, texts = take_out_furniture(soup)
    for element in body.find_all("div", class_=_is_admonition):
        _quote(soup, element)
    above: set[int] = set()
    for element in body.find_all(HEADINGS):
        _describe(element, above)
    return body, texts


def _is_admonition(name: str | None) -> bool:
    return name in _ADMONITIONS


def _quote(soup: BeautifulSoup, element: Tag) -> None:
    """A note in a box becomes a quote that begins with its kind."""
    frame = _frame(element)
    title = element.find(HEADINGS) or (frame.find("th") if frame else None)
    opening = soup.new_tag("p")
    if title is not None:
        strong = soup.new_tag("strong")
        strong.string = text_of(title)
        remove([title])
        opening.append(strong)
    kinds = {*_ADMONITIONS, _letters(text_of(opening))}
    pictures = [each for each in element.find_all("span") if each.has_attr("data-picture")]
    remove(picture for picture in pictures if _letters(text_of(picture)) in kinds)
    if frame is not None:
        inside = [child for cell in frame.find_all(["td", "th"]) for child in cell.contents]
        remove(inside)
        remove([frame])
        element.extend(inside)
    element.name = "blockquote"
    if title is not None:
        element.insert(0, opening)


def _frame(element: Tag) -> Tag | None:
    """The table that only frames a note: a picture, its kind, and its text stand in it."""
    table = element.find("table")
    if table is None or table.find_parent("div") is not element or table.find("table"):
        return None
    rows = table.find_all("tr")
    heads, cells = table.find_all("th"), table.find_all("td")
    is_frame = len(rows) <= 2 and len(heads) <= 1 and len(cells) <= 2
    return table if is_frame and text_of(table) == text_of(element) else None


def _letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _describe(heading: Tag, above: set[int]) -> None:
    """Note at a heading how deep it stands and what the page calls it.

    `above` are the ids of all that the headings before it stand in.
    """
    strike_title(heading)
    name = next((each for each in _names(heading, above) if _is_lasting(each)), "")
    if name:
        heading["data-name"] = name
    titlepage = heading.find_parent("div", class_="titlepage")
    if titlepage is None or "title" in classes_of(heading):
        _note_above(heading, above)
    if titlepage is None:
        return
    if "title" not in classes_of(heading):
        # An author's name, or a subtitle: set large, but no section.
        heading.name = "p"
        return
    around = heading.find_parents(lambda tag: bool(any(map(_LEVELS.match, classes_of(tag)))))
    if around:
        heading["data-level"] = str(len(around))


def _note_above(heading: Tag, above: set[int]) -> None:
    for parent in heading.parents:
        if id(parent) in above:
            return
        above.add(id(parent))


def _names(heading: Tag, above: set[int]) -> list[str]:
    """What a heading may be called, the nearest first."""
    anchors = heading.find_all("a")
    found = [heading, *anchors, *_anchors_before(heading)]
    titlepage = heading.find_parent("div", class_="titlepage")
    around = (titlepage or heading).parent
    holds = around is not None and around.name in ("section", "div", "article")
    if around is not None and holds and id(around) not in above:
        # It is the first heading in there.
        found.append(around)
    return [str(tag.get("id") or tag.get("name") or "") for tag in found]


def _anchors_before(heading: Tag) -> list[Tag]:
    """The empty anchors right before a heading, as old pages have them."""
    anchors = []
    before: PageElement | None = heading.previous_sibling
    while before is not None:
        if isinstance(before, Tag):
            if before.name not in ("a", "span") or before.get_text(strip=True):
                break
            anchors.append(before)
        elif str(before).strip():
            break
        before = before.previous_sibling
    return anchors


def _is_lasting(name: str) -> bool:
    return bool(_IDS.match(name)) and not _COUNTED.match(name) and any(map(str.isalpha, name))
