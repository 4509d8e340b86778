"""What a conversation shows of its widgets later: open, answered or closed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.assistant.models import Message
from app.assistant.threads.threads import show_branch
from app.db import Database
from app.fields.values import normal_email
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.parts import (
    FieldWidgetPart,
    RequestFieldsPart,
    TypeSelectorPart,
)
from app.skills.service_requests.services.definitions import read_request_fields
from app.skills.service_requests.workflow.refreshers import refresh_parts
from app.skills.service_requests.workflow.suggestions import unfinished_work
from tests.factories import Member
from tests.skills.service_requests.building import Talk, id_of, start_talk


@pytest.fixture
def talk(database: Database, member: Member, wide: RequestType) -> Talk:
    return start_talk(database, member, wide)


def show(
    talk: Talk, message_id: UUID, part: TypeSelectorPart | FieldWidgetPart | RequestFieldsPart
) -> UUID:
    with talk.database.transaction(talk.who.scope) as session:
        session.execute(
            update(Message)
            .where(Message.id == message_id)
            .values(parts=[part.model_dump(mode="json")])
        )
    return message_id


def widget(talk: Talk, name: str) -> UUID:
    """The widget of a field is shown; returns its message."""
    [stored] = [each for each in talk.kind.fields if each["name"] == name]
    block = {key: value for key, value in stored.items() if key not in ("field_id", "step")}
    [field] = read_request_fields([stored | {"show_if": None}])
    return show(talk, talk.ask_for(name), FieldWidgetPart(field_id=field.field_id, block=block))


def card(talk: Talk) -> UUID:
    """A card that asks for two fields at once is shown; returns its message."""
    fields = {each["name"]: dict(each) for each in talk.kind.fields}
    asked = []
    for name in ("title", "place"):
        field_id = fields[name].pop("field_id")
        fields[name].pop("step", None)
        asked.append(FieldWidgetPart(field_id=field_id, block=fields[name]))
    part = RequestFieldsPart(type_name="Oven", lines=[], missing=asked)
    return show(talk, talk.ask_for("title"), part)


def test_a_card_is_open_until_its_fields_are_asked_for_otherwise(app: Flask, talk: Talk) -> None:
    card(talk)
    assert drawn(app, talk) == [("open", "")]
    values = {id_of(talk.kind, "title"): "Oven", id_of(talk.kind, "place"): "bar"}
    talk.add({"type": "fields_response", "values": values})
    answered = ("answered", "What is it about: Oven; Place: Bar")
    assert drawn(app, talk) == [answered]
    card(talk)
    card(talk)
    assert drawn(app, talk) == [answered, ("closed", ""), ("open", "")]
    talk.tell(title="Grill")
    assert drawn(app, talk) == [answered, ("closed", ""), ("closed", "")]


def selector(talk: Talk) -> UUID:
    """The types are shown to choose from; returns the message."""
    asked = talk.add({"type": "type_offered", "query": "The oven"})
    return show(talk, asked, TypeSelectorPart(query="The oven", types_tree=[]))


def drawn(app: Flask, talk: Talk) -> list[tuple[str, str]]:
    """The state and the answer of each widget of the conversation, in their order."""
    with app.test_request_context("/"), talk.database.transaction(talk.who.scope) as session:
        query = select(Message).where(Message.thread_id == talk.thread_id).order_by(Message.id)
        parts: list[Any] = list(refresh_parts(session, session.scalars(query).all()).values())
    return [(part.state, part.answer) for part in parts]


def cancel(talk: Talk, name: str) -> UUID:
    return talk.add({"type": "widget_cancelled", "field_id": id_of(talk.kind, name)})


def test_a_widget_is_open_until_it_is_answered_and_then_shows_its_value(
    app: Flask, talk: Talk
) -> None:
    widget(talk, "place")
    assert drawn(app, talk) == [("open", "")]
    talk.tell(place="bar")
    assert drawn(app, talk) == [("answered", "Place: Bar")]


def test_only_the_widget_that_asked_last_is_open(app: Flask, talk: Talk) -> None:
    widget(talk, "place")
    widget(talk, "place")
    assert drawn(app, talk) == [("closed", ""), ("open", "")]
    talk.tell(place="bar")
    assert drawn(app, talk) == [("closed", ""), ("answered", "Place: Bar")]
    widget(talk, "place")
    assert drawn(app, talk)[1:] == [("answered", "Place: Bar"), ("open", "")]


def test_a_widget_that_was_left_stays_closed_whatever_is_answered_later(
    app: Flask, talk: Talk
) -> None:
    widget(talk, "place")
    cancel(talk, "place")
    assert drawn(app, talk) == [("closed", "")]
    talk.tell(place="bar")
    assert drawn(app, talk) == [("closed", "")]


def test_with_its_request_a_widget_is_closed(app: Flask, talk: Talk) -> None:
    widget(talk, "place")
    talk.add({"type": "request_cancelled"})
    talk.begin()
    talk.tell(place="bar")
    assert drawn(app, talk) == [("closed", "")]


def test_a_field_that_is_hidden_by_another_answer_is_not_open(app: Flask, talk: Talk) -> None:
    talk.tell(place="kitchen")
    widget(talk, "burner")
    assert drawn(app, talk) == [("open", "")]
    talk.tell(place="bar")
    assert drawn(app, talk) == [("closed", "")]


def test_the_newest_selector_is_open_and_shows_what_was_chosen(app: Flask, talk: Talk) -> None:
    talk.add({"type": "request_cancelled"})
    selector(talk)
    talk.add({"type": "widget_cancelled"})
    selector(talk)
    selector(talk)
    assert drawn(app, talk) == [("closed", ""), ("closed", ""), ("open", "")]
    talk.add({"type": "type_selection", "type_id": str(talk.kind.id), "version": 1})
    assert drawn(app, talk) == [("closed", ""), ("closed", ""), ("answered", "Equipment repair")]
    talk.add({"type": "request_cancelled"})
    assert drawn(app, talk)[-1] == ("answered", "Equipment repair")


def test_what_was_answered_on_another_branch_is_open_on_this_one(
    app: Flask, database: Database, talk: Talk
) -> None:
    asked = widget(talk, "place")
    before = talk.tell(place="bar")
    with database.transaction(talk.who.scope) as session:
        # Asked again in other words: a sibling of the answer.
        sibling = Message(
            group_id=talk.who.group_id,
            user_id=talk.who.user_id,
            thread_id=talk.thread_id,
            parent_id=asked,
            role="user",
            content="Why?",
        )
        session.add(sibling)
        session.flush()
        there = sibling.id
    for message_id, expected in ((there, ("open", "")), (before, ("answered", "Place: Bar"))):
        with database.session(talk.who.scope) as session:
            show_branch(session, talk.thread_id, message_id)
        assert drawn(app, talk) == [expected]
        assert bool(talk.state().told) == (expected[0] == "answered")


def test_what_is_not_finished_is_told_without_reading_its_answers(
    app: Flask, talk: Talk, member: Member
) -> None:
    for number in range(20):
        talk.tell(mail=f"ana{number}@example.com")
    read_before = normal_email.cache_info()
    with app.test_request_context(), talk.database.transaction(member.scope) as session:
        [found] = unfinished_work(session, "en")
    assert found.text == "Request not sent yet: Equipment repair"
    assert normal_email.cache_info() == read_before
    # Read again, as each turn does, an address costs nothing.
    talk.state()
    misses = normal_email.cache_info().misses
    talk.state()
    assert normal_email.cache_info().misses == misses
