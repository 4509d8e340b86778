"""What has changed between two texts, word by word, as a reader follows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from itertools import groupby
from typing import Literal

from app.jobs.system_threads import RealThreads

Kind = Literal["same", "removed", "added", "gap"]
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]+")
# Comparing so many words, or lines, with so many others takes longer than anybody waits.
MOST_COMPARED, MOST_LINES = 1_000_000, 4_000_000
# A passage of which less than this has stayed, or that is this many times as long with what
# stands between, has been written anew.
LEAST_KEPT, MOST_GROWN = 0.4, 4
# Beside a change, so much of what stayed is shown where the rest is left out.
AROUND = 160
# Some hundredths of a second. From so many pieces on the matcher leaves out the frequent ones.
MOST_EFFORT, LONG = 2_000_000, 200
_COMPARING = RealThreads(1, holds_nothing=True)


@dataclass(frozen=True)
class Change:
    """A run of text that stayed, went, or came; a gap stands for what is left out."""

    kind: Kind
    text: str


class Effort:
    """What comparing may still cost, once or for a whole page.

    It is equal pairs, each of which may be met as often as there are pieces. The matcher leaves
    out what is frequent in long texts, and in no short ones.
    """

    def __init__(self) -> None:
        self._left = MOST_EFFORT

    def allows(self, old: Sequence[str], new: Sequence[str]) -> bool:
        """Whether these two may be compared; then they have been paid for."""
        often = Counter(new)
        most = 1 + len(new) // 100 if len(new) >= LONG else len(new)
        pairs = sum(often[piece] for piece in old if often[piece] <= most)
        self._left -= pairs * min(len(old), len(new))
        return self._left >= 0


def compare(before: str, after: str, effort: Effort | None = None) -> list[Change]:
    """How `before` became `after`: by lines first, then by words within what differs.

    Where that would take long, what differs is shown as a whole. Nobody else's page waits.
    Comparisons that share an `effort` are to take no longer together than one by itself.
    """
    return _COMPARING.run(partial(_compare, before, after, effort or Effort()))


def _compare(before: str, after: str, effort: Effort) -> list[Change]:
    if before == after:
        return _same(before)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first, last = _stayed(old, new)
    opening, closing = "".join(old[:first]), "".join(old[len(old) - last :])
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    changes = [
        *_same(opening),
        *_compare_lines(old, new, effort),
        *_same(closing),
    ]
    return list(_joined(changes))


def _stayed(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many pieces are the same at the beginning of both, and how many of the rest at the end.

    Most changes are few and stand together: looking at what they stand between costs nothing.
    """
    most = min(len(old), len(new))
    first = next((at for at in range(most) if old[at] != new[at]), most)
    rest = most - first
    last = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    return first, last


def _same(text: str) -> list[Change]:
    return [Change("same", text)] if text else []


def _compare_lines(old: Sequence[str], new: Sequence[str], effort: Effort) -> list[Change]:
    before, after = "".join(old), "".join(new)
    if len(old) * len(new) > MOST_LINES or not effort.allows(old, new):
        return _whole(before, after)
    changes: list[Change] = []
    matcher = SequenceMatcher(None, old, new)
    for kind, first, last, start, end in matcher.get_opcodes():
        gone, come = "".join(old[first:last]), "".join(new[start:end])
        if kind == "equal":
            changes.append(Change("same", gone))
        else:
            changes += _compare_words(gone, come, effort)
    return changes


def abridged(changes: Sequence[Change]) -> list[Change]:
    """The changes without the middle of what stayed, where much of it stands between two."""
    shown: list[Change] = []
    for place, change in enumerate(changes):
        if change.kind != "same" or len(change.text) <= 2 * AROUND:
            shown.append(change)
            continue
        if place > 0:
            shown.append(Change("same", change.text[:AROUND]))
        shown.append(Change("gap", ""))
        if place < len(changes) - 1:
            shown.append(Change("same", change.text[-AROUND:]))
    return shown


def compare_within(quote: str, body: str) -> list[Change]:
    """How a passage stands now in the text it came from, without what surrounds it there.

    Empty when too little of it is left to be called the same passage. Nobody else's page waits.
    """
    return _COMPARING.run(partial(_compare_within, quote, body))


def _compare_within(quote: str, body: str) -> list[Change]:
    old, new = _TOKEN.findall(quote), _TOKEN.findall(body)
    if len(old) * len(new) > MOST_COMPARED or not Effort().allows(old, new):
        return []
    changes = _by_words(old, new)
    same = [place for place, change in enumerate(changes) if _says_the_same(change)]
    stayed = sum(len(changes[place].text) for place in same)
    if not same or stayed < LEAST_KEPT * len(quote):
        return []
    inner = [
        change
        for place, change in enumerate(changes)
        if change.kind != "added" or same[0] < place < same[-1]
    ]
    if sum(len(change.text) for change in inner) > MOST_GROWN * len(quote):
        return []
    return list(_joined(inner))


def _says_the_same(change: Change) -> bool:
    return change.kind == "same" and any(sign.isalnum() for sign in change.text)


def _compare_words(before: str, after: str, effort: Effort) -> list[Change]:
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    first, last = _stayed(old, new)
    opening, closing = "".join(old[:first]), "".join(old[len(old) - last :])
    inner = _compare_inner(old[first : len(old) - last], new[first : len(new) - last], effort)
    return [*_same(opening), *inner, *_same(closing)]


def _compare_inner(old: list[str], new: list[str], effort: Effort) -> list[Change]:
    if len(old) * len(new) > MOST_COMPARED or not effort.allows(old, new):
        return _whole("".join(old), "".join(new))
    return _by_words(old, new)


def _whole(before: str, after: str) -> list[Change]:
    changes = [Change("removed", before), Change("added", after)]
    return [change for change in changes if change.text]


def _by_words(old: list[str], new: list[str]) -> list[Change]:
    changes: list[Change] = []
    matcher = SequenceMatcher(None, old, new)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            changes.append(Change("same", "".join(old[first:last])))
            continue
        changes.append(Change("removed", "".join(old[first:last])))
        changes.append(Change("added", "".join(new[start:end])))
    return [change for change in changes if change.text]


def _joined(changes: Iterable[Change]) -> Iterator[Change]:
    """A blank between two changed words belongs to the change: it reads as one."""
    gone, come = "", ""
    for change in _merged(changes):
        if change.kind == "same" and (change.text.strip() or not (gone or come)):
            yield from _flush(gone, come)
            gone = come = ""
            yield change
        else:
            gone += change.text if change.kind != "added" else ""
            come += change.text if change.kind != "removed" else ""
    yield from _flush(gone, come)


def _merged(changes: Iterable[Change]) -> Iterator[Change]:
    """The same, with neighbours of one kind as one."""
    for kind, run in groupby(changes, key=lambda change: change.kind):
        yield Change(kind, "".join(change.text for change in run))


def _flush(gone: str, come: str) -> Iterator[Change]:
    if gone == come:
        yield from [Change("same", gone)] if gone else []
        return
    yield from [Change("removed", gone)] if gone else []
    yield from [Change("added", come)] if come else []
