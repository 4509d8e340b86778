"""How work grows with what it is done on: four times as much costs about four times."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

# What is linear grows to four times; what is quadratic to sixteen.
MOST_GROWN, FLOOR = 5.0, 0.2


@dataclass
class Cost:
    """What work has cost, once it is done."""

    seconds: float = 0.0


@contextmanager
def counted() -> Iterator[Cost]:
    """Count the CPU of this thread, without what it costs to look for garbage meanwhile.

    Among ten thousand tests that takes seconds by itself, and other threads have work of theirs.
    """
    cost = Cost()
    gc.disable()
    began = time.thread_time()
    try:
        yield cost
    finally:
        cost.seconds = time.thread_time() - began
        gc.enable()


def spent(work: Callable[[], object]) -> float:
    """The seconds that `work` costs, as `counted` counts them."""
    with counted() as cost:
        work()
    return cost.seconds


def check_growth(work: Callable[[int], Callable[[], object]], size: int) -> None:
    """The least of what each costs counts: on a busy machine the same work may cost twice."""
    little, much = work(size), work(4 * size)
    small = large = float("inf")
    for _ in range(4):
        small, large = min(small, spent(little)), min(large, spent(much))
        if large <= MOST_GROWN * small + FLOOR:
            return
    pytest.fail(f"{small:.3f} s became {large:.3f} s")
