"""From what was read in a file to documents that can be stored: names made sure of.

A section's slug is its identity in the library. What the file calls it decides, unless
another manual has a section of that name already, or the document is another language of a
chapter that is there: then its sections are those of that chapter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.config import LANGUAGES
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.readers import ReadDocument
from app.skills.knowledge.services.language_pairs import (
    Alignment,
    align,
    tree_of_document,
    tree_of_rows,
)
from app.skills.knowledge.services.markdown_import import ParsedDocument, ParsedSection
from app.text.slugs import UsedSlugs


@dataclass(frozen=True)
class Edition:
    """What a document is another language of; `chapter` is empty for a text of its own."""

    source: str
    title: str
    chapter: str = ""
    alone_here: frozenset[int] = frozenset()
    alone_there: tuple[str, ...] = ()
    is_known: bool = False  # a new version of what is there in this language already


@dataclass
class Library:
    """The group's sections, as far as names and chapters go."""

    by_id: Mapping[UUID, ManualSection]
    by_slug: dict[str, ManualSection] = field(init=False)
    tops: dict[UUID, ManualSection] = field(init=False)
    chapters: list[ManualSection] = field(init=False)

    def __post_init__(self) -> None:
        self.by_slug = {row.slug: row for row in self.by_id.values()}
        self.chapters = [row for row in self.by_id.values() if row.parent_id is None]
        self.tops = {id_: self._top(row) for id_, row in self.by_id.items()}
        self._below: dict[UUID, list[ManualSection]] = {}
        for id_, row in self.by_id.items():
            self._below.setdefault(self.tops[id_].id, []).append(row)
        self._by_source: dict[str, list[ManualSection]] = {}
        for row in self.chapters:
            self._by_source.setdefault(row.source, []).append(row)

    def _top(self, row: ManualSection) -> ManualSection:
        while row.parent_id in self.by_id and row.parent_id is not None:
            row = self.by_id[row.parent_id]
        return row

    def chapter(self, slug: str) -> ManualSection | None:
        row = self.by_slug.get(slug)
        return row if row is not None and row.parent_id is None else None

    def rows_of(self, top: ManualSection) -> list[ManualSection]:
        return self._below.get(top.id, [])

    def chapters_of(self, source: str) -> list[ManualSection]:
        """The chapters that came with the file of this name."""
        return self._by_source.get(source, [])


def prepare_documents(
    documents: Sequence[ReadDocument],
    library: Library,
    *,
    kind: str,
    language: str,
    chosen: Mapping[str, str],
) -> tuple[list[ParsedDocument], list[Edition]]:
    """Documents with the slugs that they will be stored under, and what each is an edition of.

    `chosen` says of a document's source which chapter it is another language of ("": none, so
    that it shares no section with a text that is there in the other language only); what it
    does not name is found by name.
    """
    editions, names = [], []
    for document in documents:
        chapter = find_chapter(document, library, language, chosen)
        edition, slugs = _compare(document, chapter, library, language)
        if chosen.get(document.source) == "":
            slugs = [_apart(slug, library, language) for slug in slugs]
        editions.append(edition)
        names.append(slugs)
    ours = {slugs[0] for slugs in names} | {document.source for document in documents}
    taken = UsedSlugs()
    prepared = []
    for document, edition, own in zip(documents, editions, names, strict=True):
        is_free = document.keeps_names or edition.chapter
        slugs = own if is_free else [_own_name(slug, own[0], library, ours) for slug in own]
        free = [_untaken(slug, slugs[0], taken) for slug in slugs]
        prepared.append(_parsed(document, free, document.kind or kind))
    return prepared, editions


def find_chapter(
    document: ReadDocument, library: Library, language: str, chosen: Mapping[str, str]
) -> ManualSection | None:
    """The chapter that a document is another language of: as was said, else by its name."""
    if document.source in chosen:
        return library.chapter(chosen[document.source])
    [other] = [each for each in LANGUAGES if each != language]
    by_name = library.chapter(document.sections[0].slug)
    by_file = library.chapters_of(document.source)
    for row in [*([by_name] if by_name else []), *by_file]:
        if row.is_written_in(other) and not _is_known(document, row, library, language):
            return row
    return None


def _is_known(
    document: ReadDocument, chapter: ManualSection, library: Library, language: str
) -> bool:
    """True when the chapter has this document's sections by the names that it gives them."""
    own = [section.slug for section in document.sections]
    known = sum(slug in library.by_slug for slug in own)
    return chapter.is_written_in(language) and 2 * known > len(own)


def _compare(
    document: ReadDocument, chapter: ManualSection | None, library: Library, language: str
) -> tuple[Edition, list[str]]:
    own = [section.slug for section in document.sections]
    title = document.sections[0].title
    if chapter is None:
        row = library.by_slug.get(own[0])
        is_known = row is not None and row.is_written_in(language)
        return Edition(document.source, title, is_known=is_known), own
    there = tree_of_rows(library.rows_of(chapter), chapter, language)
    found = align(there, tree_of_document(document))
    slugs = [
        found.slugs.get(place) or _name_alone(slug, chapter, library, language)
        for place, slug in enumerate(own)
    ]
    [other] = [each for each in LANGUAGES if each != language]
    titles = tuple(library.by_slug[slug].title(other) for slug in found.alone_there)
    edition = Edition(document.source, title, chapter.slug, _alone(found), titles)
    return edition, slugs


def _alone(found: Alignment) -> frozenset[int]:
    return frozenset(found.alone_here)


def _name_alone(slug: str, chapter: ManualSection, library: Library, language: str) -> str:
    """What a section without a partner is called: its own name, unless that is somebody's."""
    row = library.by_slug.get(slug)
    [other] = [each for each in LANGUAGES if each != language]
    if row is None or (library.tops[row.id] is chapter and not row.is_written_in(other)):
        return slug
    return f"{slug}-{language}"


def _apart(slug: str, library: Library, language: str) -> str:
    """A name of its own for what is no translation, unless it had this one before."""
    row = library.by_slug.get(slug)
    return slug if row is None or row.is_written_in(language) else f"{slug}-{language}"


def _own_name(slug: str, root: str, library: Library, ours: set[str]) -> str:
    """The slug, unless another manual has a section of that name."""
    row = library.by_slug.get(slug)
    if row is None or slug == root:
        return slug
    top = library.tops[row.id]
    return slug if top.slug in ours or top.source in ours else f"{root}-{slug}"


def _untaken(slug: str, root: str, taken: UsedSlugs) -> str:
    """The slug, unless a document of the same file has it."""
    candidate = f"{root}-{slug}" if slug in taken and slug != root else slug
    if candidate in taken:
        candidate = taken.free(slug)
    taken.add(candidate)
    return candidate


def _parsed(document: ReadDocument, slugs: Sequence[str], kind: str) -> ParsedDocument:
    made: list[ParsedSection] = []
    for slug, section in zip(slugs, document.sections, strict=True):
        parent = made[section.parent] if section.parent is not None else None
        lines = section.body.split("\n")
        made.append(ParsedSection(slug, section.title, section.level, lines, parent))
    return ParsedDocument(document.source, kind, tuple(made))
