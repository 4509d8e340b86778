"""A request that is put together while something else is done in between."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.skills.service_requests.workflow.state import OpenRequest
from tests.acceptance.conftest import Followed, Solving
from tests.acceptance.service_requests.conversation import Turn
from tests.acceptance.service_requests.talking import Talk
from tests.acceptance.test_careless_models import PLAIN, SURE, begin
from tests.factories import Member

HIGH = Turn(tap={"type": "field_response", "field": "priority", "value": "high"})
IN = {
    "en": {
        "trouble": "the ice machine is leaking",
        "add": "add taxi $82 today",
        "ask": "Would you like me to add",
        "back": "Back to your request",
        "tell": "the display is dark",
        "undo": "undo that",
        "undone": "I undid that.",
        "nothing": "I can only undo what my last answer",
    },
    "es": {
        "trouble": "la máquina de hielo gotea",
        "add": "agrega taxi $82 hoy",
        "ask": "¿Quieres que agregue",
        "back": "Volvamos a tu solicitud",
        "tell": "la pantalla está apagada",
        "undo": "deshaz eso",
        "undone": "Lo deshice.",
        "nothing": "Solo deshago lo que hizo mi última respuesta.",
    },
}
both = pytest.mark.parametrize("language", ["en", "es"])


def answers(talk: Talk) -> list[str]:
    assert isinstance(talk.state, OpenRequest)
    return [answer for _question, answer in talk.state.answers]


def asked(demo: Flask, who: Member, language: str) -> Talk:
    """A conversation in which the first clarifying question was asked just now."""
    talk = Talk(demo, who, language)
    for turn in (Turn(say=IN[language]["trouble"]), Turn(choose="refrigeration"), HIGH):
        reply = talk.take(turn)
    assert "1" in reply.text and "3" in reply.text and reply.text.rstrip().endswith("?")
    return talk


@both
@pytest.mark.parametrize("word", ["yes", "no"])
def test_after_an_expense_the_request_goes_on(
    demo: Flask, person: Callable[[str], Member], solving: Solving, language: str, word: str
) -> None:
    said = IN[language]
    with solving(PLAIN):
        talk = asked(demo, person(language), language)
        card = talk.send(said["add"])
        assert card.text.rstrip().splitlines()[-1].startswith(said["ask"])
        assert answers(talk) == [], "an order to add something is no answer"
        decided = talk.send(word if language == "en" else {"yes": "sí"}.get(word, word))
        assert said["back"] in decided.text and decided.text.rstrip().endswith("?")
        talk.send(said["tell"])
        assert answers(talk) == [said["tell"]]


@both
def test_what_there_is_nothing_to_undo_for_is_told_and_no_answer(
    demo: Flask, person: Callable[[str], Member], solving: Solving, language: str
) -> None:
    said = IN[language]
    with solving(PLAIN):
        talk = asked(demo, person(language), language)
        assert said["nothing"] in talk.send(said["undo"]).text
        assert answers(talk) == []
        # It stood in no reply that these words follow, so it is asked once more.
        assert talk.send(said["tell"]).text.rstrip().endswith("?")
        talk.send(said["tell"])
        assert answers(talk) == [said["tell"]]


@both
@pytest.mark.parametrize("stage", ["solution", "summary"])
def test_a_thing_with_its_sum_is_an_expense_where_only_the_last_word_is_waited_for(
    demo: Flask, person: Callable[[str], Member], solving: Solving, language: str, stage: str
) -> None:
    """A yes would have filed the request, and the expense was gone without a word."""
    said, yes = IN[language], {"en": "yes", "es": "sí"}[language]
    with solving(SURE if stage == "solution" else PLAIN):
        talk = asked(demo, person(language), language)
        ready = talk.send({"en": "no more questions", "es": "no más preguntas"}[language])
        if stage == "summary":
            ready = talk.send("no")
        last = ready.text.rstrip().splitlines()[-1]
        card = talk.send({"en": "taxi $14 today", "es": "taxi $14 hoy"}[language])
        assert card.text.rstrip().splitlines()[-1].startswith(said["ask"])
        assert [part["type"] for part in card.body["parts"]] == ["proposal"]
        decided = talk.send(yes)
        assert "receipt" in [part["type"] for part in decided.body["parts"]]
        back = decided.text.rstrip().splitlines()[-1]
        assert back == last or said["back"] in back
        assert isinstance(talk.state, OpenRequest)
        undone = talk.send(said["undo"])
        assert said["undone"] in undone.text, "the question behind it takes nothing away"


def test_who_refuses_to_submit_is_not_asked_the_same_in_one_breath(
    demo: Flask, person: Callable[[str], Member], solving: Solving
) -> None:
    with solving(PLAIN):
        talk = asked(demo, person("en"), "en")
        talk.send("no more questions")
        assert "submit" in talk.send("no").text
        refused = talk.send("no")
        assert "What should be different?" in refused.text and "submit" not in refused.text


def test_with_a_model_the_question_is_asked_again_until_it_is_answered(
    followed: Followed, person: Callable[[str], Member], solving: Solving
) -> None:
    with solving(PLAIN):
        talk = Talk(followed.native, person("en"), "en", followed.model)
        begin(talk)
        taxi = {"item": "taxi", "amount": 5}
        talk.take(Turn(say="add taxi $5 today", calls=(("add_expense", taxi),)))
        before, dark = len(answers(talk)), "it is dark"
        assert isinstance(talk.state, OpenRequest)
        asked = talk.state.asked
        assert "Back to your request" in talk.send("yes").text
        calls = (("record_answers", {"questions_answers": [{"question": asked, "answer": dark}]}),)
        talk.take(Turn(say=dark, calls=calls))
        assert answers(talk)[before:] == [dark]
