"""A message that wants several things: the first is taken, and the next is a tap away."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db import Database
from app.nlu.queries import first_want
from app.skills.service_requests.services.starters import add_starters
from app.skills.service_requests.workflow.state import OpenRequest
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member, make_user

ACTING = ("add_expense", "delete_expense", "update_expense", "suggest_service_request_type")


@pytest.mark.parametrize(
    ("text", "first", "rest"),
    [
        ("The toilet is clogged. Add taxi $5 today.", "The toilet is clogged.",
         "Add taxi $5 today."),
        ("add taxi $5 today. The walk-in is not cooling.", "add taxi $5 today.",
         "The walk-in is not cooling."),
        ("the walk-in is warm.\nwhich dishes have no nuts?", "the walk-in is warm.",
         "which dishes have no nuts?"),
        ("el baño está tapado. agrega taxi 5 dólares", "el baño está tapado.",
         "agrega taxi 5 dólares"),
        # One thing, told in several sentences.
        ("The walk-in is at 52. It is not cooling. Please send somebody", None, ""),
        ("I am allergic to nuts. Which desserts can I have?", None, ""),
        ("El baño está tapado. ¿Qué hago?", None, ""),
        ("Add taxi 12. Add lunch 14.", None, ""),
        ("lights been out since 6. how long is the freezer good for, its packed", None, ""),
        ("leak from ceiling just above plating table!! drop by drop", None, ""),
        ("", None, ""),
        (". . .", None, ""),
        ("Hello. Thanks. Bye!", None, ""),
        ("the toilet is clogged", None, ""),
        # A story is weighed as a whole, however many sentences it has.
        ("The toilet is clogged. Add taxi $5 today. " * 7, None, ""),
    ],
)  # fmt: skip
def test_a_message_is_cut_only_where_another_thing_is_surely_wanted(
    text: str, first: str | None, rest: str
) -> None:
    assert first_want(text, ACTING) == (text if first is None else first, rest)


@pytest.fixture
def cook(owner: Database) -> Member:
    member = make_user(owner)
    with owner.transaction() as session:
        add_starters(session, member.group_id)
    return member


@pytest.mark.parametrize(
    ("language", "said", "rest"),
    [
        ("en", "the toilet in the restroom is clogged. Add taxi $5 today.", "Add taxi $5 today."),
        ("es", "la tarja de la barra gotea. agrega taxi 5 dólares", "agrega taxi 5 dólares"),
    ],
)
def test_what_is_wanted_besides_a_request_is_a_tap_away_and_not_lost(
    demo: Flask, cook: Member, language: str, said: str, rest: str
) -> None:
    talk = Talk(demo, cook, language)
    begun = talk.send(said)
    assert isinstance(talk.state, OpenRequest)
    assert "taxi" not in talk.state.query and "noticed_on" not in talk.state.values
    assert begun.body["suggestions"][0]["message"] == rest
    told = begun.text.replace("«", "“").replace("»", "”").replace("\\", "")
    assert f"“{rest.rstrip('.')}”" in told
    [chip] = [each for each in begun.body["suggestions"] if each["message"] == rest]
    card = talk.send(chip["message"])
    assert [part["type"] for part in card.body["parts"]] == ["proposal"], card.text
    assert "5" in card.body["parts"][0]["summary"][language]
    assert isinstance(talk.state, OpenRequest)


def test_an_expense_takes_nothing_of_the_trouble_that_is_told_with_it(
    demo: Flask, cook: Member
) -> None:
    talk = Talk(demo, cook, "en")
    card = talk.send("add taxi $5 today. The walk-in is not cooling.")
    assert "walk-in" not in str(card.body["parts"])
    messages = [each["message"] for each in card.body["suggestions"]]
    assert messages == ["The walk-in is not cooling."]


def test_a_question_about_allergens_beside_a_request_is_told_and_answered(
    demo: Flask, cook: Member
) -> None:
    talk = Talk(demo, cook, "en")
    begun = talk.send("the walk-in is warm. which dishes have no nuts?")
    [chip] = [each for each in begun.body["suggestions"] if "nuts" in each["message"]]
    assert "search_dishes" in [
        each.get("tool") for each in talk.send(chip["message"]).body["tool_trace"]
    ]
    assert isinstance(talk.state, OpenRequest)
