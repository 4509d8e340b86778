"""Connections to Redis, none of which waits for ever.

A Redis that is frozen still takes connections and answers nothing, so that every read
needs a limit. Listening for events names its own limit with each read, which counts
instead of the connection's.
"""

from __future__ import annotations

import redis
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.retry import Retry

# A page that is asked for does without Redis rather than wait for longer than this.
PAGE_SECONDS = 2.0
# A running turn waits: until Redis has been started again, or has woken up.
TURN_SECONDS = 4.0
TURN_RETRIES = 5
MOST_CONNECTIONS = 10_000


def connect(url: str) -> redis.Redis:
    """A pool for who cannot wait: a page that is loading, a stream that must beat on time.

    A connection that was closed meanwhile is made anew once; an answer that does not come
    is not asked for again.
    """
    again = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
    return _pool(url, PAGE_SECONDS, again)


def connect_patiently(url: str) -> redis.Redis:
    """A pool for a turn, whose publishing may safely be tried again."""
    again = Retry(
        ExponentialWithJitterBackoff(base=0.5, cap=2.0),
        TURN_RETRIES,
        supported_errors=(redis.ConnectionError, redis.TimeoutError),
    )
    return _pool(url, TURN_SECONDS, again)


def _pool(url: str, seconds: float, again: Retry) -> redis.Redis:
    return redis.Redis.from_url(
        url,
        retry=again,
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        health_check_interval=15,
        max_connections=MOST_CONNECTIONS,
    )
