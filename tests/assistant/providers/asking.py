"""Asking a provider in tests, and reading what it says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.assistant.providers.base import (
    ChatMessage,
    ModelEvent,
    ModelRequest,
    ProviderError,
    TextDelta,
    ToolCall,
    ToolSpec,
)
from app.assistant.providers.openai import OpenAIProvider

MakeProvider = Callable[..., OpenAIProvider]


def asking(message: str = "Are tips shared?", *tools: str) -> ModelRequest:
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}}
    specs = tuple(ToolSpec(name, f"Does {name}.", parameters) for name in tools)
    messages = (ChatMessage("system", "You help."), ChatMessage("user", message))
    return ModelRequest(messages, specs, "en")


def text_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls_of(events: list[ModelEvent]) -> list[tuple[str, str]]:
    return [(event.name, event.arguments) for event in events if isinstance(event, ToolCall)]


def failure_of(provider: OpenAIProvider, said: list[ModelEvent] | None = None) -> ProviderError:
    """The error that a call ends in; what came before it is put into `said`."""
    heard: list[ModelEvent] = [] if said is None else said
    with pytest.raises(ProviderError) as caught:
        heard.extend(provider.stream(asking()))
    return caught.value
