"""What changed between two texts, word by word, for people to see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
# Around a change, so much of what stayed is shown; the rest is left out.
AROUND = 160
# Texts with more words than this are compared line by line: people would not wait for it.
MOST_WORDS = 8_000


@dataclass(frozen=True)
class Stretch:
    """A piece of text that stayed, went (`out`) or came (`in`); `gap`: some is left out."""

    kind: str
    text: str


def compare_words(before: str, after: str) -> list[Stretch]:
    """The text as it becomes with what goes and comes marked; long stays are shortened."""
    old, new = _pieces(before), _pieces(after)
    if len(old) + len(new) > MOST_WORDS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    stretches: list[Stretch] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            stretches.append(Stretch("same", "".join(old[i:j])))
            continue
        if j > i:
            stretches.append(Stretch("out", "".join(old[i:j])))
        if m > k:
            stretches.append(Stretch("in", "".join(new[k:m])))
    return _shortened(stretches)


def _pieces(text: str) -> list[str]:
    return _PIECES.findall(text)


def _shortened(stretches: list[Stretch]) -> list[Stretch]:
    """Leave out the middle of what stayed, where much of it stands between two changes."""
    shown: list[Stretch] = []
    last = len(stretches) - 1
    for number, stretch in enumerate(stretches):
        if stretch.kind != "same" or len(stretch.text) <= 2 * AROUND:
            shown.append(stretch)
            continue
        if number > 0:
            shown.append(Stretch("same", stretch.text[:AROUND]))
        shown.append(Stretch("gap", ""))
        if number < last:
            shown.append(Stretch("same", stretch.text[-AROUND:]))
    return _without_double_gaps(shown)


def _without_double_gaps(stretches: list[Stretch]) -> list[Stretch]:
    doubles = {
        number
        for number, (one, other) in enumerate(pairwise(stretches))
        if one.kind == other.kind == "gap"
    }
    return [stretch for number, stretch in enumerate(stretches) if number not in doubles]
