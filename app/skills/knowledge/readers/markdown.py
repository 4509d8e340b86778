"""Markdown files: the kind in their front matter, and names that hold for good."""

from __future__ import annotations

import re

from app.skills.knowledge.readers.result import ReadDocument, Reading, ReadSection, Unreadable
from app.skills.knowledge.services.markdown_import import (
    ImportProblem,
    ParsedDocument,
    parse_markdown,
)

_NAMED = re.compile(r"^#{1,6}[ \t].*\{#([a-z0-9-]+)\}[ \t]*$", re.MULTILINE)


def read_markdown_text(text: str, source: str) -> Reading:
    """The one document of a Markdown text.

    Raises:
        Unreadable: it has no text, two sections of one name, or broken front matter.
    """
    try:
        parsed = parse_markdown(text, source, "")
    except ImportProblem as problem:
        raise Unreadable(problem.code, problem.detail) from None
    return Reading(documents=[_document(parsed, set(_NAMED.findall(text)))])


def _document(parsed: ParsedDocument, named: set[str]) -> ReadDocument:
    places = {id(section): place for place, section in enumerate(parsed.sections)}
    sections: list[ReadSection] = []
    for section in parsed.sections:
        parent = places[id(section.parent)] if section.parent else None
        # Levels that the headings skip are not there: a tree has no empty storeys.
        level = 0 if parent is None else sections[parent].level + 1
        is_named = section.slug in named
        sections.append(
            ReadSection(section.slug, section.title, level, parent, section.body, is_named)
        )
    return ReadDocument(parsed.source, sections, parsed.kind, keeps_names=True)
