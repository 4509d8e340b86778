from __future__ import annotations

import pytest

from app.assistant.turns.language import detect_language


@pytest.mark.parametrize(
    "text",
    [
        "How long can raw chicken stay out?",
        "what's on tap",
        "what is in the tampiqueña",
        "who’s the manager",
        "give me a recipe",
        "is there gluten in the flautas?",
        "Thanks",
    ],
)
def test_english_is_told_by_its_small_words(text: str) -> None:
    assert detect_language(text, "en") == "en"
    assert detect_language(text, "es") == "en"


@pytest.mark.parametrize(
    "text",
    [
        "¿Cuál es la política de propinas?",
        "cuanto cuesta el ribeye",
        "a qué hora publican el horario",
        "no funciona la máquina de hielo",
        "receta de tinga",
        "tinto por copa",
        "¿propinas?",
        "gracias",
    ],
)
def test_spanish_is_told_with_and_without_its_accents(text: str) -> None:
    assert detect_language(text, "en") == "es"
    assert detect_language(text, "es") == "es"


@pytest.mark.parametrize("text", ["ribeye", "malbec?", "IPA", "", "86", "😀", "no", "a"])
@pytest.mark.parametrize("default", ["en", "es"])
def test_what_says_nothing_for_either_is_in_the_persons_language(text: str, default: str) -> None:
    assert detect_language(text, default) == default
