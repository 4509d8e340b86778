"""The product's own texts in a language, where there is no request that has one: in jobs."""

from __future__ import annotations

from functools import cache
from gettext import NullTranslations
from pathlib import Path

from babel.support import Translations

FOLDER = Path(__file__).resolve().parents[1] / "translations"


def translated(text: str, language: str, **values: str) -> str:
    """A text of the catalog in that language, its placeholders filled."""
    found = _catalog(language).gettext(text)
    return found % values if values else found


@cache
def _catalog(language: str) -> NullTranslations:
    return Translations.load(FOLDER, [language])
