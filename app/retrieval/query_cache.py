"""Remembering the vectors of recent questions, in the process and, with Redis, beyond it.

Nothing that somebody asked is kept, only its hash: SHA-256 of the normalised text.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import redis
import structlog
from numpy.typing import NDArray

from app.errors import Unavailable
from app.text.plain_text import compose

LIFETIME_SECONDS = 600
CAPACITY = 1_000
# After a failure the API is left alone for so long; searches go by words meanwhile.
REST_SECONDS = 10.0
# So many are asked at once, and who comes then waits so long.
MOST_AT_ONCE, PLACE_SECONDS = 3, 0.3

log = structlog.get_logger(__name__)


class EmbeddingUnavailable(Unavailable):
    """The model that makes the vectors cannot be reached or refused to answer."""

    code = "embedding_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__("Search by meaning is away for the moment; words still work.")
        self.reason = reason


def normalise_query(text: str) -> str:
    """The same question, however it was typed: case, blanks and composition are evened."""
    return " ".join(compose(text).lower().split())


class QueryCache:
    """An LRU of vectors with a lifetime; a Redis that is away is done without."""

    def __init__(
        self,
        shared: redis.Redis | None = None,
        *,
        lifetime: float = LIFETIME_SECONDS,
        capacity: int = CAPACITY,
        rest: float = REST_SECONDS,
    ) -> None:
        self._shared = shared
        self._lifetime = lifetime
        self._capacity = capacity
        self._rest = rest
        self._rests_until = 0.0
        self._failure: Unavailable | None = None
        self._kept: OrderedDict[str, tuple[float, NDArray[np.float32]]] = OrderedDict()
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)

    def vector(
        self, model: str, query: str, ask: Callable[[], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """The vector of the normalised `query`, from `ask()` where nobody remembers it.

        Raises:
            Unavailable: what `ask()` raised, now or within the last seconds.
        """
        key = hashlib.sha256(f"{model}\n{query}".encode()).hexdigest()
        known = self._recall(key)
        if known is None:
            known = self._recall_shared(key)
            if known is None:
                known = self._ask(ask)
                self._share(key, known)
            self._keep(key, known)
        return known

    def _ask(self, ask: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
        if self._failure is not None and time.monotonic() < self._rests_until:
            raise self._failure.with_traceback(None)
        # Whoever waits here may hold a connection to the database, of which a process has few.
        if not self._places.acquire(timeout=PLACE_SECONDS):
            raise EmbeddingUnavailable("too many at once")
        try:
            vector = ask()
        except Unavailable as error:
            self._failure = error
            self._rests_until = time.monotonic() + self._rest
            raise
        finally:
            self._places.release()
        self._failure = None
        return vector

    def _recall(self, key: str) -> NDArray[np.float32] | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            if kept[0] < time.monotonic():
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return kept[1]

    def _keep(self, key: str, vector: NDArray[np.float32]) -> None:
        with self._lock:
            self._kept[key] = (time.monotonic() + self._lifetime, vector)
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def _recall_shared(self, key: str) -> NDArray[np.float32] | None:
        if self._shared is None:
            return None
        try:
            value = self._shared.get(f"embedding:{key}")
        except redis.RedisError as error:
            log.warning("query_cache_away", error=type(error).__name__)
            return None
        if not isinstance(value, bytes) or len(value) % np.dtype(np.float32).itemsize:
            return None
        return np.frombuffer(value, dtype=np.float32)

    def _share(self, key: str, vector: NDArray[np.float32]) -> None:
        if self._shared is None:
            return
        try:
            self._shared.set(
                f"embedding:{key}", vector.tobytes(), px=max(1, int(self._lifetime * 1000))
            )
        except redis.RedisError as error:
            log.warning("query_cache_away", error=type(error).__name__)
