"""Requests put together in conversation: built-in assistant, model with tools, model with JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flask import Flask

from app.db import Database
from app.errors import ComandaError
from app.skills.service_requests.workflow import state_loader
from app.skills.service_requests.workflow.reducer import Step, read_state
from app.skills.service_requests.workflow.state import RequestState
from tests.acceptance.conftest import Followed, Solving
from tests.acceptance.service_requests.conversation import (
    Conversation,
    load_conversations,
)
from tests.acceptance.service_requests.looking import problems, wrongly_filed
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member

CONVERSATIONS = load_conversations()
IN_JSON = [each for each in CONVERSATIONS if each.in_json]
everyone = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.name)


def hold(talk: Talk, conversation: Conversation, provider: str, other: Flask) -> list[str]:
    """Take every turn; what was not as expected of them."""
    here, wrong = talk.app, []
    for number, turn in enumerate(conversation.turns, 1):
        talk.app = other if turn.elsewhere else here
        try:
            reply = talk.take(turn)
        except ComandaError as refused:
            return [*wrong, f"{number}. {turn}: {refused.message}"]
        found = problems(reply, talk.state, turn.of(provider))
        wrong += [f"{number}. {turn}: {each}" for each in found]
    return wrong


@everyone
def test_with_the_built_in_assistant(
    demo: Flask,
    elsewhere: Flask,
    owner: Database,
    person: Callable[[str], Member],
    solving: Solving,
    conversation: Conversation,
) -> None:
    talk = Talk(demo, person(conversation.language), conversation.language)
    with solving(conversation):
        assert not (wrong := hold(talk, conversation, "builtin", elsewhere)), "\n".join(wrong)
    assert not (wrong := wrongly_filed(owner, talk, conversation)), "\n".join(wrong)


@everyone
def test_with_a_model_that_calls_tools(
    followed: Followed,
    owner: Database,
    person: Callable[[str], Member],
    solving: Solving,
    conversation: Conversation,
) -> None:
    talk = Talk(
        followed.native, person(conversation.language), conversation.language, followed.model
    )
    followed.model.confidence = conversation.sureness
    with solving(conversation):
        assert not (wrong := hold(talk, conversation, "model", followed.native)), "\n".join(wrong)
    assert not (wrong := wrongly_filed(owner, talk, conversation)), "\n".join(wrong)


@pytest.mark.parametrize("conversation", IN_JSON, ids=lambda each: each.name)
def test_with_a_model_that_speaks_json(
    followed: Followed,
    owner: Database,
    person: Callable[[str], Member],
    solving: Solving,
    conversation: Conversation,
) -> None:
    talk = Talk(
        followed.in_json, person(conversation.language), conversation.language, followed.model
    )
    followed.model.confidence = conversation.sureness
    with solving(conversation):
        assert not (wrong := hold(talk, conversation, "model", followed.in_json)), "\n".join(wrong)
    assert not (wrong := wrongly_filed(owner, talk, conversation)), "\n".join(wrong)


def test_a_typed_answer_has_the_state_worked_out_before_it_and_after_it(
    demo: Flask, person: Callable[[str], Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    worked_out: list[int] = []

    def counted(steps: Sequence[Step], *around: Any) -> RequestState:
        worked_out.append(len(steps))
        return read_state(steps, *around)

    monkeypatch.setattr(state_loader, "read_state", counted)
    talk = Talk(demo, person("en"), "en")
    [selector] = talk.send("the fryer will not light").body["parts"]
    talk.send("", {"type": "type_selection", "type_id": selector["suggestions"][0]["type_id"]})
    worked_out.clear()
    assert talk.send("high").text.startswith("Noted. Priority: High.")
    assert len(worked_out) == 2


@pytest.mark.parametrize(
    ("language", "trouble", "agreed", "begun"),
    [
        ("en", "the ice machine is leaking", "yes", "Refrigeration and ice."),
        ("en", "the fryer will not light", "yes please", "Cooking equipment."),
        ("es", "la máquina de hielo gotea", "sí, claro", "Refrigeración y hielo."),
        ("es", "la freidora no prende", "sí", "Equipo de cocina."),
    ],
)
def test_a_yes_to_the_likely_type_begins_it(
    demo: Flask, person: Callable[[str], Member], language: str, trouble: str, agreed: str,
    begun: str,
) -> None:  # fmt: skip
    talk = Talk(demo, person(language), language)
    talk.send(trouble)
    assert talk.send(agreed).text.startswith(begun)


def test_a_yes_behind_something_else_begins_nothing(
    demo: Flask, person: Callable[[str], Member]
) -> None:
    talk = Talk(demo, person("en"), "en")
    talk.send("the ice machine is leaking")
    talk.send("How long can raw chicken stay out?")
    assert "Question 1" not in talk.send("yes").text
    assert not talk.state.is_open
