"""How work grows with what it is done on: four times as much costs about four times."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

# What is linear grows to four times; what is quadratic to sixteen.
MOST_GROWN, FLOOR = 5.0, 0.2


def spent(work: Callable[[], object]) -> float:
    """Seconds of this process's CPU, without what it costs to look for garbage meanwhile."""
    gc.disable()
    try:
        began = time.process_time()
        work()
        return time.process_time() - began
    finally:
        gc.enable()


def check_growth(work: Callable[[int], Callable[[], object]], size: int) -> None:
    """The least of what each costs counts: on a busy machine the same work may cost twice."""
    little, much = work(size), work(4 * size)
    small = large = float("inf")
    for _ in range(4):
        small, large = min(small, spent(little)), min(large, spent(much))
        if large <= MOST_GROWN * small + FLOOR:
            return
    pytest.fail(f"{small:.3f} s became {large:.3f} s")
