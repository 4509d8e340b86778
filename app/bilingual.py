"""Texts that the house keeps in English and in Spanish, of which one may be missing."""

from __future__ import annotations


def in_language(language: str, english: str, spanish: str) -> str:
    """The text in `language`, else in the one there is."""
    return (spanish or english) if language == "es" else (english or spanish)
