"""Counters that all web processes share, in Redis, and how long it is until one begins anew."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import structlog
from flask_babel import format_timedelta
from limits.errors import StorageError
from limits.storage import MemoryStorage, Storage
from redis.exceptions import RedisError

from app.extensions import limiter

Answer = TypeVar("Answer")

log = structlog.get_logger()

# Takes over while Redis is away, for this process alone: less strict, but never nothing.
_own_counters = MemoryStorage()


def ask_counters(question: Callable[[Storage], Answer]) -> Answer:
    """Put the question to the shared counters, or to our own while those are away."""
    try:
        return question(limiter.storage)
    except (RedisError, StorageError) as error:
        log.warning("shared counters away", error=type(error).__name__)
        return question(_own_counters)


def seconds_until_anew(key: str) -> int:
    """For how many seconds what is counted under `key` still counts; at least one."""
    reset_at = ask_counters(lambda counters: counters.get_expiry(key))
    return max(1, math.ceil(reset_at - time.time()))


def wait_in_words(seconds: int) -> str:
    """A wait in the reader's language: seconds, or minutes where there are many."""
    # Rounded up: whoever waits as long as this says must not be refused again.
    whole = seconds if seconds < 90 else 60 * math.ceil(seconds / 60)
    return str(format_timedelta(timedelta(seconds=whole), threshold=1.5))
