"""Which messages ask for a form, which only tell of something, and which form they mean."""

from __future__ import annotations

import pytest

from app.skills.forms.asking import (
    asks_for_form,
    opens_something,
    tells_of_event,
    wanted_words,
)
from app.skills.forms.naming import (
    FormNames,
    fold_names,
    named_form,
    related_form,
    title_words,
    titled_form,
)
from tests.factories.forms import HOUSE_FORMS

ASKED = [
    ("I need to fill out an injury report", "injury report"),
    ("Write up John for being late", "write up"),
    ("write-up for Maria please", "write up"),
    ("I need to document an incident", "incident"),
    ("File a report about the injury of a busser", "injury report"),
    ("Where's the form for a guest complaint?", "guest complaint"),
    ("can I get the equipment failure form", "equipment failure"),
    ("how do I fill out the injury form?", None),
    ("Necesito llenar un reporte de lesión", "reporte de lesion"),
    ("Amonestar a Juan por llegar tarde", "amonestacion"),
    ("Necesito documentar un incidente", "incidente"),
    ("Presentar un reporte sobre una lesión", "reporte lesion"),
    ("¿Dónde está el formulario para quejas de clientes?", "queja de cliente"),
    ("quiero levantar un reporte de incidente", "reporte de incidente"),
    ("Llena un reporte de incidente: ayer un cliente se resbaló", "reporte de incidente"),
    ("llena una queja de un cliente: mesa 8, la sopa estaba fría", "queja de cliente"),
    ("levanta un reporte de incidente, se robaron una bolsa", "reporte de incidente"),
    ("completa un reporte de lesión, Juan se quemó la mano", "reporte de lesion"),
    ("haz un reporte de lesión: me corté el dedo", "reporte de lesion"),
    ("Hola, por favor levanta un reporte de incidente", "reporte de incidente"),
    ("hazme una amonestación para Kevin", "amonestacion"),
    ("A form for something we don't have", None),
    ("hi, I need to fill out an injury report", "injury report"),
]
NOT_ASKED = [
    "How do I store raw chicken?",
    "What temperature should steak be cooked to?",
    "John hurt his hand at 3pm on the slicer",
    "how do I report that I slipped and hurt my back",
    "who do i tell about an injury",
    "got a write up i don't agree with",
    "what happens after a write up?",
    "what form of ID do we accept",
    "how do I form the burger patties",
    "who signs the time off form",
    "what's in the house report",
    "can i fill up the ice bin",
    "¿A qué temperatura se cocina la carne?",
    "¿Qué pasa si me amonestan?",
    "llenar la hielera",
    "llena la hielera",
    "la hielera está llena de reportes",
    "Juan llena la bitácora en la noche",
    "¿quién llena la bitácora?",
    "¿cómo se forma la masa?",
    "me dieron una amonestación y no estoy de acuerdo",
    "¿cuándo me pagan?",
]


@pytest.fixture(scope="module")
def names() -> FormNames:
    keys = ("title_en", "title_es", "description_en", "description_es")
    return fold_names(
        tuple((slug, *(form[key] for key in keys)) for slug, form in HOUSE_FORMS.items())
    )


@pytest.mark.parametrize(("message", "query"), ASKED)
def test_a_wish_for_a_form_is_recognised_with_what_it_is_about(
    names: FormNames, message: str, query: str | None
) -> None:
    assert asks_for_form(message)
    named = named_form(message, names)
    if query is not None:
        assert named is not None
        assert set(query.split()) <= set(title_words(message, named).replace("ó", "o").split())


@pytest.mark.parametrize("message", NOT_ASKED)
def test_questions_and_kitchen_talk_ask_for_no_form(message: str) -> None:
    assert not asks_for_form(message)


@pytest.mark.parametrize(
    ("message", "language", "slug"),
    [
        ("John hurt his hand at 3pm on the slicer", "en", "employee-injury-report"),
        ("Juan se lastimó la mano con la rebanadora", "es", "employee-injury-report"),
        ("the fryer broke and it leaks oil", "en", "equipment-failure"),
        ("a guest complained about his steak", "en", "guest-complaint"),
    ],
)
def test_what_happened_leads_to_the_form_that_may_be_wanted(
    names: FormNames, message: str, language: str, slug: str
) -> None:
    assert tells_of_event(message)
    related = related_form(message, names, language)
    assert related is not None
    assert related.slug == slug
    assert related.language == language


@pytest.mark.parametrize(
    "message",
    [
        "How do I treat a cut?",
        "what do I do if somebody gets hurt",
        "ribeye temp",
        "¿y si me corto?",
    ],
)
def test_a_question_is_no_event(message: str) -> None:
    assert not tells_of_event(message)


def test_a_form_that_is_not_named_is_asked_for_by_what_is_left(names: FormNames) -> None:
    message = "I need to submit an expense report"
    assert asks_for_form(message)
    assert named_form(message, names) is None
    assert wanted_words(message) == "expense"
    assert wanted_words("A form for something we don't have") == "form"


@pytest.mark.parametrize(
    ("message", "slug"),
    [
        ("quiero llenar la falla de equipo", "equipment-failure"),
        ("abre el registro de temperatura, cámara fría 1", "temperature-log"),
        ("can you open the temperature log?", "temperature-log"),
    ],
)
def test_a_form_that_is_opened_by_its_whole_title_is_wanted(
    names: FormNames, message: str, slug: str
) -> None:
    named = titled_form(message, names)
    assert opens_something(message)
    assert named is not None
    assert named.slug == slug


def test_what_else_is_filled_or_opened_is_no_form(names: FormNames) -> None:
    assert titled_form("llena la máquina de hielo, es un equipo nuevo", names) is None
    assert not opens_something("how do I open the temperature log?")
    assert not opens_something("the temperature log says 45")


def test_a_kind_of_paper_alone_names_no_form(names: FormNames) -> None:
    assert named_form("I need a knife loan log", names) is None
    assert named_form("necesito un registro de visitas", names) is None
    assert wanted_words("I need a log") == "log"
    only_papers = fold_names((("log", "Log", "Registro", "", ""),))
    assert named_form("fill out the log", only_papers) is not None


def test_a_house_without_forms_names_none() -> None:
    assert named_form("I need to fill out an injury report", fold_names(())) is None
