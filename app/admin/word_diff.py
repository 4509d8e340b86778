"""What changed between two texts, word by word, for templates that mark it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

# Comparing takes longer than anybody waits when both are longer; then they are shown whole.
MOST_WORDS = 12_000
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class Stretch:
    """Some words that stayed, came or went."""

    kind: Literal["same", "added", "removed"]
    text: str


def word_diff(before: str, after: str) -> list[Stretch]:
    """The stretches of both texts in reading order; what went stands before what came."""
    return [each for each in _stretches(before, after) if each.text]


def _stretches(before: str, after: str) -> Iterator[Stretch]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS and before != after:
        yield Stretch("removed", before)
        yield Stretch("added", after)
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            yield Stretch("same", "".join(old[start:end]))
        else:
            yield Stretch("removed", "".join(old[start:end]))
            yield Stretch("added", "".join(new[new_start:new_end]))
