"""Somebody who speaks of dying is answered at once, whatever becomes of the model."""

from __future__ import annotations

import pytest
from flask import Flask

from app.assistant.turns.crisis import is_crisis
from app.db import Database
from tests.assistant.scripted import ScriptedProvider, say
from tests.factories import Member, answer, ask, make_user

SAID = {
    "en": "i cant do this anymore, i want to die",
    "es": "ya no quiero vivir, me quiero matar",
}
WORDS = {
    "en": "I'm glad you said this. You don't have to get through it alone.",
    "es": "No tienes que pasar por esto",
}


@pytest.mark.parametrize("language", ["en", "es"])
def test_whom_to_call_is_said_without_asking_any_model(
    app: Flask, database: Database, owner: Database, language: str
) -> None:
    member = make_user(owner, language=language)
    asked_nothing = ScriptedProvider()
    accepted = ask(database, member, SAID[language], language=language)
    reply = answer(app, member, accepted, asked_nothing)
    assert reply.status == "complete"
    assert reply.provider == "fast_path"
    assert WORDS[language] in reply.content
    for number in ("988", "911"):
        assert number in reply.content


def test_it_is_heard_where_something_else_was_asked(
    app: Flask, database: Database, member: Member
) -> None:
    asked = ask(database, member, "The walk-in is warm")
    answer(app, member, asked, ScriptedProvider(say("Since when is it warm?")))
    after = ask(database, member, SAID["en"], asked.thread.id)
    assert "988" in answer(app, member, after, ScriptedProvider()).content


@pytest.mark.parametrize(
    "text",
    [
        "the walk-in died again", "this shift is killing me", "kill the ribeye on 12",
        "me muero de hambre", "se murió la batería del escáner", "se queda en negro",
        "desde hoy en la mañana", "no", "sí", "cancel it", "the printer is dead", "im dying lol",
        "I cut myself on the slicer", "I burned myself on the fryer", "me corté con la rebanadora",
        "me quiero morir de risa", "we want to die laughing", "who wants to die for tacos",
    ],
)  # fmt: skip
def test_how_people_talk_at_work_is_none(text: str) -> None:
    assert not is_crisis(text)


@pytest.mark.parametrize(
    "text",
    [
        "suicide", "i feel suicidal", "someone wants to kill himself", "My cook wants to die",
        "pienso en el suicidio", "dice que se quiere matar", "quiero quitarme la vida",
        "no quiero seguir viviendo", "self harm",
        "this place is killing me and i dont want to live anymore",
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_answer", [False, True])
def test_what_nobody_may_pass_over_is_one(text: str, *, is_answer: bool) -> None:
    assert is_crisis(text, is_answer=is_answer)
