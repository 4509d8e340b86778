"""HTML pages: headings become the tree, ids the slugs, and what is between them Markdown."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector
from bs4.element import PageElement

from app.skills.knowledge.readers.grid import decode
from app.skills.knowledge.readers.html_markdown import MARK, to_markdown
from app.skills.knowledge.readers.result import FileProblem, ReadDocument, Reading, Unreadable
from app.skills.knowledge.readers.tree import TreeBuilder
from app.text.slugs import UsedSlugs

_DROPPED = (
    "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas",
    "form", "button", "input", "select", "textarea", "nav", "img", "picture", "audio", "video",
    "map", "link", "meta", "base",
)  # fmt: skip
_CLASSES = frozenset(
    "navheader navfooter navbar navigation breadcrumb breadcrumbs toc sidebar headerlink"
    " list-of-tables list-of-figures list-of-examples sphinxsidebar related noprint"
    " skip-link menu".split()
)
_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu"))
_HEADINGS = re.compile(r"^h[1-6]$")
# DocBook says how deep a section is by where it stands, not by its heading's number.
_LEVELS = re.compile(r"^(?:book|part|chapter|preface|appendix|article|section|sect[1-5])$")
_ADMONITIONS = frozenset("note tip warning caution important danger hint attention".split())
# Ids that a program has counted: they say something else as soon as a heading is put in.
_COUNTED = re.compile(r"^_?(?:id[mpn]?|toc|ref|sec|section|heading|h|x|_)?[-_.]?[\d.-]+\w?$", re.I)
_EMPTY = re.compile(
    rb"<(a|b|code|div|em|i|li|p|pre|script|span|strong|style|table|td|th|tr|title)(\s[^<>]*)?/>"
)
_IDS = re.compile(r"^[A-Za-z_][\w:.-]*$")


def read_html(content: bytes, source: str) -> Reading:
    """The reading of one page.

    Raises:
        Unreadable: there is no text in it.
    """
    document, has_headings = read_page(content, source, UsedSlugs())
    if document is None:
        raise Unreadable("no_sections")
    problems = [] if has_headings else [FileProblem("", "no_headings")]
    return Reading(documents=[document], problems=problems)


def read_page(content: bytes, source: str, used: UsedSlugs) -> tuple[ReadDocument | None, bool]:
    """A page as a document, and whether it has headings; None when it has no text."""
    soup = parse(content)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    body = _clean(soup)
    builder = TreeBuilder(source, used)
    _take(builder, to_markdown(body))
    if not builder.has_headings and not body.get_text(strip=True):
        return None, False
    return builder.build(title), builder.has_headings


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


def _clean(soup: BeautifulSoup) -> Tag:
    """The part of the page that is its text, its headings told their level and name."""
    body = _content(soup)
    _remove(body.find_all(_DROPPED))
    _remove(body.find_all(_is_furniture))
    links = body.select("header a")
    _remove([link for link in links if link.find_parent([_HEADINGS, "p"]) is None])
    for element in body.find_all("div", class_=_is_admonition):
        _quote(soup, element)
    above: set[int] = set()
    for element in body.find_all(_HEADINGS):
        _describe(element, above)
    return body


def _remove(elements: Iterable[PageElement]) -> None:
    """Take elements out of the tree, those of one parent together.

    The library looks for each among its siblings, and moves those after it: of thousands that
    would take minutes.
    """
    children: dict[int, list[PageElement]] = {}
    for element in elements:
        if element.parent is not None:
            children.setdefault(id(element.parent), []).append(element)
    for together in children.values():
        parent, gone = together[0].parent, {id(each) for each in together}
        assert parent is not None
        kept = [each for each in parent.contents if id(each) not in gone]
        for element in together:
            parent.contents = [element]
            element.extract(_self_index=0)
        parent.contents = kept


def _content(soup: BeautifulSoup) -> Tag:
    mains = soup.find_all(lambda tag: tag.name == "main" or tag.get("role") == "main")
    if len(mains) == 1:
        return mains[0]
    return soup.body or soup


def _is_furniture(element: Tag) -> bool:
    """What a page carries to be walked through, not to be read."""
    if _CLASSES.intersection(_classes(element)) or element.get("role") in _ROLES:
        return True
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if element.name not in ("header", "footer", "aside"):
        return False
    # A header may hold the chapter's title, and a footer what a form has at its foot.
    return element.find(_HEADINGS) is None and _is_links(element)


def _is_links(element: Tag) -> bool:
    words = len(element.get_text(" ", strip=True).split())
    linked = sum(len(link.get_text(" ", strip=True).split()) for link in element.find_all("a"))
    return words <= 12 or linked * 2 >= words


def _classes(element: Tag) -> list[str]:
    classes = element.get("class")
    return classes.split() if isinstance(classes, str) else list(classes or ())


def _is_admonition(name: str | None) -> bool:
    return name in _ADMONITIONS


def _quote(soup: BeautifulSoup, element: Tag) -> None:
    """A note in a box becomes a quote that begins with its kind: its table is but its frame."""
    title = element.find([_HEADINGS, "th"])
    opening = soup.new_tag("p")
    if title is not None:
        strong = soup.new_tag("strong")
        strong.string = title.get_text(" ", strip=True)
        _remove([title])
        opening.append(strong)
    table = element.find("table")
    if table is not None and table.find_parent("div") is element:
        inside = [child for cell in table.find_all("td") for child in cell.contents]
        _remove(inside)
        _remove(element.contents)
        element.extend(inside)
    element.name = "blockquote"
    if title is not None:
        element.insert(0, opening)


def _describe(heading: Tag, above: set[int]) -> None:
    """Note at a heading how deep it stands and what the page calls it.

    `above` are the ids of all that the headings before it stand in.
    """
    name = next((each for each in _names(heading, above) if _is_lasting(each)), "")
    if name:
        heading["data-name"] = name
    titlepage = heading.find_parent("div", class_="titlepage")
    if titlepage is None or "title" in _classes(heading):
        _note_above(heading, above)
    if titlepage is None:
        return
    if "title" not in _classes(heading):
        # An author's name, or a subtitle: set large, but no section.
        heading.name = "p"
        return
    around = heading.find_parents(lambda tag: bool(any(map(_LEVELS.match, _classes(tag)))))
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
