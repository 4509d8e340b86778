"""What people on shift say about forms, to the built-in assistant and to language models."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from flask import Flask

from app.assistant.turns.json_blocks import read_object
from tests.acceptance.asking import FINISHED, STAFF, Reply, Visitor, ask
from tests.acceptance.conftest import LanguageModel

ASKED = {
    "en": "Would you like to fill out this form?",
    "es": "¿Quieres llenar este formulario?",
}
NO_FORM = {
    "en": ("I don't have a form for that", "I am not sure which form you mean"),
    "es": ("No tengo un formulario para eso", "No estoy seguro de qué formulario"),
}
FORMS = [
    ("en", "I need to fill out an injury report", "employee-injury-report"),
    ("en", "Write up John for being late", "employee-write-up"),
    ("es", "Necesito llenar un reporte de lesión", "employee-injury-report"),
    ("es", "Amonestar a Juan por llegar tarde", "employee-write-up"),
]
# Said in other words, which a model that follows fixed rules cannot be expected to know.
MORE_FORMS = [
    ("en", "I need to document an incident", "incident-report"),
    ("en", "where's the form for a guest complaint", "guest-complaint"),
    ("en", "open the temperature log form pls", "temperature-log"),
    ("es", "Necesito documentar un incidente", "incident-report"),
    ("es", "¿Dónde está el formulario para la falla de un equipo?", "equipment-failure"),
    ("es", "quiero levantar un reporte de lesión de Juan", "employee-injury-report"),
]
NO_SUCH_FORM = [
    ("en", "A form for something we don't have"),
    ("en", "I need a form for a pizza recipe"),
    ("es", "Necesito un formulario para pedir una patineta"),
]
NO_FORMS = [
    ("en", "How do I store raw chicken?", {"search_manual_v2"}),
    ("es", "¿Cómo guardo el pollo crudo?", {"search_manual_v2"}),
    # A section is called "Cooking temperatures", and has the steak's.
    ("en", "What temperature should steak be cooked to?", {"search_manual_v2", "search_dishes"}),
]
HURT = "John hurt his hand at 3pm on the slicer"


@pytest.fixture(params=["builtin", "native", "json"])
def house(request: pytest.FixtureRequest, demo: Flask) -> Flask:
    """The demo as each of the assistants answers in it."""
    if request.param == "builtin":
        return demo
    model: LanguageModel = request.getfixturevalue(f"{request.param}_model")
    return model.app


def cards(reply: Reply) -> list[str]:
    return [part["slug"] for part in reply.body["parts"] if part["type"] == "form_card"]


def assert_shows(reply: Reply, language: str, slug: str) -> None:
    assert reply.status == FINISHED
    assert reply.tools == ["search_forms"], reply
    assert cards(reply)[0] == slug, reply
    assert reply.text.endswith(ASKED[language])
    assert reply.mode == "search"


@pytest.mark.parametrize(("language", "said", "slug"), FORMS)
def test_a_wish_for_a_form_shows_its_card_and_asks(
    house: Flask, language: str, said: str, slug: str
) -> None:
    reply = ask(house, STAFF[language], said)
    assert_shows(reply, language, slug)
    navigation = read_object(reply.body["answer"])
    assert navigation is not None
    assert navigation["form_navigation"]["extractedContext"] == said
    assert navigation["form_navigation"]["forms"][0]["slug"] == slug
    [action, *_] = reply.body["actions"]
    assert (action["type"], action["payload"]["slug"]) == ("open_form", slug)


@pytest.mark.parametrize(("language", "said", "slug"), MORE_FORMS)
def test_the_built_in_assistant_knows_it_in_other_words(
    demo: Flask, language: str, said: str, slug: str
) -> None:
    assert_shows(ask(demo, STAFF[language], said), language, slug)


@pytest.mark.parametrize(("language", "said"), NO_SUCH_FORM)
def test_where_there_is_no_such_form_the_nearest_are_offered_as_no_more_than_that(
    house: Flask, language: str, said: str
) -> None:
    reply = ask(house, STAFF[language], said)
    assert reply.tools == ["search_forms"]
    assert not any(part.get("is_best") for part in reply.body["parts"])
    assert reply.text.startswith(NO_FORM[language])


@pytest.mark.parametrize(("language", "said", "tools"), NO_FORMS)
def test_a_question_goes_to_the_other_searches(
    house: Flask, language: str, said: str, tools: set[str]
) -> None:
    reply = ask(house, STAFF[language], said)
    assert set(reply.tools) & tools, reply
    assert "search_forms" not in reply.tools
    assert cards(reply) == []


@pytest.mark.parametrize(
    ("language", "said", "title"),
    [
        ("en", HURT, "Employee injury report"),
        ("es", "Juan se lastimó la mano con la rebanadora a las 3",
         "Reporte de lesión de un empleado"),
    ],
)  # fmt: skip
def test_who_is_hurt_is_helped_first_and_offered_the_report(
    house: Flask, language: str, said: str, title: str
) -> None:
    reply = ask(house, STAFF[language], said)
    assert reply.tools[0] == "search_manual_v2"
    if reply.body["provider"] == "builtin":
        assert reply.citations
    # The report's card stands below the first steps where that form is clear, else a chip does.
    labels = [chip["label"] for chip in reply.body["suggestions"]]
    assert cards(reply) == ["employee-injury-report"] or title in labels


def test_the_command_prints_the_envelope_with_the_block(demo: Flask) -> None:
    runner = demo.test_cli_runner()
    arguments = ["ask", FORMS[0][1], "--user", STAFF["en"], "--json"]
    result = runner.invoke(args=arguments)
    assert result.exit_code == 0, result.output
    body = json.loads(result.stdout)
    assert '"form_navigation"' in body["answer"]
    assert "form_navigation" not in body["message"]


def test_the_card_opens_the_form(demo: Flask, visitor: Callable[[str], Visitor]) -> None:
    reply = ask(demo, STAFF["en"], FORMS[0][1])
    page = visitor(STAFF["en"]).get(f"/chat/{reply.body['session_id']}").text
    assert "/forms/employee-injury-report/open" in page
