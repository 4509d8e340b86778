"""Which form a message names, or may be wanted for what it tells of."""

from __future__ import annotations

import pytest

from app.skills.forms.services.title_match import (
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
    ("I need to document an incident", "incident"),
    ("Where's the form for a guest complaint?", "guest complaint"),
    ("can I get the equipment failure form", "equipment failure"),
    ("Necesito llenar un reporte de lesión", "reporte de lesion"),
    ("Amonestar a Juan por llegar tarde", "amonestacion"),
    ("Presentar un reporte sobre una lesión", "reporte lesion"),
    ("¿Dónde está el formulario para quejas de clientes?", "queja de cliente"),
    ("levanta un reporte de incidente, se robaron una bolsa", "reporte de incidente"),
]


@pytest.fixture(scope="module")
def names() -> FormNames:
    keys = ("title_en", "title_es", "description_en", "description_es")
    return fold_names(
        tuple((slug, *(form[key] for key in keys)) for slug, form in HOUSE_FORMS.items())
    )


@pytest.mark.parametrize(("message", "query"), ASKED)
def test_a_form_is_named_by_words_of_its_title(names: FormNames, message: str, query: str) -> None:
    named = named_form(message, names)
    assert named is not None
    assert set(query.split()) <= set(title_words(message, named).replace("ó", "o").split())


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
    related = related_form(message, names, language)
    assert related is not None
    assert (related.slug, related.language) == (slug, language)


@pytest.mark.parametrize(
    ("message", "slug"),
    [
        ("quiero llenar la falla de equipo", "equipment-failure"),
        ("abre el registro de temperatura, cámara fría 1", "temperature-log"),
        ("can you open the temperature log?", "temperature-log"),
    ],
)
def test_a_form_is_meant_by_its_whole_title(names: FormNames, message: str, slug: str) -> None:
    named = titled_form(message, names)
    assert named is not None
    assert named.slug == slug


def test_part_of_a_title_is_not_the_whole(names: FormNames) -> None:
    assert titled_form("llena la máquina de hielo, es un equipo nuevo", names) is None


def test_a_kind_of_paper_alone_names_no_form(names: FormNames) -> None:
    assert named_form("I need a knife loan log", names) is None
    assert named_form("necesito un registro de visitas", names) is None
    only_papers = fold_names((("log", "Log", "Registro", "", ""),))
    assert named_form("fill out the log", only_papers) is not None


def test_a_house_without_forms_names_none() -> None:
    assert named_form("I need to fill out an injury report", fold_names(())) is None
