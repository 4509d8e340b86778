"""What of a product a question is about: its price, its allergens, what goes with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.nlu.named_allergens import named_allergens
from app.text.normalize import fold, words
from app.text.yaml_file import read_yaml

_LEXICON: Mapping[str, Any] = read_yaml(Path(__file__).with_name("attributes.yaml"))
_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    name: frozenset(line.split()) for name, line in _LEXICON["attributes"].items()
}
# Each meaning: the words that ask for it, and those that label it.
_CONCEPTS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(asked.split()), frozenset(f"{asked} {only_labels}".split()))
    for asked, _, only_labels in (line.partition("|") for line in _LEXICON["concepts"])
)
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(lines)) for name, lines in _LEXICON["patterns"].items()
}
# What asks for an attribute, and that with what asks for a fact, is no part of any name.
ASKED_FOR = frozenset().union(*_ATTRIBUTES.values())
ASKING = ASKED_FOR.union(*(asked for asked, _labels in _CONCEPTS))
BEFORE_NAMES = frozenset(_LEXICON["before_names"].split())
_WEIGHTIEST_FIRST = ("allergens", "price", "pairing", "steps", "ingredients", "description")


def asked_attributes(text: str) -> list[str]:
    """Which attributes of a product the question is about, the weightiest first."""
    folded = fold(text)
    spoken = set(words(text))
    named = named_allergens(text)
    holds_allergen = any(name.unwanted for name in named) or (
        named and _PATTERNS["holds"].search(folded)
    )
    return [
        name
        for name in _WEIGHTIEST_FIRST
        if spoken & _ATTRIBUTES[name]
        or (name in _PATTERNS and _PATTERNS[name].search(folded))
        or (name == "allergens" and holds_allergen)
    ]


def price_order(text: str) -> int:
    """1 for "the cheapest first", -1 for "the dearest first", 0 where neither is asked."""
    folded = fold(text)
    if _PATTERNS["cheapest"].search(folded):
        return 1
    return -1 if _PATTERNS["dearest"].search(folded) else 0


def means(label: str, spoken: set[str]) -> bool:
    """Whether the words that were spoken ask for the fact of this label in other words."""
    of_label = set(words(label))
    return any(spoken & asking and of_label & labels for asking, labels in _CONCEPTS)
