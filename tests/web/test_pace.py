"""What comes at once goes on one after the other."""

from __future__ import annotations

import pytest

from app.web import pace
from app.web.pace import Pace


def test_what_waits_for_its_turn_goes_on_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits, times = list[float](), iter([100.0] * 12 + [200.0])
    monkeypatch.setattr(pace, "monotonic", lambda: next(times))
    monkeypatch.setattr(pace.gevent, "sleep", waits.append)
    turns = Pace(every=0.05, longest=0.2)
    for _ in range(13):
        turns.wait()
    # No more than the longest, however many came before; and none when all is quiet again.
    longest = [pytest.approx(0.2)] * 8
    assert waits == [0, *map(pytest.approx, (0.05, 0.1, 0.15)), *longest, 0]


def test_nobody_goes_on_without_a_pause_where_there_is_a_least_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits, times = list[float](), iter([100.0, 100.0, 200.0])
    monkeypatch.setattr(pace, "monotonic", lambda: next(times))
    monkeypatch.setattr(pace.gevent, "sleep", waits.append)
    turns = Pace(every=0.05, longest=0.2, least=0.01)
    turns.wait(2)
    turns.wait()
    turns.wait()
    assert waits == [0.01, pytest.approx(0.1), 0.01]
