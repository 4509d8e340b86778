"""The fixture that gives a test a model server of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model_server.server import ModelServer


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A running model server; without a script it is the plausible assistant."""
    with ModelServer() as server:
        yield server
