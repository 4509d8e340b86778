"""The same real processes as the assistant's own tests have."""

from tests.assistant.conftest import processes, shared_model, web

__all__ = ["processes", "shared_model", "web"]
