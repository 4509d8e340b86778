"""The utterances that should lead to a skill's tools, as they stand in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from app.text.yaml_file import read_yaml

Examples = Mapping[str, tuple[str, ...]]


@cache
def load_examples(path: Path) -> Mapping[str, Examples]:
    """The utterances of a file, by tool and language."""
    loaded: Mapping[str, Mapping[str, list[str]]] = read_yaml(path)
    return {
        tool: {language: tuple(lines) for language, lines in by_language.items()}
        for tool, by_language in loaded.items()
    }
