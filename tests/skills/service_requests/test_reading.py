"""What people say about requests, read without a model: what is one, and what they mean by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
import yaml
from flask import Flask
from flask_babel import force_locale, gettext

from app.db import new_id
from app.fields.definitions import Words
from app.fields.values import FieldContext
from app.skills.service_requests.nlu.intent import (
    _pattern,
    is_other_trouble,
    named_type,
    nearest_types,
    rank_types,
    wants_another,
    wants_request,
)
from app.skills.service_requests.nlu.requester_replies import (
    cancels,
    is_question,
    is_the_new_one,
    read_want,
)
from app.skills.service_requests.nlu.values import (
    LONGEST_READ,
    first_words,
    is_correction,
    is_rewriting,
    name_of_request,
    read_said,
)
from app.skills.service_requests.services.definitions import (
    RequestForm,
    read_questions,
    read_request_fields,
)
from app.skills.service_requests.services.starters import Starter, fields_of, read_starters
from app.skills.service_requests.services.type_catalog import TypeNode
from app.skills.service_requests.workflow.state import OpenRequest, Told

NOW = datetime(2026, 11, 22, 18, 0, tzinfo=UTC)
AROUND = FieldContext(NOW, ZoneInfo("America/Chicago"))
STARTERS = read_starters()
SENTENCES = yaml.safe_load(Path(__file__).with_name("sentences.yaml").read_text("utf-8"))
REQUESTS = [(said, slug) for slug, all_ in SENTENCES["requests"].items() for said in all_]


def node(starter: Starter, children: tuple[TypeNode, ...] = ()) -> TypeNode:
    return TypeNode(
        uuid4(),
        starter.slug,
        starter.name,
        starter.description,
        starter.icon,
        bool(starter.category),
        starter.is_guided,
        starter.words,
        children,
    )


def plant() -> tuple[TypeNode, ...]:
    """All types that come with the house, under their categories."""
    categories = [each for each in STARTERS.values() if not each.category]
    return tuple(
        node(top, tuple(node(e) for e in STARTERS.values() if e.category == top.slug))
        for top in categories
    )


TREE = plant()


def state(slug: str, awaited: str = "", **values: Any) -> OpenRequest:
    """An open request of a type that holds these values."""
    starter = STARTERS[slug]
    form = RequestForm(
        new_id(),
        1,
        starter.name,
        (Words(),),
        read_request_fields(fields_of(starter)),
        read_questions(starter.questions),
    )
    told: Mapping[str, Told] = {name: Told(value) for name, value in values.items()}
    return OpenRequest(form=form, told=told, awaited=awaited)


def said(slug: str, text: str, awaited: str = "", **values: Any) -> dict[str, Any]:
    """The values that a message says, by name."""
    found = read_said(state(slug, awaited, **values), text, AROUND)
    return {each.field.field.name: each.raw for each in found}


def test_there_are_sixty_of_each() -> None:
    assert len(REQUESTS) >= 60
    assert len(SENTENCES["others"]) >= 60


@pytest.mark.parametrize(("text", "slug"), REQUESTS)
def test_trouble_and_needs_are_of_their_type(text: str, slug: str) -> None:
    assert rank_types(text, TREE)[0].type.slug == slug


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("walkin isnt cooling and its full of product", "refrigeration"),
        ("walkin reading 52 and fan aint spinning", "refrigeration"),
        ("locked out of the schedule app", "password-reset"),
    ],
)
def test_types_are_found_by_all_they_say_of_themselves(text: str, slug: str) -> None:
    assert nearest_types(text, TREE)[0].slug == slug


def test_nearly_all_trouble_and_needs_are_requests() -> None:
    missed = [text for text, _ in REQUESTS if not wants_request(text, TREE)]
    assert len(missed) <= 0.1 * len(REQUESTS), missed


def test_nearly_everything_else_is_none() -> None:
    taken = [text for text in SENTENCES["others"] if wants_request(text, TREE)]
    assert len(taken) <= 0.03 * len(SENTENCES["others"]), taken


@pytest.mark.parametrize(
    "text",
    [
        "open a service request", "I need a maintenance ticket", "new request please",
        "quiero hacer una solicitud de mantenimiento", "necesito una solicitud",
        "put in an IT request for me",
    ],
)  # fmt: skip
def test_a_request_may_be_called_by_its_name(text: str) -> None:
    assert wants_request(text, TREE)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Password reset and access", "password-reset"), ("plumbing", "plumbing"),
        ("the first one, pests", "pest-sighting"), ("wi-fi", "network"),
        ("Uniformes y zapatos", "uniform"), ("plagas", "pest-sighting"),
        ("el de plomería", "plumbing"), ("la impresora", "pos-terminal"),
    ],
)  # fmt: skip
def test_a_type_is_chosen_by_its_name(text: str, slug: str) -> None:
    found = named_type(text, TREE)
    assert found is not None
    assert found.slug == slug


@pytest.mark.parametrize("text", ["hm", "that one", "the printer and the toilet", "no sé"])
def test_what_names_none_or_two_chooses_none(text: str) -> None:
    assert named_type(text, TREE) is None


@pytest.mark.parametrize(
    ("text", "is_another"),
    [
        ("I also need new aprons", True), ("open another request", True),
        ("we need gloves too", True), ("también necesito un mandil", True),
        ("quiero otra solicitud", True), ("también se cayó el internet", True),
        ("the ice machine is leaking too", False), ("it also makes a noise", False),
        ("we also need it before noon", False), ("también gotea", False),
    ],
)  # fmt: skip
def test_one_more_request_is_told_from_more_about_this_one(text: str, is_another: bool) -> None:
    [open_type] = (each.type for each in rank_types("ice machine", TREE)[:1])
    assert wants_another(text, open_type.id, TREE) is is_another


WANTS = {
    "cancel": [
        "cancel", "Cancel it", "cancel the request", "please cancel this", "forget it",
        "never mind", "no, cancel", "cancela", "Cancela la solicitud", "mejor cancela",
        "olvídalo", "ya no la quiero", "cancela todo", "I don't need it any more", "start over",
    ],
    "why": [
        "why?", "why do you ask?", "Why do you need that", "what for?", "¿por qué?",
        "¿por qué preguntas?", "¿para qué?", "¿para qué es?", "but why",
    ],
    "repeat": [
        "repeat", "say that again", "repeat the question", "what?", "sorry?", "¿cómo?", "repite",
        "repite la pregunta", "¿qué dijiste?", "otra vez", "no entendí",
    ],
    "skip": ["skip", "Skip this", "pass", "next", "skip it please", "salta", "sáltala", "omitir",
             "paso", "siguiente"],
    "unknown": ["I don't know", "not sure", "no idea", "no sé", "ni idea", "N/A"],
    "end_questions": [
        "no more questions", "no more questions please", "stop asking", "No más preguntas",
        "ya no preguntes", "basta de preguntas", "end the questions please, no more questions",
        "stop asking me questions and just send it", "ya no me preguntes tanto, mándala",
    ],
    "show": ["what do you have so far?", "show me the summary", "¿qué llevas hasta ahora?",
             "resumen"],
    "go_on": ["go on", "continue", "try again", "sigue", "continúa", "back to my request"],
    "yes": ["yes", "sí", "dale", "sure"],
    "no": ["no", "nope", "mejor no"],
    "": ["cancel culture is odd", "the cancel key is stuck", "why not the left one then",
         "it skips every second ticket", "the next one over", "es la siguiente mesa",
         "it stops asking for a code", "guests won't stop asking for ice at noon",
         "he hung up, no more questions", "el proveedor dijo sin más preguntas que venía",
         "la tableta se salta las preguntas desde ayer", "cancela las tarjetas al cobrar"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "want"), [(text, want) for want, texts in WANTS.items() for text in texts]
)
def test_what_is_about_the_conversation_is_told_from_what_is_about_the_problem(
    text: str, want: str
) -> None:
    assert read_want(state("plumbing"), text) == want
    # What only seems to cancel is asked about first.
    assert want == "cancel" or not cancels(text)


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("how long can chicken stay out", True), ("¿cuánto dura el pollo?", True),
        ("what is the temperature for beef", True), ("Is it fixed?", False),
        ("the left one?", False),
        ("how it broke nobody knows", False), ("when I turn it on it clicks", False),
        ("cuando lo prendo hace clic", False), ("dónde está el botiquín", True),
        ("since when? since this morning", False),
    ],
)  # fmt: skip
def test_a_question_is_told_from_an_answer(text: str, is_asked: bool) -> None:
    assert is_question(text) is is_asked


@pytest.mark.parametrize(
    ("text", "corrects", "rewrites"),
    [
        ("actually make it high", True, True), ("change the priority to low", True, True),
        ("mejor que sea urgente", True, True), ("en realidad es la impresora", True, False),
        ("no, the other one", True, False), ("quise decir mañana", True, True),
        ("it says wrong password", False, False), ("nobody saw it", False, False),
        ("noon", False, False), ("setting number four", False, False), ("ponle alta", True, True),
    ],
)  # fmt: skip
def test_corrections_and_those_that_can_be_nothing_else(
    text: str, corrects: bool, rewrites: bool
) -> None:
    assert is_correction(text) is corrects
    assert is_rewriting(text) is rewrites


@pytest.mark.parametrize(
    ("slug", "text", "values"),
    [
        ("password-reset", "I need a password reset ASAP, high priority",
         {"title": "Password reset", "priority": "high", "need": "reset"}),
        ("refrigeration", "the walk-in is not cooling, it is 52 degrees inside",
         {"equipment": "walk-in", "problem": "warm", "temperature": "52"}),
        ("plumbing", "the hand sink at the bar is leaking, urgent please",
         {"priority": "urgent", "problem": "leak", "place": "bar"}),
        ("uniform", "I need a new work shirt, size XL", {"piece": "shirt", "size": "xl"}),
        ("refrigeration", "La cámara fría no enfría, es urgente",
         {"title": "La cámara fría no enfría", "priority": "urgent", "problem": "warm"}),
        ("pest-sighting", "hay una rata, no es urgente", {"priority": "low", "pest": "rodent"}),
        ("network", "the internet is down in the whole house", {"reach": "house"}),
    ],
)  # fmt: skip
def test_the_first_words_say_several_values(slug: str, text: str, values: dict[str, Any]) -> None:
    found = said(slug, text)
    assert {name: found.get(name) for name in values} == values


@pytest.mark.parametrize(
    ("slug", "awaited", "text", "value"),
    [
        ("plumbing", "priority", "high", "high"),
        ("plumbing", "priority", "as soon as possible", "urgent"),
        ("plumbing", "priority", "it can wait", "low"),
        ("plumbing", "priority", "puede esperar", "low"),
        ("plumbing", "priority", "alta", "high"),
        ("plumbing", "fixture", "the sink next to the ice bin", "the sink next to the ice bin"),
        ("plumbing", "fixture", "yes", None),
        ("plumbing", "floor_wet", "yes there is", True),
        ("plumbing", "floor_wet", "no, todavía no", False),
        ("plumbing", "floor_wet", "hard to say", None),
        ("plumbing", "phone", "210-555-0142", "+12105550142"),
        ("plumbing", "phone", "210-555-0142 ext. 45", "+12105550142;ext=45"),
        ("plumbing", "phone", "210-555-0142 y la extensión es 45", "+12105550142;ext=45"),
        ("plumbing", "phone", "I have none", None),
        ("password-reset", "email", "it's sam@example.com", "sam@example.com"),
        ("password-reset", "account", "payroll portal", "payroll"),
        ("refrigeration", "temperature", "about 48 I think", "48"),
        ("refrigeration", "title", "The ice machine leaks", "The ice machine leaks"),
        ("refrigeration", "title", "ok", None),
    ],
)  # fmt: skip
def test_an_answer_is_read_as_what_was_asked_for(
    slug: str, awaited: str, text: str, value: Any
) -> None:
    shown = {"problem": "warm"} if awaited == "temperature" else {}
    assert said(slug, text, awaited, **shown).get(awaited) == value


@pytest.mark.parametrize(
    ("text", "known", "name", "value"),
    [
        ("actually make it high", {"priority": "normal"}, "priority", "high"),
        ("change the priority to low", {"priority": "high"}, "priority", "low"),
        ("mejor que sea urgente", {"priority": "low"}, "priority", "urgent"),
        ("no, it leaks", {"problem": "clogged"}, "problem", "leak"),
        ("en realidad está en la barra", {"place": "kitchen"}, "place", "bar"),
    ],
)
def test_a_correction_changes_what_was_said(
    text: str, known: dict[str, Any], name: str, value: str
) -> None:
    assert said("plumbing", text, **known).get(name) == value


@pytest.mark.parametrize("text", ["the urgent part is the floor", "there is water in the kitchen"])
def test_what_corrects_nothing_leaves_a_value_as_it_is(text: str) -> None:
    found = said("plumbing", text, priority="low", place="bar", title="x")
    assert "priority" not in found and "place" not in found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hi, I need to report a leak", "Leak"),
        ("I need a service request", ""),
        ("Buenos días, la freidora no prende", "La freidora no prende"),
        ("we are out of gloves. Please hurry", "We are out of gloves"),
        ("necesito una solicitud de servicio", ""),
        ("I also need new aprons", "New aprons"),
        ("x" * 200, "X" + "x" * 118 + "…"),
    ],
)
def test_a_request_is_called_by_what_it_is_about(text: str, name: str) -> None:
    assert name_of_request(text, {}) == name


CHIPS = {
    "Cancel it": "cancel", "Cancel the request": "cancel", "Go on with it": "go_on",
    "Try again": "go_on", "Skip it": "skip", "No more questions": "end_questions",
    "Yes": "yes", "No": "no",
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(("message", "want"), CHIPS.items())
def test_what_a_chip_says_is_understood(app: Flask, message: str, want: str, language: str) -> None:
    with app.test_request_context(), force_locale(language):
        assert read_want(state("plumbing"), gettext(message)) == want


@pytest.mark.parametrize(
    ("text", "is_awaited", "is_other"),
    [
        ("it does not light", True, False),
        ("this one is broken", False, False),
        ("the walk-in stopped cooling", False, False),
        ("the POS is frozen since noon", True, True),
        ("I need a password reset", True, True),
    ],
)
def test_what_speaks_of_the_same_thing_is_no_other_trouble(
    text: str, is_awaited: bool, is_other: bool
) -> None:
    [open_type] = (each.type for each in rank_types("ice machine", TREE)[:1])
    assert is_other_trouble(text, TREE, open_type.id, is_awaited) is is_other


def test_what_stands_after_a_colon_is_told_and_not_asked() -> None:
    assert not is_question("dónde está: la de atrás, junto a la cocina")
    assert is_question("¿dónde está?")


def test_degrees_without_a_scale_are_to_be_looked_at_in_spanish() -> None:
    spanish = FieldContext(NOW, ZoneInfo("America/Chicago"), language="es")
    found = read_said(
        state("refrigeration"),
        "la cámara fría no enfría, está a 12 grados desde la mañana",
        spanish,
    )
    [degrees] = [each for each in found if each.field.field.name == "temperature"]
    assert degrees.is_inferred


def test_values_are_read_in_the_first_words_and_a_description_is_kept_whole() -> None:
    early = "We noticed it on 2026-11-20. " + "It drips again and again. " * 60
    late = "It drips again and again. " * 60 + "We noticed it on 2026-11-20."
    dated = next(
        (slug, field.field.name)
        for slug, starter in STARTERS.items()
        if starter.category
        for field in state(slug).form.fields  # type: ignore[union-attr]
        if field.field.type == "date"
    )
    assert dated[1] in said(dated[0], early)
    assert dated[1] not in said(dated[0], late)
    written = next(
        (slug, field.field.name)
        for slug, starter in STARTERS.items()
        if starter.category
        for field in state(slug).form.fields  # type: ignore[union-attr]
        if field.field.type == "textarea"
    )
    assert said(written[0], late, awaited=written[1])[written[1]] == late


def test_what_is_read_ends_between_two_words() -> None:
    assert first_words("1 " * 400) == "1 " * 400
    assert first_words("12345 " * 1_000) == ("12345 " * (LONGEST_READ // 6)).rstrip()
    assert first_words("1" * 2_000) == ""


@pytest.mark.parametrize(
    "text",
    [
        "don't cancel it", "do not cancel the request", "never cancel it", "no la canceles",
        "no cancelar", "mejor no la canceles", "no borres nada", "i did not cancel it",
        "don't forget it", "stop the leak", "scrap metal", "i quit", "cancelaron el pedido",
        "no lo olvides", "no importa", "I don't need it", "never mind", "bórrala", "déjala",
        "cancel?", "¿cancelar todo?", "cancel it?", "cancel❓", "cancela ⁉️",
        "forget the request ❓",
        "❌ cancel", "cancel it 🤔", "si cancela la solicitud", "si cancela todo", "cancel ___",
        '"cancel"',
    ],
)  # fmt: skip
def test_what_only_has_such_a_word_cancels_nothing(text: str) -> None:
    assert not cancels(text)


@pytest.mark.parametrize(
    "text",
    [
        "cancel",
        "no, cancel it",
        "cancélala",
        "cancel the request",
        "mejor cancela",
        "sí cancela la solicitud",
        "si, cancela todo",
    ],
)
def test_who_cancels_outright_is_understood(text: str) -> None:
    assert cancels(text)


@pytest.mark.parametrize(
    "text",
    [
        "not the new one",
        "don't start the new one",
        "la otra no",
        "la segunda",
        "go on",
        "the new one?",
        "¿la nueva?",
        "new one❓",
        "start the new one 🤔",
        "open the new one 👎",
    ],
)
def test_the_new_request_is_wanted_only_by_who_says_so(text: str) -> None:
    assert not is_the_new_one(text)
    assert is_the_new_one("the new one") and is_the_new_one("la nueva, por favor")


@pytest.mark.fault(67)
def test_of_all_words_of_all_types_only_those_that_are_said_are_looked_at_closely() -> None:
    words = {"en": [f"thing {number}" for number in range(5_000)], "es": []}
    tree = (replace(TREE[0].children[0], words=words),)
    before = _pattern.cache_info().misses
    assert rank_types("thing 4999 is broken, not thing 12", tree)
    # "thing 4", "thing 49", "thing 499", "thing 4999", "thing 1", "thing 12" stand there.
    assert _pattern.cache_info().misses - before <= 6
