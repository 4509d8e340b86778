"""Openai providers that ask the scripted model server."""

from __future__ import annotations

from typing import Any

import pytest

from app.assistant.providers.openai import OpenAIProvider
from app.config import Settings
from tests.assistant.providers.asking import MakeProvider
from tests.model_server import ModelServer


@pytest.fixture
def make_provider(model_server: ModelServer) -> MakeProvider:
    def make(**settings: Any) -> OpenAIProvider:
        defaults = {"openai_base_url": model_server.base_url, "ai_chat_model": "scripted"}
        return OpenAIProvider(Settings.model_validate(defaults | settings))

    return make


@pytest.fixture
def provider(make_provider: MakeProvider) -> OpenAIProvider:
    return make_provider()
