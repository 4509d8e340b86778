"""What was learned, made too old: as after a change of a sentence without `make nlu`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.nlu import model


@pytest.fixture
def stale_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(model, "digest", lambda **_: "of other sentences")
    _forget()
    yield
    _forget()


def _forget() -> None:
    """Have what was read looked at again."""
    model.load_model.cache_clear()
    model.read_intents.cache_clear()
