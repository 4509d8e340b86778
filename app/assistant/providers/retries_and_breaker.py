"""A provider that is asked again when it stumbles, and left alone while it is down.

The breaker knows when to stop asking a model that keeps failing, and when to try it again.
Only what failed before its first word is asked again: after it somebody has read words
that another try might contradict.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing

from app.assistant.providers.base import ModelEvent, ModelRequest, Provider, ProviderError
from app.observability.metrics import count_model_call

TRIES = 3
FIRST_WAIT_SECONDS = 0.3
# Who is told to come back later than this had better be answered by somebody else.
LONGEST_WAIT_SECONDS = 4.0
ASKED_AGAIN = frozenset(("unreachable", "rate_limited", "server_error"))
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

    def gave_up(self) -> None:
        """Whoever was asking stopped it: of those who come now, the next one may try."""
        if self._closed_until is not None:
            self._closed_until = self._clock()

    def failed(self) -> None:
        now = self._clock()
        self._failed_at.append(now)
        many = len(self._failed_at) == FAILURES and now - self._failed_at[0] <= WINDOW_SECONDS
        if many or self._closed_until is not None:
            self._closed_until = now + PAUSE_SECONDS


class RetryingProvider:
    """Wraps a provider with retries and a breaker; all calls of a process share it."""

    def __init__(
        self,
        provider: Provider,
        breaker: Breaker | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._provider = provider
        self.breaker = breaker or Breaker()
        self._sleep = sleep
        self._jitter = jitter
        self.name, self.model = provider.name, provider.model
        self.uses_hints = provider.uses_hints

    def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
        """The wrapped provider's stream.

        Raises:
            ProviderError: it failed for good, or is known to be down (`unreachable`).
        """
        if not self.breaker.allows():
            raise ProviderError("unreachable", "it has failed too often just now")
        for attempt in range(1, TRIES + 1):
            begun = False
            try:
                with closing(self._provider.stream(request)) as events:
                    for event in events:
                        begun = True
                        yield event
                self.breaker.succeeded()
                count_model_call("ok")
                return
            except ProviderError as error:
                count_model_call(error.code)
                wait = self._wait(error, attempt)
                if begun or wait is None:
                    self._note(error)
                    raise
            except GeneratorExit:
                self.breaker.gave_up()
                raise
            self._sleep(wait)

    def _note(self, error: ProviderError) -> None:
        """Let the breaker know. A server that declines what one person asks answers all others."""
        if error.code != "declined":
            self.breaker.failed()
        elif self.breaker.is_tripped:
            self.breaker.succeeded()

    def check(self) -> str:
        return self._provider.check()

    def _wait(self, error: ProviderError, attempt: int) -> float | None:
        """Seconds until the next try, as the server asked or longer each time; None to give up."""
        if error.code not in ASKED_AGAIN or attempt == TRIES:
            return None
        longer = FIRST_WAIT_SECONDS * 2 ** (attempt - 1) * (0.5 + self._jitter())
        wait = max(longer, error.retry_after or 0)
        return wait if wait <= LONGEST_WAIT_SECONDS else None
