"""The words of `words.yaml` as patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from app.text.yaml_file import read_yaml

# In a masked sentence these letters stand where a sum, a time, a note, a named category, an
# "each" behind a sum, and something that needs no more reading was said; nobody types them.
SUM, TIME, NOTE, CATEGORY, EACH, NOTHING = "¤†‡§¶¬"
MASKS = f"[{SUM}{TIME}{NOTE}{CATEGORY}{EACH}{NOTHING}]"
_WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))
FIELDS: tuple[str, ...] = tuple(_WORDS["fields"])


@cache
def either(*path: str) -> str:
    """The pattern of a section's words in either language; whole words only."""
    return rf"(?<!\w){one_of(*path)}(?!\w)"


def one_of(*path: str) -> str:
    """The same for a larger pattern, which says itself where a word begins and ends."""
    section = _WORDS
    for name in path:
        section = section[name]
    lines = "|".join(line for words in section.values() for line in words.splitlines())
    # What both languages say stands there once: read in two ways, "no no no …" takes for ever.
    said = dict.fromkeys(_alternatives(lines))
    return f"(?:{'|'.join(said)})".replace("@", TIME).replace("#", SUM)


def _alternatives(pattern: str) -> Iterator[str]:
    """The alternatives of a pattern, and not those within its brackets."""
    depth, begin = 0, 0
    for place, sign in enumerate(pattern):
        is_plain = place == 0 or pattern[place - 1] != "\\"
        depth += is_plain * ((sign in "([") - (sign in ")]"))
        if sign == "|" and depth == 0:
            yield pattern[begin:place]
            begin = place + 1
    yield pattern[begin:]


def compiled(*path: str) -> re.Pattern[str]:
    """The words of a section, to be looked for in folded text."""
    return re.compile(either(*path))


def listed(name: str) -> frozenset[str]:
    """The plain words of a list."""
    return frozenset(_WORDS[name].split())


def places() -> dict[str, int]:
    """The words that say which of several is meant, with its place; -1 is the last one's."""
    return {word: place for place, said in _WORDS["places"].items() for word in said.split()}
