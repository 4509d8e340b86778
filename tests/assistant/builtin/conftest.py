"""The bundled model, the real tools, and a request made of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from flask import Flask

from app.assistant.providers.base import ChatMessage, ModelRequest, ToolSpec
from app.assistant.providers.builtin import BuiltinProvider
from app.demo import load_demo
from app.retrieval.embedder import WordLlamaEmbedder
from app.skills.forms.tools.search_tools import SearchForms
from app.skills.knowledge.tools.search_tools import TOOLS

MakeRequest = Callable[..., ModelRequest]


@pytest.fixture(scope="session")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.fixture(scope="session")
def provider(embedder: WordLlamaEmbedder) -> BuiltinProvider:
    return BuiltinProvider(embedder)


@pytest.fixture(scope="session")
def tools() -> tuple[ToolSpec, ...]:
    """The tools of the chat as they describe themselves."""
    return tuple(tool.spec() for tool in (*TOOLS, SearchForms()))


@pytest.fixture
def make_request(tools: tuple[ToolSpec, ...]) -> MakeRequest:
    """A request whose conversation takes turns, the person first and last."""

    def make(
        *said: str,
        language: str = "en",
        action: str = "",
        hints: Mapping[str, Any] | None = None,
        offered: tuple[ToolSpec, ...] = tools,
    ) -> ModelRequest:
        turns = [
            ChatMessage("assistant" if number % 2 else "user", text)
            for number, text in enumerate(said)
        ]
        messages = (ChatMessage("system", "Be brief."), *turns)
        records = {tool.name: tool.records for tool in TOOLS}
        return ModelRequest(messages, offered, language, action, hints or {}, records=records)

    return make


@pytest.fixture(scope="session")
def house(app: Flask) -> Flask:
    """The app with the demo restaurant in its database."""
    with app.app_context():
        load_demo(app.extensions["comanda"])
    return app
