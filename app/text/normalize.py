"""Text as search compares it: without case and without accents.

`fold` does in Python what `fold_text` does in the database (see the search migration), so
that a match found by one is a match for the other; a test holds them together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from app.text.lexicon import WORDS
from app.text.plain_text import shorten_marks

_ACCENTS = re.compile("[\u0300-\u036f]+")
WORD = re.compile(r"[^\W_]+")
_NOT: Mapping[str, str] = WORDS["contracted"]["with_not"]
_OTHERS = WORDS["contracted"]["others"].split()
_CONTRACTED = re.compile(rf"(?i)\b({'|'.join([*_NOT, *_OTHERS])})n['\u2019]?t\b")
_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe"})


def fold(text: str) -> str:
    """Lower case without accents: "Jalapeño" becomes "jalapeno", "Œuf" becomes "oeuf"."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", shorten_marks(text)))
    return bare.lower().translate(_LIGATURES)


def words(text: str) -> list[str]:
    """The folded words of `text`, in order: letters and digits, no signs."""
    return WORD.findall(fold(text))


def plain_words(text: str) -> str:
    """The folded words of `text` with one blank between them: what patterns are held against."""
    return " ".join(words(text))


def spell_out(text: str) -> str:
    """The text with "isnt", "isn't" and "aint" as "is not", "wont" as "won't", and the like."""
    return _CONTRACTED.sub(lambda found: _NOT.get(found[1].lower(), f"{found[1]}n't"), text)


def split_marked(text: str, is_match: Callable[[str], bool]) -> list[tuple[str, bool]]:
    """`text` cut into pieces, each with whether it is a word whose folded form matches."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for found in WORD.finditer(text):
        if is_match(fold(found[0])):
            pieces += [(text[end : found.start()], False), (found[0], True)]
            end = found.end()
    return [piece for piece in [*pieces, (text[end:], False)] if piece[0]]
