"""Lets what comes at once go on one after the other."""

from __future__ import annotations

from time import monotonic

import gevent


class Pace:
    """Lets what comes at once go on one after the other, `every` seconds apart.

    Nobody waits for longer than `longest` seconds, nor for less than `least`.
    """

    def __init__(self, every: float, longest: float, least: float = 0.0) -> None:
        self.every, self.longest, self.least = every, longest, least
        self._next = 0.0

    def wait(self, turns: float = 1.0) -> None:
        """Wait for one's turn; the next one's is so many `turns` later."""
        now = monotonic()
        turn = max(now, self._next)
        self._next = min(turn, now + self.longest) + self.every * turns
        gevent.sleep(max(self.least, min(turn - now, self.longest)))
