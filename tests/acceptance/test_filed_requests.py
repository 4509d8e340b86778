"""What people ask after requests that they have filed, and where it leads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask

from app.db import Database, utc_now
from app.skills.service_requests.models import ServiceRequest
from tests.acceptance.service_requests.conversation import Turn
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member
from tests.factories.service_requests import make_request

ASKED = {
    "en": [
        "what is the status of my request?", "any update on the ice machine?",
        "when will the ice machine be fixed?", "did anybody fix the ice machine yet?",
        "show my requests", "what requests do I have open", "where is my ticket",
        "is my ticket still open?", "who is working on my request?", "SR status",
        "has anyone looked at it yet", "I want to cancel my request",
        "please cancel the ice machine ticket", "the ice machine works again, close the ticket",
        "I need to add something to my request", "tell maintenance the ice machine is worse now",
        "i have a photo for my request", "tell them it also makes a loud noise",
        "how do I check on my request?",
    ],
    "es": [
        "como va mi solicitud", "ya arreglaron la maquina de hielo?", "quiero ver mis solicitudes",
        "cuando viene el de mantenimiento", "quiero cancelar mi solicitud",
        "ya sirve la maquina de hielo, cierren el reporte", "quien esta viendo mi reporte",
        "diles que tambien hace ruido",
    ],
}  # fmt: skip


def filed(owner: Database, somebody: Member) -> ServiceRequest:
    """A request of another year, whose numbers nobody files under here."""
    before = utc_now() - timedelta(days=400)
    return make_request(owner, somebody, "The ice machine is leaking", submitted_at=before)


@pytest.mark.parametrize(
    ("language", "words"), [(language, words) for language in ASKED for words in ASKED[language]]
)
def test_what_is_asked_after_a_request_leads_to_it(
    demo: Flask, owner: Database, person: Callable[[str], Member], language: str, words: str
) -> None:
    somebody = person(language)
    request = filed(owner, somebody)
    reply = Talk(demo, somebody, language).send(words)
    [part] = [part for part in reply.body["parts"] if part["type"] == "request_list"]
    assert [row["reference"] for row in part["rows"]] == [request.reference]
    told = {"en": "Open it to see what has happened", "es": "Ábrela para ver qué ha pasado"}
    assert told[language] in reply.text


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ("the ice machine is leaking", "no more questions", "no", "no", "yes",
                "what is the status of my request?")),
        ("es", ("la máquina de hielo gotea", "no más preguntas", "no", "no", "sí",
                "cómo va mi solicitud")),
    ],
)  # fmt: skip
def test_it_is_asked_after_in_the_chat_that_it_was_filed_in(
    demo: Flask, person: Callable[[str], Member], language: str, said: tuple[str, ...]
) -> None:
    talk = Talk(demo, person(language), language)
    high = {"type": "field_response", "field": "priority", "value": "high"}
    for turn in (Turn(say=said[0]), Turn(choose="refrigeration"), Turn(tap=high)):
        talk.take(turn)
    replies = [talk.send(words) for words in said[1:]]
    assert "SR-" in replies[-2].text
    assert [part["type"] for part in replies[-1].body["parts"]] == ["request_list"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "the ice machine is leaking"), ("en", "show my expenses"),
        ("en", "I need a time off form"), ("en", "booth 22 is ripped n foam is coming out"),
        ("en", "how often are the hood filters coming down per the book"),
        ("en", "news about the typhoon in Da Nang"), ("es", "la freidora no prende"),
        ("es", "necesito la solicitud de días libres"), ("es", "ocupo el reporte de merma"),
        ("es", "quiero llenar el reporte de falla de equipo"),
        ("es", "la caesar trae anchoas o el aderezo ya viene hecho sin"),
        ("es", "el ticket no se imprime en la cocina"),
    ],
)  # fmt: skip
def test_what_is_another_matter_does_not(
    demo: Flask, owner: Database, person: Callable[[str], Member], language: str, words: str
) -> None:
    somebody = person(language)
    filed(owner, somebody)
    reply = Talk(demo, somebody, language).send(words)
    assert "request_list" not in [part["type"] for part in reply.body["parts"]]


def test_who_has_filed_nothing_is_led_to_no_list(
    demo: Flask, person: Callable[[str], Member]
) -> None:
    reply = Talk(demo, person("en"), "en").send("what is the status of my request?")
    assert "request_list" not in [part["type"] for part in reply.body["parts"]]


@pytest.mark.parametrize(
    ("language", "cancelling", "told"),
    [
        ("en", "cancel it", "I can't undo it"),
        ("en", "undo that", "I can't undo it"),
        ("es", "cancélala", "no puedo deshacerlo"),
    ],
)
def test_who_cancels_what_was_just_filed_is_told_that_it_is(
    demo: Flask, person: Callable[[str], Member], language: str, cancelling: str, told: str
) -> None:
    talk = Talk(demo, person(language), language)
    high = {"type": "field_response", "field": "priority", "value": "high"}
    said = {"en": ("the ice machine is leaking", "no more questions", "no", "no", "yes"),
            "es": ("la máquina de hielo gotea", "no más preguntas", "no", "no", "sí")}  # fmt: skip
    for turn in (Turn(say=said[language][0]), Turn(choose="refrigeration"), Turn(tap=high)):
        talk.take(turn)
    replies = [talk.send(words) for words in said[language][1:]]
    assert "SR-" in replies[-1].text
    assert told in talk.send(cancelling).text
    # One that is named leads to it.
    named = {"en": "cancel the request", "es": "cancela la solicitud"}[language]
    assert "request_list" in [part["type"] for part in talk.send(named).body["parts"]]
