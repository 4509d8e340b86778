"""What comes at once goes on one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from flask import Flask

from app.web import fair_queue
from app.web.fair_queue import Pace


def test_what_waits_for_its_turn_goes_on_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits, times = list[float](), iter([100.0] * 12 + [200.0])
    monkeypatch.setattr(fair_queue, "monotonic", lambda: next(times))
    monkeypatch.setattr(fair_queue.gevent, "sleep", waits.append)
    turns = Pace(every=0.05, longest=0.2)
    for _ in range(13):
        turns.wait()
    # No more than the longest, however many came before; and none when all is quiet again.
    longest = [pytest.approx(0.2)] * 8
    assert waits == [0, *map(pytest.approx, (0.05, 0.1, 0.15)), *longest, 0]


def test_nobody_waits_for_what_somebody_else_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = list[float]()
    monkeypatch.setattr(fair_queue, "monotonic", lambda: 100.0)
    monkeypatch.setattr(fair_queue.gevent, "sleep", waits.append)
    turns = Pace(every=0.05, longest=1.0)
    for who in ("ana", "ana", "ana", "ben"):
        turns.wait(who)
    assert waits == [0, pytest.approx(0.05), pytest.approx(0.1), 0]


def test_what_a_page_asks_for_at_once_goes_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = list[float]()
    monkeypatch.setattr(fair_queue, "monotonic", lambda: 100.0)
    monkeypatch.setattr(fair_queue.gevent, "sleep", waits.append)
    turns = Pace(every=0.05, longest=1.0, burst=3)
    for _ in range(5):
        turns.wait("ana")
    assert waits == [0, 0, 0, 0, pytest.approx(0.05)]


def test_who_waits_for_nothing_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(fair_queue, "monotonic", lambda: now)
    monkeypatch.setattr(fair_queue.gevent, "sleep", lambda _seconds: None)
    monkeypatch.setattr(fair_queue, "MOST_SENDERS", 2)
    turns = Pace(every=0.05, longest=1.0)
    for who in ("ana", "ben"):
        turns.wait(who)
    now = 200.0
    turns.wait("eva")
    assert set(turns._next) == {"eva"}


def test_an_answer_that_is_made_while_it_is_sent_rests_after_each_stretch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[tuple[object, bool]] = []

    def wait(sender: object, turns: float) -> None:
        waits.append((sender, turns > 1))

    monkeypatch.setattr(fair_queue._stretches, "wait", wait)

    def work() -> Iterator[int]:
        for number in range(3):
            end = time.thread_time() + 0.6 * fair_queue.STRETCH_SECONDS
            while time.thread_time() < end:
                pass
            yield number

    assert list(fair_queue.in_stretches(work(), "ana")) == [0, 1, 2]
    assert waits == [("ana", True)]


def test_a_large_page_is_drawn_in_stretches(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    monkeypatch.setattr(fair_queue.gevent, "sleep", rests.append)
    monkeypatch.setattr(fair_queue.monkey, "is_module_patched", lambda _name: True)

    def slow(number: int) -> int:
        end = time.perf_counter() + fair_queue.DRAWING_SECONDS
        while time.perf_counter() < end:
            pass
        return number

    template = app.jinja_env.from_string("{% for n in range(4) %}{{ slow(n) }}{% endfor %}")
    with app.test_request_context():
        assert template.render(slow=slow) == "0123"
    assert len(rests) >= 3
    assert template.render(slow=slow) == "0123"
    assert len(rests) >= 3
