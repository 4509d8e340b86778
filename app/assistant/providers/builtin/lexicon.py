"""The words that the built-in assistant alone needs, read once from lexicon.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.nlu.lexicon import Phrase, read_phrases
from app.text.normalize import words
from app.text.numbers import SMALL_NUMBERS
from app.text.yaml_file import read_yaml

_LEXICON: Mapping[str, Any] = read_yaml(Path(__file__).with_name("lexicon.yaml"))
_FOLLOW_UP = _LEXICON["follow_up"]

WRITTEN_OTHERWISE: Mapping[Phrase, str] = {
    tuple(words(said)): written for said, written in _LEXICON["written_otherwise"].items()
}
OPENINGS = read_phrases(_FOLLOW_UP["openings"])
MORE = frozenset(read_phrases(_FOLLOW_UP["more"]))
POINTING_WORDS = frozenset(_FOLLOW_UP["pointing"].split())
OPTIONS: Mapping[str, tuple[Phrase, ...]] = {
    option: read_phrases(lines) for option, lines in _LEXICON["options"].items()
}
# To be looked for in folded text.
PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(lines)) for name, lines in _LEXICON["patterns"].items()
}
ACCENTED = frozenset(_LEXICON["accented"].split())
PREPOSITIONS = frozenset(_LEXICON["prepositions"].split())
JOINS: tuple[str, ...] = tuple(_LEXICON["joins"].split())
KINDS = frozenset(_LEXICON["kinds"].split())
NUMBERS: Mapping[str, float] = {**SMALL_NUMBERS, **_LEXICON["numbers"]}
