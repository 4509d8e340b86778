"""A packed folder of pages: each page is a chapter, in the order in which its index lists them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote, urldefrag

from app.skills.knowledge.readers.archive import Archive
from app.skills.knowledge.readers.html import Page, parse, read_page
from app.skills.knowledge.readers.markdown import read_markdown_text
from app.skills.knowledge.readers.omissions import listed, must_be_kept
from app.skills.knowledge.readers.result import (
    FileProblem,
    Limits,
    OnProgress,
    ReadDocument,
    Reading,
    Unreadable,
)
from app.skills.knowledge.readers.source import language_of, source_name
from app.skills.knowledge.services.markdown_import import slugify
from app.text.slugs import UsedSlugs

PAGES = (".html", ".htm", ".xhtml", ".md", ".markdown")
# What else may hold text that people expect to be read; pictures and styles are no loss.
OTHER_TEXTS = (".txt", ".rtf", ".pdf", ".doc", ".docx", ".odt", ".csv", ".xls", ".xlsx", ".zip")
_INDEX = re.compile(r"^(?:index|toc|contents|readme)$", re.IGNORECASE)
# An index of links alone is a way to the chapters and not one of them.
INDEX_WORDS = 20


def is_site(archive: Archive) -> bool:
    return any(_is_page(name) for name in archive.members)


def read_site(
    archive: Archive, called: str, language: str, on_progress: OnProgress, limits: Limits
) -> Reading:
    """Every page of the archive that is in this language; `called` is the archive's own name.

    Raises:
        Unreadable: none of its pages has any text.
    """
    in_language = _in_language(archive, language)
    pages = _ordered(archive, in_language)
    reading = Reading(problems=_left_out(archive, in_language))
    used, sources = UsedSlugs(), UsedSlugs()
    sections, found = 0, list[FileProblem]()
    for number, name in enumerate(pages, start=1):
        on_progress("reading", number, len(pages))
        source = _source(name, called, sources)
        try:
            page = _page(archive, name, source, used)
        except Unreadable as failure:
            reading.problems.append(FileProblem(name, failure.problem.code, failure.problem.detail))
            continue
        except RecursionError:
            reading.problems.append(FileProblem(name, "page_unreadable"))
            continue
        found += [replace(each, place=name) for each in page.problems]
        if page.document is not None:
            reading.documents.append(page.document)
            sections += len(page.document.sections)
        elif not _is_index(name):
            reading.problems.append(FileProblem(name, "file_left_out"))
        if sections > limits.sections:
            raise Unreadable("too_many_sections")
    if not reading.documents:
        raise Unreadable("no_sections")
    reading.problems += listed(found)
    return reading


def _page(archive: Archive, name: str, source: str, used: UsedSlugs) -> Page:
    content = archive.read(name)
    if _is_markdown(name):
        return Page(_markdown_page(content, source, used), has_headings=True, problems=[])
    page = read_page(content, source, used)
    if page.document and _is_index(name) and _is_way_to_chapters(page.document):
        used.give_back(section.slug for section in page.document.sections)
        return Page(None, page.has_headings, page.problems)
    return page


def _is_way_to_chapters(document: ReadDocument) -> bool:
    own = _without_links(document)
    return len(own.split()) < INDEX_WORDS and not must_be_kept(own)


def _markdown_page(content: bytes, source: str, used: UsedSlugs) -> ReadDocument:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    (document,) = read_markdown_text(text, source).documents
    document.keeps_names = False
    for section in document.sections:
        if section.slug in used:
            section.slug, section.is_named = used.free(section.slug), False
        used.add(section.slug)
    return document


def _without_links(document: ReadDocument) -> str:
    bodies = " ".join(section.body for section in document.sections)
    return re.sub(r"\[[^\]]*\]\([^)]*\)", "", bodies)


def _left_out(archive: Archive, pages: list[str]) -> list[FileProblem]:
    """What is in the archive and is not read, as far as somebody may miss it."""
    texts = [name for name in archive.members if name.lower().endswith(OTHER_TEXTS)]
    problems = [FileProblem(name, "not_in_a_zip") for name in sorted(texts) if not _is_hidden(name)]
    others = sum(_is_page(name) for name in archive.members) - len(pages)
    return [*problems, FileProblem("", "other_language", str(others))] if others else problems


def _is_page(name: str) -> bool:
    return name.lower().endswith(PAGES) and not _is_hidden(name)


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def _is_markdown(name: str) -> bool:
    return name.lower().endswith((".md", ".markdown"))


def _is_index(name: str) -> bool:
    return bool(_INDEX.match(source_name(name)))


def _in_language(archive: Archive, language: str) -> list[str]:
    """The pages by name; when some are marked with the language, not those of the other."""
    pages = sorted((name for name in archive.members if _is_page(name)), key=_natural)
    if any(language_of(name) == language for name in pages):
        return [name for name in pages if language_of(name) in ("", language)]
    return pages


def _natural(name: str) -> list[tuple[int, str]]:
    """So that chapter 10 comes after chapter 9."""
    return [(int(part or 0) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", name)]


def _ordered(archive: Archive, pages: list[str]) -> list[str]:
    """The index first, then the pages as it links them, then the others by name."""
    indexes = [name for name in pages if _is_index(name) and not _is_markdown(name)]
    if not indexes:
        return pages
    index = min(indexes, key=lambda name: (name.count("/"), name))
    known = set(pages)
    linked = dict.fromkeys(each for each in _links(archive, index) if each in known)
    return list(dict.fromkeys([index, *linked, *pages]))


def _links(archive: Archive, index: str) -> list[str]:
    folder = PurePosixPath(index).parent
    links = []
    for link in parse(archive.read(index)).find_all("a", href=True):
        path = unquote(urldefrag(str(link["href"])).url)
        links.append(str(folder / path))
    return links


def _source(name: str, called: str, taken: UsedSlugs) -> str:
    """The page's name; two of one name in different folders are told apart by these.

    HTML pages have the same names in every manual ("ch01"), so the archive's goes before.
    """
    source = source_name(name)
    if not _is_markdown(name):
        source = called if _is_index(name) else f"{called}-{source}"
    if source in taken:
        folders = PurePosixPath(name).parent.parts
        source = taken.free(slugify("-".join([*folders[-1:], source])))
    taken.add(source)
    return source
