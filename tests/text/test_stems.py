from __future__ import annotations

import pytest

from app.text.stems import content_words, stem, stems


@pytest.mark.parametrize(
    "forms",
    [
        "cook cooks cooked cooking",
        "preparo prepara preparar preparan preparando preparado",
        "wine wines",
        "vino vinos",
        "glove gloves",
        "locker lockers",
        "berry berries",
        "estacionamiento estacionamientos estacionar estacionamos",
        "policy policies",
        "stop stopped stopping",
        "glass glasses",
        "calibrate calibration",
        "quemadura quemaduras quemar",
        "propina propinas",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize("pair", ["wine beer", "pollo polvo", "steak steam"])
def test_other_words_keep_other_stems(pair: str) -> None:
    first, second = pair.split()
    assert stem(first) != stem(second)


def test_small_words_say_nothing_about_the_subject() -> None:
    assert content_words("How long can the raw chicken stay out, please?") == [
        "raw",
        "chicken",
        "stay",
    ]
    assert content_words("¿Me puedes decir cuál es la política de propinas?") == [
        "politica",
        "propinas",
    ]


def test_accents_and_case_make_no_difference() -> None:
    assert stems("POLÍTICA de Propinas") == stems("politica de propinas")


def test_numbers_are_kept_as_they_are() -> None:
    assert stems("86 list at 165°F")[:2] == ["86", "list"]
