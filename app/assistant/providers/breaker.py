"""When to stop asking a model that keeps failing, and when to try it again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

FAILURES = 5
WINDOW_SECONDS = 60.0
PAUSE_SECONDS = 30.0


class Breaker:
    """Opens after five failures within a minute; after half a minute one call may try.

    If that one succeeds everything goes on as before, and if it fails the pause begins
    anew. It counts for one process.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed_at: deque[float] = deque(maxlen=FAILURES)
        self._closed_until: float | None = None

    @property
    def is_open(self) -> bool:
        """True while nobody should ask."""
        return self._closed_until is not None and self._clock() < self._closed_until

    @property
    def is_tripped(self) -> bool:
        """True from the failures that opened it until a call succeeds again."""
        return self._closed_until is not None

    def allows(self) -> bool:
        """Whether to ask now; of those who come after the pause, only the first may."""
        if self._closed_until is None:
            return True
        if self.is_open:
            return False
        self._closed_until = self._clock() + PAUSE_SECONDS
        return True

    def succeeded(self) -> None:
        self._failed_at.clear()
        self._closed_until = None

    def failed(self) -> None:
        now = self._clock()
        self._failed_at.append(now)
        many = len(self._failed_at) == FAILURES and now - self._failed_at[0] <= WINDOW_SECONDS
        if many or self._closed_until is not None:
            self._closed_until = now + PAUSE_SECONDS
