"""Which model answers: by setting, the built-in assistant when there is none."""

from __future__ import annotations

from app.assistant.providers.base import Provider
from app.assistant.providers.retries_and_breaker import Breaker, RetryingProvider
from app.config import Settings
from app.retrieval.embedder import Embedder


def make_provider(
    settings: Settings, embedder: Embedder, breaker: Breaker | None = None
) -> Provider:
    """The provider that the settings ask for; only its own libraries are imported.

    `breaker` is who finds out whether it can be asked; its own where none is given.
    """
    if settings.provider == "openai":
        from app.assistant.providers.openai import OpenAIProvider

        patient = RetryingProvider(OpenAIProvider(settings), breaker)
        if settings.ai_tool_mode == "native":
            return patient
        from app.assistant.providers.json_mode import JsonModeProvider

        return JsonModeProvider(patient)
    return _builtin(embedder)


def make_standby(settings: Settings, embedder: Embedder) -> Provider | None:
    """Who takes a turn that the provider could not begin; nobody stands in for the built-in."""
    if settings.provider == "builtin" or not settings.ai_fallback:
        return None
    return _builtin(embedder)


def _builtin(embedder: Embedder) -> Provider:
    from app.assistant.providers.builtin import BuiltinProvider

    return BuiltinProvider(embedder)
