"""The library's own words in both languages: kinds, categories and facts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from app.text.normalize import fold
from app.text.yaml_file import read_yaml

WORDS = Path(__file__).with_name("vocabulary.yaml")


@cache
def _words() -> dict[str, dict[str, dict[str, str]]]:
    words: dict[str, dict[str, dict[str, str]]] = read_yaml(WORDS)
    return words


def _word(section: str, key: str, language: str) -> str:
    """The word for a key; one that nobody has translated is shown as plainly as it can be."""
    known = _words()[section].get(key)
    return known[language] if known else key.replace("_", " ").replace("-", " ").capitalize()


def kind_name(kind: str, language: str) -> str:
    """What all things of a kind together are called: Dishes."""
    return _word("kinds", kind, language)


def item_name(kind: str, language: str) -> str:
    """What one thing of a kind is called: Dish."""
    return _word("items", kind, language)


def category_name(category: str, language: str) -> str:
    return _word("categories", category, language) if category else ""


def list_categories() -> tuple[str, ...]:
    """The codes of the categories and tags that have a name in both languages."""
    return tuple(_words()["categories"])


def fact_pairs(facts: dict[str, Any], language: str) -> dict[str, str]:
    """Facts as label -> value in `language`, in the vocabulary's order.

    A value is text, a number, or {en, es}; empty ones are left out.
    """
    pairs = {}
    order = {key: place for place, key in enumerate(_words()["facts"])}
    for key, value in sorted(facts.items(), key=lambda fact: order.get(fact[0], len(order))):
        shown = value.get(language) if isinstance(value, dict) else value
        if shown not in (None, ""):
            known = isinstance(shown, str) and shown in _words()["categories"]
            words = category_name(str(shown), language) if known else str(shown)
            pairs[_word("facts", key, language)] = words
    return pairs


def fact_labels() -> dict[str, tuple[str, str]]:
    """What each fact is called in English and in Spanish, by its key."""
    return {key: (names["en"], names["es"]) for key, names in _words()["facts"].items()}


def category_key(text: str) -> str:
    """The key of a category or tag by its key or its word in either language, else `text`."""
    return _categories().get(fold(text).replace("_", " ").replace("-", " "), text)


@cache
def _categories() -> dict[str, str]:
    found: dict[str, str] = {}
    for key, names in _words()["categories"].items():
        for name in (key, names["en"], names["es"]):
            # Of two with one name the first is meant: it is a category, the second a tag.
            found.setdefault(fold(name).replace("_", " ").replace("-", " "), key)
    return found
