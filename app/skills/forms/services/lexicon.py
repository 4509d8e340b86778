"""The words of `words.yaml`: how forms are spoken of, and what columns of contacts are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.text.yaml_file import read_yaml

_WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))
# Whoever looks for a form says so; the forms themselves do not.
FORM_WORDS: tuple[str, ...] = tuple(_WORDS["forms"].split())
# What the database takes for content, and names nothing.
VAGUE_WORDS: tuple[str, ...] = tuple(_WORDS["vague"].split())
# They say what kind of paper a form is, and not what it is about.
PAPER_WORDS: str = _WORDS["papers"]
# Who asks for these looks for none in particular.
ALL_FORMS: tuple[str, ...] = tuple(_WORDS["all_forms"])
CONTACT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    field: tuple(names) for field, names in _WORDS["contact_columns"].items()
}


def either(name: str) -> str:
    """The lines of a pattern, as a part of a larger one."""
    return f"(?:{'|'.join(_WORDS['patterns'][name])})"


def compiled(name: str) -> re.Pattern[str]:
    """The lines of a pattern by itself, whatever the case of what they are looked for in."""
    return re.compile("|".join(_WORDS["patterns"][name]), re.IGNORECASE)
