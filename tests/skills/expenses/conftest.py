"""A house with a server, a colleague and a manager, and ways to talk to its assistant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app.assistant.models import Message
from app.assistant.providers.base import Provider
from app.assistant.providers.builtin import BuiltinProvider
from app.db import Database
from tests.assistant.answering import Answering
from tests.assistant.scripted import ScriptedProvider
from tests.factories import CheckedClient, Member, answer, ask, make_user, sign_in

SayTo = Callable[..., Message]


@pytest.fixture
def boss(owner: Database, member: Member) -> Member:
    """A manager of the member's house."""
    return make_user(owner, member.group_id, "manager", name="Max Boss")


@pytest.fixture
def colleague(owner: Database, member: Member) -> Member:
    """Somebody else on the floor of the same house."""
    return make_user(owner, member.group_id)


@pytest.fixture
def stranger(owner: Database) -> Member:
    """A manager of another house."""
    return make_user(owner, role="manager")


@pytest.fixture
def say_to(app: Flask, database: Database) -> SayTo:
    """Sends what somebody writes to a model that follows a script, or to the built-in one."""

    def send(
        who: Member, words: str, *script: Any, thread: UUID | None = None, **more: Any
    ) -> Message:
        accepted = ask(database, who, words, thread, **more)
        provider: Provider = (
            ScriptedProvider(*script)
            if script
            else BuiltinProvider(app.extensions["comanda"].embedder)
        )
        return answer(app, who, accepted, provider)

    return send


@pytest.fixture
def answering(app: Flask, nobody_waits: None) -> Iterator[Answering]:
    """A runner of this process, whose model says what the test tells it to."""
    with Answering(app) as running:
        yield running


@pytest.fixture
def manager(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    """The browser of the manager."""
    return sign_in(app, owner, boss)
