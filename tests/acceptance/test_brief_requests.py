"""Requests of types that ask for no more than they need: from a sentence and a yes to a number."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.assistant.models import Message
from app.db import Database, utc_now
from app.skills.service_requests.models import RequestType, ServiceRequest
from app.skills.service_requests.services.starters import add_starters
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest
from tests.acceptance.asking import Reply
from tests.acceptance.conftest import Followed
from tests.acceptance.service_requests.conversation import Turn
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member, make_user

ADD = {"en": "To add something, say what:", "es": "Si quieres agregar algo, di qué:"}
YES = {"en": "yes", "es": "sí"}


@pytest.fixture
def cook(owner: Database) -> Member:
    """Somebody of a restaurant that has all the usual types as they come."""
    member = make_user(owner)
    with owner.transaction() as session:
        add_starters(session, member.group_id)
    return member


@pytest.fixture
def talk(demo: Flask, cook: Member) -> Talk:
    return Talk(demo, cook, "en")


def open_request(talk: Talk) -> OpenRequest:
    state = talk.state
    assert isinstance(state, OpenRequest)
    return state


def parts(reply: Reply) -> list[str]:
    return [part["type"] for part in reply.body["parts"]]


def chips(reply: Reply) -> list[str]:
    return [chip["label"] for chip in reply.body["suggestions"]]


def filed(owner: Database, who: Member) -> Sequence[ServiceRequest]:
    with owner.session() as session:
        mine = select(ServiceRequest).where(ServiceRequest.user_id == who.user_id)
        found = session.scalars(mine.order_by(ServiceRequest.number)).all()
        session.expunge_all()
    return found


@pytest.mark.parametrize(
    ("language", "said", "slug", "values"),
    [
        (
            "en", "the walk-in is not cooling, it is at 52 degrees", "refrigeration",
            {"priority": "high", "problem": "warm", "equipment": "walk-in"},
        ),
        (
            "en", "the ice machine in the bar is leaking, urgent please", "refrigeration",
            {"priority": "urgent", "problem": "leak", "equipment": "ice machine"},
        ),
        (
            "es", "el cuarto frío no enfría, está a 52 grados F", "refrigeration",
            {"priority": "high", "problem": "warm"},
        ),
    ],
)  # fmt: skip
def test_a_sentence_that_says_what_and_where_and_a_yes_are_a_request(
    demo: Flask, owner: Database, cook: Member, language: str, said: str, slug: str,
    values: dict[str, str],
) -> None:  # fmt: skip
    talk = Talk(demo, cook, language)
    card = talk.send(said)
    assert parts(card) == ["proposal"], card.text
    assert ADD[language] in card.text
    state = open_request(talk)
    assert {name: state.values[name] for name in values} == values
    assert "receipt" in parts(talk.send(YES[language]))
    [request] = filed(owner, cook)
    assert request.priority == values["priority"]
    with owner.session() as session:
        assert session.get_one(RequestType, request.type_id).slug == slug


def test_what_is_required_and_was_not_said_is_asked_for_and_nothing_else(talk: Talk) -> None:
    asked = talk.send("fryer 2 is acting up")
    assert "This looks like “Cooking equipment”." in asked.text
    assert chips(asked)[:2] == ["Another type", "Cancel the request"]
    assert open_request(talk).awaited == "problem"
    card = talk.send("it does not light")
    assert parts(card) == ["proposal"], card.text
    state = open_request(talk)
    assert not state.answers and not state.asked


# What names its type and says nothing of it; how it is answered on the card, and what is told.
SHORT = {
    "en": ("i need a plumber", "✓ Which sink, drain or pipe: Bar sink; What is wrong: Leaks"),
    "es": ("necesito un plomero", "✓ Qué tarja, coladera o tubo: Bar sink; Qué pasa: Gotea"),
}


def fields_step(talk: Talk, card: Reply, **values: object) -> dict[str, object]:
    """What the card of several fields posts, by the names of the fields."""
    ids = {each.field.name: str(each.field_id) for each in open_request(talk).form.fields}
    asked = [part for part in card.body["parts"] if part["type"] == "request_fields"]
    assert asked
    return {"type": "fields_response", "values": {ids[name]: raw for name, raw in values.items()}}


@pytest.mark.parametrize("language", ["en", "es"])
def test_several_that_are_missing_are_asked_for_on_one_card(
    demo: Flask, owner: Database, cook: Member, language: str
) -> None:
    talk = Talk(demo, cook, language)
    said, told = SHORT[language]
    asked = talk.send(said)
    assert parts(asked) == ["request_fields"], asked.text
    [card] = asked.body["parts"]
    assert [each["block"]["name"] for each in card["missing"]] == ["fixture", "problem"]
    assert "photos" in [each["block"]["name"] for each in card["others"]]
    title, priority = card["lines"]
    assert title["value"].casefold() in said
    assert priority["label"] == {"en": "Priority", "es": "Prioridad"}[language]
    step = fields_step(talk, asked, fixture="Bar sink", problem="leak", place="")
    shown = talk.send("", step)
    assert parts(shown) == ["proposal"], shown.text
    with owner.session() as session:
        mine = select(Message.content).where(Message.user_id == cook.user_id)
        said = session.scalars(mine.where(Message.role == "user").order_by(Message.id)).all()
    assert said[1] == told
    assert filed(owner, cook) == []
    talk.send(YES[language])
    [request] = filed(owner, cook)
    assert "Bar sink" in request.values.values()


def test_in_words_one_of_several_is_taken_and_the_rest_is_asked_for(talk: Talk) -> None:
    asked = talk.send("i need a plumber")
    assert "Still needed: Which sink, drain or pipe; What is wrong." in asked.text
    following = talk.send("it is leaking")
    state = open_request(talk)
    assert state.values["problem"] == "leak" and "fixture" not in state.values, following.text
    assert state.awaited == "fixture" and parts(following) == []
    assert parts(talk.send("the hand sink")) == ["proposal"]
    assert open_request(talk).values["fixture"] == "the hand sink"


def test_a_card_that_is_put_away_leaves_the_ways_on(talk: Talk) -> None:
    talk.send("i need a plumber")
    [first, *_] = open_request(talk).missing
    shown = talk.send("", {"type": "widget_cancelled", "field_id": str(first.field_id)})
    assert chips(shown) == ["Try again", "Cancel the request"]
    again = talk.send("Try again")
    assert open_request(talk).awaited == "fixture", again.text


def test_the_usual_priority_is_marked_and_gives_way_to_any_other(talk: Talk) -> None:
    card = talk.send("the walk-in is not cooling, it is at 52 degrees")
    [proposal] = card.body["parts"]
    assert ["Priority", "High (usual for this)"] in proposal["details"]["en"]
    noted = talk.send("make it urgent")
    assert "→" not in noted.text
    [proposal] = noted.body["parts"]
    assert ["Priority", "Urgent · You said: “urgent”"] in proposal["details"]["en"] or [
        "Priority", "Urgent"
    ] in proposal["details"]["en"]  # fmt: skip
    again = talk.send("actually make it low priority")
    assert "Urgent → Low" in again.text or open_request(talk).values["priority"] == "low"


def test_what_can_be_added_is_added_by_its_label(talk: Talk) -> None:
    talk.send("the walk-in is not cooling, it is at 52 degrees")
    card = talk.send("Where it is: back door")
    assert parts(card) == ["proposal"]
    assert open_request(talk).values["place"] == "back door"
    assert ADD["en"] not in card.text


@pytest.mark.parametrize(
    ("language", "said", "other"),
    [
        ("en", "the hand sink at the bar is leaking", "another type"),
        ("en", "the hand sink at the bar is leaking", "that's the wrong type"),
        ("es", "la tarja de la barra gotea", "otro tipo"),
    ],
)
def test_another_type_is_chosen_for_what_was_said(
    demo: Flask, owner: Database, cook: Member, language: str, said: str, other: str
) -> None:
    talk = Talk(demo, cook, language)
    talk.send(said)
    assert open_request(talk).query == said
    shown = talk.send(other)
    assert parts(shown) == ["type_selector"]
    state = talk.state
    assert isinstance(state, NoRequest) and state.is_choosing and state.query == said
    assert filed(owner, cook) == []


def test_only_who_says_so_changes_the_type(
    followed: Followed, owner: Database, demo: Flask, cook: Member
) -> None:
    """What was said of the request would be lost: a model may not wish for it."""
    talk = Talk(followed.native, cook, "en", followed.model)
    said = "the hand sink at the bar is leaking"
    talk.take(Turn(say=said, calls=(("suggest_service_request_type", {"user_query": said}),)))
    assert open_request(talk).query == said
    again = (("suggest_service_request_type", {"user_query": said}),)
    talk.take(Turn(say="it is the left one", calls=again))
    assert open_request(talk).query == said
    assert followed.server.last_call.tool_results[0]["error"] is True


@pytest.mark.parametrize("said", ["something is broken", "it does not work", "help me please"])
def test_where_several_may_be_meant_the_type_is_chosen(talk: Talk, said: str) -> None:
    talk.send(said)
    assert isinstance(talk.state, NoRequest)


def test_a_type_that_asks_step_by_step_is_chosen_and_asks(
    talk: Talk, owner: Database, cook: Member
) -> None:
    with owner.transaction() as session:
        session.execute(
            update(RequestType)
            .where(RequestType.group_id == cook.group_id, RequestType.slug == "refrigeration")
            .values(is_guided=True)
        )
    assert parts(talk.send("the walk-in is not cooling, it is at 52 degrees")) == ["type_selector"]
    talk.send("Refrigeration and ice")
    assert "priority" in [each.field.name for each in open_request(talk).missing]


def test_what_was_reported_lately_is_told_with_the_way_to_it(
    demo: Flask, owner: Database, cook: Member
) -> None:
    first = Talk(demo, cook, "en")
    first.send("the walk-in is not cooling, it is at 52 degrees")
    first.send("yes")
    [request] = filed(owner, cook)
    second = Talk(demo, cook, "en").send("the walk-in is warm again")
    assert "You reported something of this type" in second.text
    [listed] = [part for part in second.body["parts"] if part["type"] == "request_list"]
    assert [row["reference"] for row in listed["rows"]] == [request.reference]
    # Neither a colleague, nor who comes two days later or after it was closed, is told.
    colleague = make_user(owner, cook.group_id)
    for who, facts in (
        (colleague, {}),
        (cook, {"submitted_at": utc_now() - timedelta(days=2)}),
        (cook, {"submitted_at": utc_now(), "status": "closed"}),
    ):
        with owner.transaction() as session:
            mine = ServiceRequest.id == request.id
            session.execute(update(ServiceRequest).where(mine).values(**facts or {"year": 2026}))
        told = Talk(demo, who, "en").send("the walk-in is warm again").text
        assert "You reported something of this type" not in told


@pytest.mark.parametrize(
    ("language", "cancel"), [("en", "cancel"), ("en", "Cancel the request"), ("es", "cancela")]
)
def test_what_began_at_once_is_cancelled_by_one_message(
    demo: Flask, owner: Database, cook: Member, language: str, cancel: str
) -> None:
    talk = Talk(demo, cook, language)
    talk.send("the walk-in is warm" if language == "en" else "el cuarto frío está tibio")
    assert talk.state.is_open
    talk.send(cancel)
    assert not talk.state.is_open
    assert filed(owner, cook) == []
