"""Telling keyboard noise from a question that uses words nobody has used before."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from app.nlu.lexicon import SOFTENERS
from app.text.normalize import words
from app.text.stems import FILLER_WORDS, content_words

# With this share of letter triples that known words have too, it may be a word.
_LIKE_A_WORD = 0.5
_SHORTEST_WORD = 3
_MOST_REPEATED = 3
_SHORT_WORD, _SMALL_WORDS = 4, 2
_VOWEL = re.compile("[aeiou]")


class WordShapes:
    """Which letters follow which in the words of both languages."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known) | FILLER_WORDS | SOFTENERS
        self._triples = frozenset(triple for word in self._known for triple in _triples(word))

    def is_nonsense(self, text: str, found: Collection[str] = ()) -> bool:
        """True when no word of `text` is known, found in the group's texts, or like a word."""
        letters = [word for word in words(text) if not word.isdecimal()]
        if not letters:
            return True
        content = content_words(text)
        if not content:
            return len(letters) < _SHORTEST_WORD
        # Short words have few letters to go by; small words around them make a sentence.
        in_sentence = len(letters) - len(content) >= _SMALL_WORDS
        return not any(
            word.isdecimal()
            or word in self._known
            or word in found
            or self._is_like_a_word(word)
            or (in_sentence and len(word) <= _SHORT_WORD and bool(_VOWEL.search(word)))
            for word in content
        )

    def _is_like_a_word(self, word: str) -> bool:
        if len(word) < _SHORTEST_WORD or not _VOWEL.search(word) or _repeats(word):
            return False
        triples = _triples(word)
        return sum(triple in self._triples for triple in triples) >= _LIKE_A_WORD * len(triples)


def _triples(word: str) -> list[str]:
    marked = f"^{word}$"
    return [marked[i : i + 3] for i in range(len(marked) - 2)]


def _repeats(word: str) -> bool:
    """ "aaaaaa" and "hahaha" repeat themselves; "banana" hardly does."""
    return any(letter * (_MOST_REPEATED + 1) in word for letter in set(word))
