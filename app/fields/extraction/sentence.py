"""What was said, folded letter by letter, so that whatever is found can be shown as it was said."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from app.fields.extraction.lexicon import either
from app.text.normalize import fold
from app.text.plain_text import compose

_BREAK = re.compile(
    rf"[;!?\n]|\.(?=\s|$)|,(?!\d)|\b(?:{either('sentence', 'breaks')})\b", re.IGNORECASE
)
# What turns the words after it, in the same clause, into their opposite.
_NEGATION = re.compile(rf"\b(?:{either('sentence', 'negation')})\b")
# What denies the very next thing: "not the slicer", "no fue el lunes".
_DENIAL = re.compile(
    rf"(?:\b(?:{either('sentence', 'denial')})|n't)(?: (?:{either('sentence', 'between')}))*$"
)
# Patterns would go through a run of blanks from each of them.
_LONG_GAP = re.compile(r"(\s{8})\s+")
NEAR = 5
# More than that of one kind are a table; each is compared with all others that were found.
MOST_FOUND = 60
# More letters than that many words have.
_FAR = 120


class Span(NamedTuple):
    """From which letter to which."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass
class Sentence:
    """`folded` has as many letters as `text`; `taken` is what has been understood already."""

    text: str
    folded: str
    taken: list[Span] = field(default_factory=list)

    @classmethod
    def of(cls, said: str) -> Sentence:
        text = compose(_LONG_GAP.sub(r"\1", said).replace("\u2019", "'").replace("\u2018", "'"))
        letters = ((letter, fold(letter)) for letter in text)
        folded = "".join(bare if len(bare) == 1 else letter for letter, bare in letters)
        return cls(text, folded)

    def words(self, span: Span) -> str:
        """What was said there."""
        return self.text[span.start : span.end]

    def take(self, span: Span) -> None:
        self.taken.append(span)

    def is_free(self, span: Span) -> bool:
        return not any(span.overlaps(each) for each in self.taken)

    def find(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """The places of a pattern, in the folded words, that are free; the first `MOST_FOUND`."""
        matches = pattern.finditer(self.folded)
        yield from islice((m for m in matches if self.is_free(Span(*m.span()))), MOST_FOUND)

    @cached_property
    def _breaks(self) -> list[Span]:
        return [Span(*match.span()) for match in _BREAK.finditer(self.folded)]

    def clause(self, span: Span) -> Span:
        """From the break before a place to the one after it."""
        before = bisect_right(self._breaks, span.start, key=lambda each: each.end)
        after = bisect_left(self._breaks, span.end, key=lambda each: each.start)
        start = self._breaks[before - 1].end if before else 0
        end = self._breaks[after].start if after < len(self._breaks) else len(self.folded)
        return Span(start, end)

    def before(self, span: Span, most: int = NEAR) -> str:
        """The words of its clause that stand before a place, at most so many."""
        start = max(self.clause(span).start, span.start - _FAR)
        return " ".join(self.folded[start : span.start].split()[-most:])

    def after(self, span: Span, most: int = NEAR) -> str:
        """The words of its clause that stand after a place, at most so many."""
        end = min(self.clause(span).end, span.end + _FAR)
        return " ".join(self.folded[span.end : end].split()[:most])

    def is_negated(self, span: Span) -> bool:
        """Whether a "not" stands shortly before a place, in its clause."""
        return bool(_NEGATION.search(self.before(span, 4)))

    def is_denied(self, span: Span) -> bool:
        """Whether a "not" is about this thing itself: "no sirve la freidora" speaks of one."""
        return bool(_DENIAL.search(self.before(span, 5)))

    @property
    def has_capitals(self) -> bool:
        """Whether whoever said it writes names with capitals: one after the first letter."""
        return any(letter.isupper() for letter in self.text.strip()[1:])
