"""A model that stumbles is asked again before its first word, and never after it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.assistant.providers.base import ModelEvent, ModelRequest, ProviderError, TextDelta
from app.assistant.providers.breaker import Breaker
from app.assistant.providers.steady import SteadyProvider
from tests.assistant.scripted import ScriptedProvider, say

REQUEST = ModelRequest((), (), "en")
WORDS = say("All is well.")


class Stumbling:
    """A steady provider over a script, and the pauses it made."""

    def __init__(self, *replies: Sequence[ModelEvent | BaseException]) -> None:
        self.script = ScriptedProvider(*replies)
        self.waits: list[float] = []
        self.provider = SteadyProvider(
            self.script, Breaker(), sleep=self.waits.append, jitter=lambda: 0.5
        )

    def ask(self) -> str:
        events = self.provider.stream(REQUEST)
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    @property
    def calls(self) -> int:
        return len(self.script.requests)


def error(code: str, after: float | None = None) -> list[BaseException]:
    return [ProviderError(code, retry_after=after)]


def test_what_works_is_asked_once() -> None:
    stumbling = Stumbling(WORDS)
    assert (stumbling.ask(), stumbling.calls, stumbling.waits) == ("All is well.", 1, [])


@pytest.mark.parametrize("code", ["unreachable", "rate_limited", "server_error"])
def test_what_may_pass_is_asked_again_after_a_longer_pause_each_time(code: str) -> None:
    stumbling = Stumbling(error(code), error(code), WORDS)
    assert stumbling.ask() == "All is well."
    assert stumbling.waits == [0.3, 0.6]


@pytest.mark.parametrize("code", ["unreachable", "rate_limited", "server_error"])
def test_the_third_failure_is_told(code: str) -> None:
    stumbling = Stumbling(error(code))
    with pytest.raises(ProviderError) as raised:
        stumbling.ask()
    assert (raised.value.code, stumbling.calls) == (code, 3)


@pytest.mark.parametrize("code", ["refused", "timeout", "interrupted"])
def test_what_will_not_pass_is_not_asked_again(code: str) -> None:
    stumbling = Stumbling(error(code), WORDS)
    with pytest.raises(ProviderError):
        stumbling.ask()
    assert (stumbling.calls, stumbling.waits) == (1, [])


def test_the_servers_own_pause_is_kept() -> None:
    stumbling = Stumbling(error("rate_limited", after=2.5), WORDS)
    assert stumbling.ask() == "All is well."
    assert stumbling.waits == [2.5]


def test_nobody_is_kept_waiting_for_a_server_that_wants_a_long_pause() -> None:
    stumbling = Stumbling(error("rate_limited", after=30), WORDS)
    with pytest.raises(ProviderError) as raised:
        stumbling.ask()
    assert (raised.value.retry_after, stumbling.calls, stumbling.waits) == (30, 1, [])


def test_after_the_first_word_nothing_is_asked_again() -> None:
    stumbling = Stumbling([*say("All is"), ProviderError("server_error")], WORDS)
    with pytest.raises(ProviderError):
        stumbling.ask()
    assert stumbling.calls == 1


def test_a_model_that_is_down_is_left_alone() -> None:
    stumbling = Stumbling(error("refused"))
    for _ in range(5):
        with pytest.raises(ProviderError):
            stumbling.ask()
    with pytest.raises(ProviderError) as raised:
        stumbling.ask()
    assert (raised.value.code, stumbling.calls) == ("unreachable", 5)


def test_leaving_in_the_middle_ends_the_call_upstream() -> None:
    closed: list[bool] = []

    class Endless(ScriptedProvider):
        def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            try:
                while True:
                    yield TextDelta("on and ")
            finally:
                closed.append(True)

    events = SteadyProvider(Endless(WORDS)).stream(REQUEST)
    next(events)
    events.close()
    assert closed == [True]
