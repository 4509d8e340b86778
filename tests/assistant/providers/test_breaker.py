"""When a model that keeps failing is left alone, and when it is tried again."""

from __future__ import annotations

import pytest

from app.assistant.providers.breaker import Breaker


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
