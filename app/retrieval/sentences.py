"""Cutting English and Spanish text into sentences, with their exact places.

Answers are extractive: a sentence found here is quoted and its place highlighted, so
`text[start:end]` is the sentence, always.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.text.normalize import fold

# A sign that ends a sentence with its closing quotes and brackets, or a blank line.
_ENDING = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*(?=\s)|\n[ \t]*\n")
# Lines that stand alone in Markdown: items, quotes and table rows begin, headings end one.
_LINE = re.compile(r"\n(?=[ \t]*(?:[-*+•>|#]|\d{1,3}[.)][ \t]))|(?<=\n)#[^\n]*\n|\A#[^\n]*\n")
_SAID = re.compile(r"\S")
# The number that begins a line, and how far in it may stand.
_NUMBER_OF_ITEM = re.compile(r"\n[ \t]*\d{1,3}\Z")
DEEPEST_ITEM = 80
# Folded, without the stop: after these a sentence goes on, after those before a number.
_TITLES = frozenset(
    "mr mrs ms dr dra drs prof st sr sra srta sres jr vs e.g i.e p.ej ud uds".split()
)
_COUNTED = frozenset(
    "no nos num fig p pp pag pags art approx aprox max min tel ext jan feb mar apr jun jul aug"
    " sep sept oct nov dec ene abr ago dic".split()
)


@dataclass(frozen=True)
class Sentence:
    """One sentence; `start` and `end` are character offsets in the text it came from."""

    text: str
    start: int
    end: int


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of `text` in order, without the white space between them.

    Blank lines, headings, list items and table rows end a sentence too. An abbreviation,
    an initial, or a stop before a small letter does not.
    """
    return [
        Sentence(text[start:end], start, end)
        for start, end in (_trim(text, *span) for span in _spans(text))
        if start < end
    ]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Cut `text` at every boundary: the pieces cover it without gap or overlap."""
    start = 0
    for end in _boundaries(text):
        if end > start:
            yield start, end
            start = end
    yield start, len(text)


def _boundaries(text: str) -> list[int]:
    ends = {match.end() for match in _ENDING.finditer(text) if _ends_sentence(text, match)}
    ends.update(match.end() for match in _LINE.finditer(text))
    return sorted(ends)


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if not match.group().strip():
        return True
    said = _SAID.search(text, match.end())
    following = said[0] if said else ""
    if match.group() != ".":
        return not following.islower()
    before = text[max(0, match.start() - 12) : match.start()]
    last_word = re.split(r"[\s(\[\"“«]", before)[-1]
    if fold(last_word) in _TITLES or (len(last_word) == 1 and last_word.isupper()):
        return False
    if following.isdecimal() and fold(last_word) in _COUNTED:
        return False
    # "1. Wash" is an item of a list; "at 41. Then" ends a sentence.
    line = text[max(0, match.start() - DEEPEST_ITEM) : match.start()]
    if _NUMBER_OF_ITEM.search(line if len(line) == DEEPEST_ITEM else f"\n{line}"):
        return False
    return not following.islower()


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
