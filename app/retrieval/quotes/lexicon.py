"""The words by which passages are quoted, read once from words.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.text.yaml_file import read_yaml

# Each as the alternatives of a pattern.
WORDS: Mapping[str, str] = {
    name: "|".join(lines)
    for name, lines in read_yaml(Path(__file__).with_name("words.yaml")).items()
}
