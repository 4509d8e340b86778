"""Requests put together in conversation: built-in assistant, model with tools, model with JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete

from app import create_app
from app.config import Settings
from app.db import Database
from app.errors import ComandaError
from app.skills.service_requests.models import RequestSettings
from tests.acceptance.service_requests.conversation import (
    Conversation,
    load_conversations,
)
from tests.acceptance.service_requests.following import FollowingModel
from tests.acceptance.service_requests.looking import problems, wrongly_filed
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member, make_user
from tests.model_server import InJson, ModelServer

CONVERSATIONS = load_conversations()
IN_JSON = [each for each in CONVERSATIONS if each.in_json]
everyone = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.name)


@dataclass(frozen=True)
class Followed:
    """Two apps of the same houses that ask one model: with function calling, and in JSON."""

    native: Flask
    in_json: Flask
    model: FollowingModel


@pytest.fixture(scope="session")
def followed(demo: Flask, settings: Settings) -> Iterator[Followed]:
    model = FollowingModel()
    with ModelServer(InJson(model, sizes=60), default=model) as server:
        asking = {"openai_base_url": server.base_url, "openai_api_key": "none"}
        native = create_app(settings.model_copy(update=asking))
        in_json = create_app(settings.model_copy(update=asking | {"ai_tool_mode": "json"}))
        yield Followed(native, in_json, model)


@pytest.fixture(scope="session")
def elsewhere(demo: Flask, settings: Settings) -> Flask:
    """Another process of the same house, which has seen nothing of a conversation."""
    return create_app(settings)


@pytest.fixture
def person(owner: Database, houses: dict[str, UUID]) -> Callable[[str], Member]:
    """Makes somebody new of the demo house."""
    return lambda language: make_user(owner, houses["alamo-prime"], "staff", language=language)


Solving = Callable[[Conversation], AbstractContextManager[None]]


@pytest.fixture
def solving(owner: Database, houses: dict[str, UUID]) -> Solving:
    """Sets whether the house proposes solutions, for the time of a conversation."""
    group_id = houses["alamo-prime"]

    def forget() -> None:
        with owner.transaction() as session:
            session.execute(delete(RequestSettings).where(RequestSettings.group_id == group_id))

    @contextmanager
    def set_up(conversation: Conversation) -> Iterator[None]:
        with owner.transaction() as session:
            session.add(
                RequestSettings(
                    group_id=group_id,
                    is_resolution_on=conversation.is_solving,
                    resolution_threshold=conversation.threshold,
                )
            )
        try:
            yield
        finally:
            forget()

    forget()
    return set_up


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
