"""The English of the catalog that must not be seen on a Spanish page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from babel.messages.pofile import read_po

FILE = Path(__file__).parents[2] / "app/translations/es/LC_MESSAGES/messages.po"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}")


@cache
def english() -> list[re.Pattern[str]]:
    """Patterns of every English text whose Spanish is another, each for a whole text."""
    with FILE.open("rb") as stream:
        messages = [message for message in read_po(stream, locale="es") if message.id]
    patterns = []
    for message in messages:
        ids = [message.id] if isinstance(message.id, str) else message.id
        texts = message.string if isinstance(message.string, list | tuple) else [message.string]
        patterns += [_pattern(id_) for id_ in ids if id_ not in texts and _has_words(id_)]
    return patterns


def _has_words(text: str) -> bool:
    return re.search(r"[A-Za-z]{2}", PLACEHOLDER.sub("", text)) is not None


def _pattern(text: str) -> re.Pattern[str]:
    literals = (re.escape(" ".join(part.split(" "))) for part in PLACEHOLDER.split(text.strip()))
    return re.compile(".+".join(literals), re.DOTALL)


def leftovers(texts: list[str]) -> list[str]:
    """Those of the texts that are the catalog's English."""
    return [text for text in texts if any(pattern.fullmatch(text) for pattern in english())]
