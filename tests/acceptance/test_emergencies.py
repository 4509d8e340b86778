"""Whoever stands before a fire writes three words: what to do is told, and all of it."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.acceptance.asking import STAFF, ask

REPORTS = [
    ("en", "the fryer is on fire", "fire-and-extinguishers", "pull the red handle"),
    ("en", "fire!", "fire-and-extinguishers", "call 911 from outside"),
    ("en", "the hood is on fire what do i do", "fire-and-extinguishers", "pull the red handle"),
    ("es", "se está quemando la freidora", "fire-and-extinguishers", "palanca roja"),
    ("es", "se prendió el aceite en la sartén", "fire-and-extinguishers", "deslízale una tapa"),
    ("es", "hay fuego en la freidora", "fire-and-extinguishers", "palanca roja"),
    ("en", "someone is choking and shes pregnant", "choking", "do chest thrusts"),
    ("es", "un cliente se está ahogando con comida", "choking", "Uno llama al 911"),
    ("es", "un niño se atragantó", "choking", "5 golpes firmes"),
    (
        "en",
        "guest having an allergic reaction, throat swelling",
        "guest-allergies",
        "Call 911 at once",
    ),
    ("en", "customer cant breathe after eating shrimp", "guest-allergies", "epinephrine"),
    ("es", "reacción alérgica no puede respirar", "guest-allergies", "911"),
    ("en", "somebody has a gun", "robbery", "Stay calm"),
    ("en", "we're being robbed", "robbery", "Stay calm"),
    ("es", "hay un hombre con pistola", "robbery", "Mantén la calma"),
    ("en", "heart attack at the bar", "emergencies", "call 911 before you call anyone"),
    ("en", "guest is having a seizure", "emergencies", "call 911 before you call anyone"),
    ("es", "un cliente se desmayó", "emergencies", "llama al 911 antes que a nadie"),
    ("es", "me cayó cloro en el ojo", "chemical-labels-sds", "15 minutos"),
    ("en", "i smell gas", "gas-smell", "everybody out"),
    ("es", "huele a gas", "gas-smell", "911"),
    ("en", "fryer oil splashed all over my arm", "burns", "running water for 20 minutes"),
    ("es", "me quemé la mano", "burns", "agua fresca corriente 20 minutos"),
    ("en", "cut my finger pretty deep", "cuts-and-bleeding", "Go to urgent care"),
    ("es", "me corté con el cuchillo", "cuts-and-bleeding", "Presiona fuerte"),
    ("es", "se cayó una señora en el baño", "slips-and-falls", "No lo jales"),
]
INJURIES = {"emergencies", "chemical-labels-sds", "burns", "cuts-and-bleeding", "slips-and-falls"}


@pytest.mark.parametrize(("language", "said", "section", "told"), REPORTS)
def test_what_is_reported_is_answered_with_the_whole_section(
    demo: Flask, language: str, said: str, section: str, told: str
) -> None:
    reply = ask(demo, STAFF[language], said)
    assert reply.tools[0] == "search_manual_v2"
    assert reply.cited_slugs == [section]
    assert told in reply.text
    # Whoever may be hurt is reported afterwards; nothing else comes with the help.
    assert set(reply.tools[1:]) <= ({"search_forms"} if section in INJURIES else set())


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Marcus cut his hand really deep theres blood everywhere"),
        ("en", "fryer oil splashed all over my arm, its burnt bad"),
        ("es", "chuy se quemó todo el brazo con aceite"),
        ("es", "Toño se cortó muy hondo, no para la sangre"),
    ],
)
def test_with_the_help_for_somebody_hurt_comes_the_report(
    demo: Flask, language: str, said: str
) -> None:
    reply = ask(demo, STAFF[language], said)
    assert reply.tools == ["search_manual_v2", "search_forms"]
    cards = [part["slug"] for part in reply.body["parts"] if part["type"] == "form_card"]
    assert cards == ["employee-injury-report"]
    assert reply.citations


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "when do we fire the entrees"),
        ("en", "how do I burn off the grill"),
        ("en", "cut the limes in wedges or wheels?"),
        ("es", "el mole va a fuego lento?"),
        ("es", "se cayó el sistema"),
        ("es", "se cortó la mayonesa"),
    ],
)
def test_kitchen_talk_is_no_emergency(demo: Flask, language: str, said: str) -> None:
    reply = ask(demo, STAFF[language], said)
    emergencies = {section for _, _, section, _ in REPORTS} - {"chemical-labels-sds"}
    assert not (len(reply.cited_slugs) == 1 and emergencies & set(reply.cited_slugs))


def test_a_house_without_a_word_on_it_says_whom_to_call(demo: Flask) -> None:
    reply = ask(demo, "rosa@casalucero.example", "hay un hombre con pistola")
    assert reply.citations == []
    assert "llama al 911" in reply.text
