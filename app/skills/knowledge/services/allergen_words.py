"""The foods of `allergen_foods.yaml`, and the patterns of `allergen_words.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from app.text.normalize import fold
from app.text.yaml_file import read_yaml

_FOLDER = Path(__file__).parent
_PATTERNS: Mapping[str, list[str]] = read_yaml(_FOLDER / "allergen_words.yaml")
# What an allergen is in, by every name of it, and by every sign for it.
_NAMED = {
    fold(name.strip()): code
    for code, names in read_yaml(_FOLDER / "allergen_foods.yaml").items()
    for name in names.split(",")
}
FOODS: Mapping[str, str] = {name: code for name, code in _NAMED.items() if name[0].isalpha()}
SIGNS: Mapping[str, str] = {name: code for name, code in _NAMED.items() if name not in FOODS}


def either(name: str) -> str:
    """The lines of a pattern, as a part of a larger one."""
    return f"(?:{'|'.join(_PATTERNS[name])})"


def compiled(name: str) -> re.Pattern[str]:
    """The lines of a pattern by itself."""
    return re.compile("|".join(_PATTERNS[name]))
