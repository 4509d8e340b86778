"""What the days of the week and the months are called, folded, in full and for short."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from app.text.lexicon import WORDS
from app.text.numbers import in_order

Words = Mapping[str, Mapping[str, int]]


def _in_order(name: str, first: int) -> Words:
    """The words of both languages, each with its number."""
    return {language: in_order(line, first) for language, line in WORDS["calendar"][name].items()}


# By language; Monday is 0, and January is 1.
WEEKDAYS, SHORT_WEEKDAYS = _in_order("weekdays", 0), _in_order("short_weekdays", 0)
MONTHS, SHORT_MONTHS = _in_order("months", 1), _in_order("short_months", 1)
ALL_WEEKDAYS = {**WEEKDAYS["en"], **WEEKDAYS["es"]}
_VOWELS = {"a": "[aá]", "e": "[eé]", "i": "[ií]", "o": "[oó]", "u": "[uúü]"}


def either_of(words: Collection[str], *, accents: bool = False) -> str:
    """A pattern of these words, the longest first; in text that is not folded with `accents`."""
    pattern = "|".join(sorted(words, key=lambda word: (-len(word), word)))
    return re.sub("[aeiou]", lambda vowel: _VOWELS[vowel[0]], pattern) if accents else pattern
