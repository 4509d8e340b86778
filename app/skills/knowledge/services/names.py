"""The words of a name, as far as they tell one name from another."""

from __future__ import annotations

from app.text.normalize import words


def name_words(text: str) -> frozenset[str]:
    """The folded words of a name or a message, with plain plurals as singulars."""
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in words(text))
