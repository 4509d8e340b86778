"""A model that stumbles is asked again before its first word, and left alone while it is down."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.assistant.providers.base import ModelEvent, ModelRequest, ProviderError, TextDelta
from app.assistant.providers.retries_and_breaker import Breaker, RetryingProvider
from tests.assistant.scripted import ScriptedProvider, say

REQUEST = ModelRequest((), (), "en")
WORDS = say("All is well.")


class Stumbling:
    """A steady provider over a script, and the pauses it made."""

    def __init__(self, *replies: Sequence[ModelEvent | BaseException]) -> None:
        self.script = ScriptedProvider(*replies)
        self.waits: list[float] = []
        self.provider = RetryingProvider(
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


def test_what_a_model_declines_of_one_person_keeps_nobody_from_asking() -> None:
    """A model's server that filters contents answers 400, which says nothing of the next one."""
    stumbling = Stumbling(*(error("declined") for _ in range(6)), WORDS)
    for _ in range(6):
        with pytest.raises(ProviderError) as raised:
            stumbling.ask()
        assert raised.value.code == "declined"
    assert stumbling.ask() == "All is well."


def test_a_server_that_declines_something_is_there_again(clock: Clock) -> None:
    provider = RetryingProvider(ScriptedProvider(error("declined")), Breaker(clock))
    fail(provider.breaker, 5)
    clock.now += 31
    with pytest.raises(ProviderError):
        list(provider.stream(REQUEST))
    assert not provider.breaker.is_tripped


def test_the_next_one_may_try_where_whoever_tried_has_left(clock: Clock) -> None:
    provider = RetryingProvider(ScriptedProvider(WORDS, WORDS), Breaker(clock))
    fail(provider.breaker, 5)
    clock.now += 31
    left = provider.stream(REQUEST)
    next(left)
    left.close()
    assert provider.breaker.is_tripped
    assert list(provider.stream(REQUEST))
    assert not provider.breaker.is_tripped


def test_leaving_in_the_middle_ends_the_call_upstream() -> None:
    closed: list[bool] = []

    class Endless(ScriptedProvider):
        def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            try:
                while True:
                    yield TextDelta("on and ")
            finally:
                closed.append(True)

    events = RetryingProvider(Endless(WORDS)).stream(REQUEST)
    next(events)
    events.close()
    assert closed == [True]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(clock)


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        assert breaker.allows()
        breaker.failed()


def test_four_failures_are_borne_and_the_fifth_opens_it(breaker: Breaker) -> None:
    fail(breaker, 4)
    assert breaker.allows()
    breaker.failed()
    assert breaker.is_open
    assert not breaker.allows()


def test_failures_spread_over_more_than_a_minute_do_not_open_it(
    breaker: Breaker, clock: Clock
) -> None:
    for _ in range(20):
        assert breaker.allows()
        breaker.failed()
        clock.now += 15.1
    assert not breaker.is_open


def test_a_success_forgets_the_failures_before_it(breaker: Breaker) -> None:
    fail(breaker, 4)
    breaker.succeeded()
    fail(breaker, 4)
    assert not breaker.is_open


def test_after_half_a_minute_one_may_try_and_the_others_wait(
    breaker: Breaker, clock: Clock
) -> None:
    fail(breaker, 5)
    clock.now += 29.9
    assert not breaker.allows()
    clock.now += 0.2
    assert [breaker.allows() for _ in range(3)] == [True, False, False]


def test_a_try_that_succeeds_closes_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 31
    assert breaker.allows()
    breaker.succeeded()
    assert all(breaker.allows() for _ in range(3))


def test_a_try_that_fails_begins_the_pause_anew(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 5)
    clock.now += 31
    assert breaker.allows()
    breaker.failed()
    clock.now += 29
    assert not breaker.allows()
    clock.now += 2
    assert breaker.allows()


def test_a_try_that_never_ends_does_not_keep_it_open_for_ever(
    breaker: Breaker, clock: Clock
) -> None:
    fail(breaker, 5)
    clock.now += 31
    assert breaker.allows()
    clock.now += 31
    assert breaker.allows()
