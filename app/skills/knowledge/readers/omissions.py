"""What a reader leaves out: what it never may, and how the rest is told.

Navigation and page furniture may go. A text that names an allergen, or warns, may not, wherever
on a page it stands: people eat by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.nlu.lexicon import allergens_in
from app.skills.knowledge.readers.lexicon import compiled, either
from app.skills.knowledge.readers.result import FileProblem
from app.text.normalize import fold, plain_words, words

# So many texts or tables are named, each with the first of its words.
MOST_LISTED, LONGEST_DETAIL = 20, 120
_WARNS = re.compile(rf"\b{either('warns')}\b")
_FURNITURE = compiled("furniture")


def must_be_kept(text: str) -> bool:
    """Whether the text names an allergen, or warns, in either language."""
    return _WARNS.search(plain_words(text)) is not None or any(allergens_in(text))


def says_nothing(text: str) -> bool:
    """Whether it is but a page's number, a copyright, or signs."""
    return all(word.isdecimal() for word in words(_FURNITURE.sub(" ", fold(text))))


def left_out(texts: Iterable[str], place: str = "") -> list[FileProblem]:
    """A problem for each of the texts that has words."""
    shown = (shorten(text) for text in texts if words(text))
    return [FileProblem(place, "left_out", text) for text in dict.fromkeys(shown)]


def uneven_table(first_row: Iterable[str], place: str = "") -> FileProblem:
    """The problem of a table whose rows are not of one width; it is called by its first row."""
    named = dict.fromkeys(text.strip() for text in first_row if text.strip())
    return FileProblem(place, "uneven_table", shorten(", ".join(named)))


def listed(problems: Iterable[FileProblem]) -> list[FileProblem]:
    """Each problem once, wherever it stands; of too many the others are counted."""
    once = {(each.code, each.detail): each for each in reversed(list(problems))}
    named = list(once.values())[::-1]
    more = len(named) - MOST_LISTED
    if more <= 0:
        return named
    return [*named[:MOST_LISTED], FileProblem("", "and_more", str(more))]


def shorten(text: str) -> str:
    """The text on one line, cut after a word where it is too long."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_DETAIL:
        return line
    return line[: LONGEST_DETAIL - 1].rsplit(" ", 1)[0] + "…"
