"""Which of the two languages a message is in, told by its small words and its letters."""

from __future__ import annotations

import re
from operator import itemgetter
from pathlib import Path
from typing import Literal

from app.text.yaml_file import read_yaml

_WORD = re.compile(r"[a-záéíóúüñ']+")
_SPANISH_SIGNS = re.compile("[¿¡ñáéíóúü]")
_ENGLISH, _SPANISH = (
    frozenset(words.split())
    for words in itemgetter("en", "es")(read_yaml(Path(__file__).with_name("language.yaml")))
)


def detect_language(text: str, default: str) -> Literal["en", "es"]:
    """The language of `text`; `default` where nothing in it speaks for either."""
    folded = text.lower()
    # "What's" is "what" and a sign.
    words = [word.partition("'")[0] for word in _WORD.findall(folded.replace("’", "'"))]
    english = sum(word in _ENGLISH for word in words)
    # Nobody writes these letters in English, except in the name of a dish.
    spanish = sum(word in _SPANISH for word in words) + bool(_SPANISH_SIGNS.search(folded))
    if english == spanish:
        return "es" if default == "es" else "en"
    return "es" if spanish > english else "en"
