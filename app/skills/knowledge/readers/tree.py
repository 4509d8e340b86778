"""From headings and texts in the order of the page to a document's tree of sections."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.skills.knowledge.readers.result import ReadDocument, ReadSection
from app.skills.knowledge.services.markdown_import import slugify
from app.skills.knowledge.services.sections import LONGEST_BODY, LONGEST_TITLE
from app.text.slugs import UsedSlugs

# Text without a heading is cut only when it is too long to be found or read in one piece.
LONG_WORDS, PART_WORDS = 2_000, 800
# A number before a heading changes when a chapter is put in before it; its slug should not.
_NUMBER = re.compile(r"^\d+(?:\.\d+)*\.?\s+")
_FENCE = re.compile(r"^\s*(```|~~~)")


@dataclass
class _Heading:
    level: int
    title: str
    name: str
    parts: list[str] = field(default_factory=list)


class TreeBuilder:
    """Collects what a reader finds; `used` are the slugs of the whole file so far."""

    def __init__(self, source: str, used: UsedSlugs) -> None:
        self._source = source
        self._used = used
        self._headings: list[_Heading] = []
        self._before: list[str] = []

    def heading(self, level: int, title: str, name: str = "") -> None:
        """Open a section; `name` is what the file itself calls it, if it does."""
        title = " ".join(title.split())
        if not title:
            return
        heading = _Heading(level, shortened(title), slugify(name) if name else "")
        if heading.title != title:
            heading.parts.append(title)
        self._headings.append(heading)

    def text(self, markdown: str) -> None:
        """Add a block of Markdown to the section that is open."""
        if markdown.strip():
            parts = self._headings[-1].parts if self._headings else self._before
            parts.append(markdown.strip("\n"))

    @property
    def has_headings(self) -> bool:
        return bool(self._headings)

    def build(self, title: str = "") -> ReadDocument:
        """The document; `title` is what it is called when no one heading stands above all."""
        root, rest = self._root(title)
        document = ReadDocument(self._source, [self._section(root, 0, None, "")])
        open_places = [(-1, 0)]
        for heading in rest:
            while len(open_places) > 1 and open_places[-1][0] >= heading.level:
                open_places.pop()
            parent = open_places[-1][1]
            # Levels that the headings skip are not there: a tree has no empty storeys.
            section = self._section(heading, len(open_places), parent, document.sections[0].slug)
            open_places.append((heading.level, len(document.sections)))
            document.sections.append(section)
        return document

    def _root(self, title: str) -> tuple[_Heading, list[_Heading]]:
        if self._headings:
            first, *rest = self._headings
            is_above = all(first.level < other.level for other in rest)
            if is_above and (not self._before or first.title == title):
                first.parts[:0] = self._before
                return first, rest
        named = shortened(title) or title_from_name(self._source)
        return _Heading(0, named, "", self._before), self._headings

    def _section(
        self, heading: _Heading, level: int, parent: int | None, above: str
    ) -> ReadSection:
        is_named = bool(heading.name) and heading.name not in self._used
        slug = heading.name
        if not is_named:
            words = _NUMBER.sub("", heading.title)
            slug = self._used.free(slugify(f"{above}-{words}" if above else self._source))
        self._used.add(slug)
        body = "\n\n".join(heading.parts).strip()
        return ReadSection(slug, heading.title, level, parent, body, is_named)


def title_from_name(source: str) -> str:
    return re.sub(r"^\d+[-_ ]", "", source).replace("-", " ").replace("_", " ").capitalize()


def split_long(document: ReadDocument, used: UsedSlugs) -> None:
    """Cut texts that are too long into parts, between their paragraphs.

    Too long is what could not be saved in the browser, and a document of one long text alone.
    """
    is_one = len(document.sections) == 1
    sections: list[ReadSection] = []
    moved: list[int] = []
    for section in document.sections:
        moved.append(len(sections))
        if section.parent is not None:
            section.parent = moved[section.parent]
        sections.append(section)
        if len(section.body) > LONGEST_BODY or (is_one and len(section.body.split()) > LONG_WORDS):
            sections += _cut(section, moved[-1], used)
    document.sections = sections


def _cut(section: ReadSection, place: int, used: UsedSlugs) -> list[ReadSection]:
    """Leave the section its first part; the others are new sections right below it."""
    section.body, *others = _parts(section.body)
    cut = []
    for number, body in enumerate(others, start=2):
        slug = used.free(f"{section.slug[:90]}-{number}")
        used.add(slug)
        title = f"{section.title[: LONGEST_TITLE - 8]} ({number})"
        cut.append(ReadSection(slug, title, section.level + 1, place, body))
    return cut


def _parts(body: str) -> list[str]:
    parts: list[list[str]] = [[]]
    words, is_code = 0, False
    for line in body.split("\n"):
        is_code ^= bool(_FENCE.match(line))
        if words >= PART_WORDS and not line.strip() and not is_code:
            parts.append([])
            words = 0
        parts[-1].append(line)
        words += len(line.split())
    return ["\n".join(part).strip() for part in parts if any(line.strip() for line in part)]


def shortened(title: str) -> str:
    """A title as long as one may be that is typed in the browser."""
    if len(title) <= LONGEST_TITLE:
        return title
    return title[: LONGEST_TITLE - 1].rsplit(" ", 1)[0] + "…"
