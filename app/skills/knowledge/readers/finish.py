"""What every reading goes through at its end: cleaned, kept within limits, and counted."""

from __future__ import annotations

import re
from typing import Any

from app.skills.knowledge.readers.result import Limits, Reading, ReadSection, Unreadable
from app.skills.knowledge.readers.tree import shortened, split_long
from app.skills.knowledge.services.sections import LONGEST_BODY
from app.text.plain_text import clean_line, clean_lines
from app.text.slugs import UsedSlugs

_SPACE_AT_END = re.compile(r"(?<=\S)(?:[ \t]|[ \t]{3,})$", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}")


def finish(reading: Reading, limits: Limits) -> Reading:
    """The same reading, ready to be kept.

    Raises:
        Unreadable: there is more of it than may be, or nothing at all.
    """
    for document in reading.documents:
        for section in document.sections:
            _finish_section(section)
    used = UsedSlugs(
        section.slug for document in reading.documents for section in document.sections
    )
    for document in reading.documents:
        split_long(document, used)
    for row in reading.rows:
        row.values = _clean_values(row.values)
    sections = [section for document in reading.documents for section in document.sections]
    words = sum(len(f"{section.title} {section.body}".split()) for section in sections)
    if len(sections) > limits.sections:
        raise Unreadable("too_many_sections")
    for section in sections:
        if len(section.body) > LONGEST_BODY:
            raise Unreadable("section_too_long", section.title)
    if words > limits.words:
        raise Unreadable("too_many_words")
    if reading.documents and not any(section.body for section in sections):
        raise Unreadable("no_sections")
    reading.facts |= {"words": words, "sections": len(sections), "rows": len(reading.rows)}
    return reading


def _finish_section(section: ReadSection) -> None:
    title, body = clean_line(section.title), clean_lines(section.body)
    section.title = shortened(title)
    if section.title != title:
        # A heading that is too long to be a title is read as text too.
        body = f"{title}\n\n{body}".strip()
    section.body = _EMPTY_LINES.sub("\n\n", _SPACE_AT_END.sub("", body))


def _clean_values(value: Any) -> Any:
    if isinstance(value, str):
        return clean_lines(value)
    if isinstance(value, dict):
        return {name: _clean_values(each) for name, each in value.items()}
    return [_clean_values(each) for each in value] if isinstance(value, list) else value
