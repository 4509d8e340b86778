"""The general words of both languages, courtesies and names of allergens, read once from YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from app.text.calendar_words import ALL_WEEKDAYS, either_of
from app.text.normalize import words
from app.text.numbers import SMALL_NUMBERS
from app.text.yaml_file import read_yaml

# A phrase as its folded words, so that "what's up" and "What’s up?" are the same.
Phrase = tuple[str, ...]


def read_phrases(lines: Iterable[str]) -> tuple[Phrase, ...]:
    """The longest first: "good night" is found before "good"."""
    phrases = {tuple(words(line)) for line in lines}
    return tuple(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


_FILES = ("lexicon", "courtesies", "named_allergens")
_LEXICON: Mapping[str, Any] = {
    name: words
    for file in _FILES
    for name, words in read_yaml(Path(__file__).with_name(f"{file}.yaml")).items()
}

FRAME_WORDS = frozenset(" ".join(_LEXICON["frame"].values()).split())
SMALL_TALK: dict[str, tuple[Phrase, ...]] = {
    kind: read_phrases(lines) for kind, lines in _LEXICON["small_talk"].items()
}
SOFTENERS = frozenset(_LEXICON["softeners"].split())
# What only questions begin with, and what they begin with among others.
QUESTION_WORDS = frozenset(_LEXICON["question_words"].split())
ASKING_WORDS = QUESTION_WORDS.union(_LEXICON["asking_words"].split())
PLAIN_QUESTIONS: Mapping[str, str] = {
    word: asks for asks, line in _LEXICON["plain_questions"].items() for word in line.split()
}
LOOSE_WORDS = frozenset(_LEXICON["loose_words"].split())
GROUPS_OF_THINGS = frozenset(_LEXICON["groups_of_things"].split())
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
_IN_BRACES = re.compile(r"\{([a-z_]+)\}")
_PARTS = {"weekdays": either_of(ALL_WEEKDAYS), "small_numbers": either_of(SMALL_NUMBERS)}


def _pattern(lines: str | list[str]) -> str:
    """The alternatives of a pattern, with its parts in the place of their names."""
    joined = lines if isinstance(lines, str) else "|".join(lines)
    return _IN_BRACES.sub(lambda name: _PARTS[name[1]], joined)


for _name, _lines in _LEXICON["parts"].items():
    _PARTS[_name] = _pattern(_lines)
# To be looked for in folded text.
PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(_pattern(lines)) for name, lines in _LEXICON["patterns"].items()
}
# How the amount is asked for, and how it looks.
AMOUNTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(_pattern(each["asked"])), re.compile(_pattern(each["given"])))
    for each in _LEXICON["amounts"]
)
_LONGEST_ALLERGEN = max(map(len, ALLERGENS))


def allergens_in(text: str) -> Iterator[frozenset[str]]:
    """The allergens and families that each name of one in a text may stand for."""
    said = words(text)
    for start in range(len(said)):
        for length in range(1, _LONGEST_ALLERGEN + 1):
            codes = ALLERGENS.get(tuple(said[start : start + length]))
            if codes:
                yield codes
