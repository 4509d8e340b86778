"""Markdown files: read as the command line has always read them."""

from __future__ import annotations

import re

from app.skills.knowledge.markdown_import import ImportProblem, ParsedDocument, parse_markdown
from app.skills.knowledge.reading.result import ReadDocument, Reading, ReadSection, Unreadable

_NAMED = re.compile(r"^#{1,6}[ \t].*\{#([a-z0-9-]+)\}[ \t]*$", re.MULTILINE)


def read_markdown_text(text: str, source: str) -> Reading:
    """The one document of a Markdown text.

    Raises:
        Unreadable: it has no text, two sections of one name, or broken front matter.
    """
    try:
        parsed = parse_markdown(text, source)
    except ImportProblem as problem:
        raise Unreadable(problem.code, problem.detail) from None
    return Reading(documents=[_document(parsed, set(_NAMED.findall(text)))])


def _document(parsed: ParsedDocument, named: set[str]) -> ReadDocument:
    places = {id(section): place for place, section in enumerate(parsed.sections)}
    sections = [
        ReadSection(
            slug=section.slug,
            title=section.title,
            level=section.level,
            parent=places[id(section.parent)] if section.parent else None,
            body=section.body,
            is_named=section.slug in named,
        )
        for section in parsed.sections
    ]
    return ReadDocument(parsed.source, sections)
