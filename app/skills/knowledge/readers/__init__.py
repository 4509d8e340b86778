"""From an uploaded file to what stands in it: documents of sections, or the rows of a menu.

Nothing here knows a database or a request. Who has a file that a stranger chose calls
`read_apart`, which reads it in a process of its own; `read_file` is the same in this one.
"""

from __future__ import annotations

from app.skills.knowledge.readers.problems import place_text, problem_text, step_text
from app.skills.knowledge.readers.result import (
    LIMITS,
    READER,
    STEPS,
    FileProblem,
    Limits,
    OnProgress,
    ReadDocument,
    Reading,
    ReadRow,
    ReadSection,
)
from app.skills.knowledge.readers.sandbox import read_apart

__all__ = [
    "LIMITS",
    "READER",
    "STEPS",
    "FileProblem",
    "Limits",
    "OnProgress",
    "ReadDocument",
    "ReadRow",
    "ReadSection",
    "Reading",
    "place_text",
    "problem_text",
    "read_apart",
    "read_file",
    "step_text",
]


def read_file(
    content: bytes,
    filename: str,
    target: str,
    language: str,
    on_progress: OnProgress = lambda step, done, total: None,
    limits: Limits = LIMITS,
) -> Reading:
    """Read a file for `target`, a kind of section or of product; never raises for a bad file.

    What is wrong stands in the reading's problems; after a fatal one there is nothing else.
    """
    # Only who reads pays for loading the readers' libraries.
    from app.skills.knowledge.readers.formats import read

    return read(content, filename, target, language, on_progress, limits)
