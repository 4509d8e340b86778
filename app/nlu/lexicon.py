"""The general words of both languages, read once from lexicon.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from app.text import allergens
from app.text.normalize import fold, words
from app.text.yaml_file import read_yaml

# A phrase as its folded words, so that "what's up" and "What’s up?" are the same.
Phrase = tuple[str, ...]


def _phrases(lines: Iterable[str]) -> tuple[Phrase, ...]:
    """The longest first: "good night" is found before "good"."""
    phrases = {tuple(words(line)) for line in lines}
    return tuple(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


_LEXICON: Mapping[str, Any] = read_yaml(Path(__file__).with_name("lexicon.yaml"))
_FOLLOW_UP = _LEXICON["follow_up"]

FRAME_WORDS = frozenset(" ".join(_LEXICON["frame"].values()).split())
WRITTEN_OTHERWISE: Mapping[Phrase, str] = {
    tuple(words(said)): written for said, written in _LEXICON["written_otherwise"].items()
}
SMALL_TALK: dict[str, tuple[Phrase, ...]] = {
    kind: _phrases(lines) for kind, lines in _LEXICON["small_talk"].items()
}
SOFTENERS = frozenset(_LEXICON["softeners"].split())
OPENINGS = _phrases(_FOLLOW_UP["openings"])
MORE = frozenset(_phrases(_FOLLOW_UP["more"]))
POINTING_WORDS = frozenset(_FOLLOW_UP["pointing"].split())
# What only questions begin with, and what they begin with among others.
QUESTION_WORDS = frozenset(_FOLLOW_UP["questions"].split())
ASKING_WORDS = QUESTION_WORDS.union(_FOLLOW_UP["asking"].split())
ATTRIBUTES: Mapping[str, frozenset[str]] = {
    name: frozenset(line.split()) for name, line in _LEXICON["attributes"].items()
}
_ALLERGEN_NAMES: Mapping[str, tuple[Phrase, ...]] = {
    code: _phrases(lines) for code, lines in _LEXICON["allergens"].items()
}
# Each meaning: the words that ask for it, and those that label it.
CONCEPTS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(asked.split()), frozenset(f"{asked} {only_labels}".split()))
    for asked, _, only_labels in (line.partition("|") for line in _LEXICON["concepts"])
)
OPTIONS: Mapping[str, tuple[Phrase, ...]] = {
    option: _phrases(lines) for option, lines in _LEXICON["options"].items()
}
# Each name that an allergen is asked for by, and the allergens and families it stands for.
ALLERGENS: Mapping[Phrase, frozenset[str]] = {
    phrase: frozenset(code for code, names in _ALLERGEN_NAMES.items() if phrase in names)
    for names in _ALLERGEN_NAMES.values()
    for phrase in names
}
ALLERGEN_CODES = frozenset(_ALLERGEN_NAMES)
# The names that records list them by, folded, with their codes.
LISTED_AS: Mapping[str, str] = {
    fold(name): code
    for code, names in allergens.ALLERGENS.items()
    for name in (code.replace("_", " "), *names.values())
}
