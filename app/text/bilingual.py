"""Texts in English and in Spanish: those that the group keeps, and those the product says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flask_babel import force_locale, get_locale

from app.config import LANGUAGES

Made = TypeVar("Made")


def reader_language() -> str:
    """The language that texts are made in: that of the page, or of the turn."""
    locale = get_locale()
    return locale.language if locale else LANGUAGES[0]


def in_both(make: Callable[[str], Made]) -> dict[str, Made]:
    """What `make` makes of each language, with its catalog: {"en": …, "es": …}."""
    found: dict[str, Made] = {}
    for language in LANGUAGES:
        with force_locale(language):
            found[language] = make(language)
    return found


def in_language(language: str, english: str, spanish: str) -> str:
    """The text in `language`, else in the one there is."""
    return (spanish or english) if language == "es" else (english or spanish)
