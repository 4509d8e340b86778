"""The general words of both languages, read once from lexicon.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from app.text.normalize import words
from app.text.yaml_file import read_yaml

# A phrase as its folded words, so that "what's up" and "What’s up?" are the same.
Phrase = tuple[str, ...]


def read_phrases(lines: Iterable[str]) -> tuple[Phrase, ...]:
    """The longest first: "good night" is found before "good"."""
    phrases = {tuple(words(line)) for line in lines}
    return tuple(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


_LEXICON: Mapping[str, Any] = read_yaml(Path(__file__).with_name("lexicon.yaml"))

FRAME_WORDS = frozenset(" ".join(_LEXICON["frame"].values()).split())
SMALL_TALK: dict[str, tuple[Phrase, ...]] = {
    kind: read_phrases(lines) for kind, lines in _LEXICON["small_talk"].items()
}
SOFTENERS = frozenset(_LEXICON["softeners"].split())
# What only questions begin with, and what they begin with among others.
QUESTION_WORDS = frozenset(_LEXICON["question_words"].split())
ASKING_WORDS = QUESTION_WORDS.union(_LEXICON["asking_words"].split())
_ALLERGEN_NAMES: Mapping[str, tuple[Phrase, ...]] = {
    code: read_phrases(lines) for code, lines in _LEXICON["allergens"].items()
}
# Each name that an allergen is asked for by, and the allergens and families it stands for.
ALLERGENS: Mapping[Phrase, frozenset[str]] = {
    phrase: frozenset(code for code, names in _ALLERGEN_NAMES.items() if phrase in names)
    for names in _ALLERGEN_NAMES.values()
    for phrase in names
}
ALLERGEN_CODES = frozenset(_ALLERGEN_NAMES)
_LONGEST_ALLERGEN = max(map(len, ALLERGENS))


def allergens_in(text: str) -> Iterator[frozenset[str]]:
    """The allergens and families that each name of one in a text may stand for."""
    said = words(text)
    for start in range(len(said)):
        for length in range(1, _LONGEST_ALLERGEN + 1):
            codes = ALLERGENS.get(tuple(said[start : start + length]))
            if codes:
                yield codes
