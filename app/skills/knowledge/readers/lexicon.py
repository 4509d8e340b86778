"""The words of `words.yaml`: what columns and cells are called, and patterns of what texts say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.text.yaml_file import read_yaml

_WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))


def named(section: str) -> tuple[str, ...]:
    """The names of a section that is parted by commas."""
    return _names(_WORDS[section])


def named_by(section: str) -> dict[str, tuple[str, ...]]:
    """The names of a section, by what they stand for."""
    return {meant: _names(names) for meant, names in _WORDS[section].items()}


def either(name: str) -> str:
    """The lines of a pattern, as a part of a larger one."""
    return f"(?:{'|'.join(_WORDS['patterns'][name])})"


def compiled(name: str, flags: int = 0) -> re.Pattern[str]:
    """The lines of a pattern by itself."""
    return re.compile("|".join(_WORDS["patterns"][name]), flags)


def _names(written: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in written.split(","))
