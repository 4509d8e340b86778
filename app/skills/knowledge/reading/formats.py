"""Which kind of file it is, found by what stands in it, and the reader of that kind."""

from __future__ import annotations

from app.skills.knowledge.reading.markdown import read_markdown_text
from app.skills.knowledge.reading.result import Limits, OnProgress, Reading, Unreadable
from app.skills.knowledge.reading.source import source_name


def read(
    content: bytes,
    filename: str,
    target: str,
    language: str,
    on_progress: OnProgress,
    limits: Limits,
) -> Reading:
    try:
        if not content.strip():
            raise Unreadable("empty_file")
        on_progress("opening", 0, 1)
        return read_markdown_text(content.decode("utf-8-sig"), source_name(filename))
    except Unreadable as failure:
        return Reading(problems=[failure.problem])
