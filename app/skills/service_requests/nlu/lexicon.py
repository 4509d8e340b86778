"""The words of `words.yaml` as patterns and phrases, to be looked for in folded text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.text.yaml_file import read_yaml

_WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))
# They begin what many things do.
SYMPTOMS: tuple[str, ...] = tuple(f"{words} " for words in _WORDS["symptoms"])
# Questions that ask for nothing in particular.
EMPTY_QUESTIONS: tuple[str, ...] = tuple(_WORDS["empty_questions"])


def either(name: str) -> str:
    """The lines of a section, as a part of a larger pattern."""
    return f"(?:{_joined(_WORDS[name])})"


def compiled(name: str) -> re.Pattern[str]:
    """The lines of a section, as a pattern of its own."""
    return re.compile(_joined(_WORDS[name]))


def priority_words(name: str) -> tuple[tuple[str, str], ...]:
    """Each priority and what it is said with, in the order of `exact`, `vague` or `alone`."""
    return tuple((level, _joined(lines)) for level, lines in _WORDS["priorities"][name].items())


def _joined(lines: list[str]) -> str:
    return "|".join(lines)
