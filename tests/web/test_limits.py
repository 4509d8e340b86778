"""How often one person may do something: as often in any minute as in one that begins at :00."""

from __future__ import annotations

from flask import Flask
from limits.strategies import MovingWindowRateLimiter

from app.extensions import limiter


def test_a_limit_holds_across_the_end_of_a_minute(app: Flask) -> None:
    assert isinstance(limiter.limiter, MovingWindowRateLimiter)
