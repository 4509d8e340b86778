"""How often one person may do something: as often in any minute as in one that begins at :00."""

from __future__ import annotations

import time
from uuid import uuid4

from flask import Flask
from limits import parse

from app.extensions import limiter


def test_a_limit_holds_across_the_end_of_its_time(app: Flask) -> None:
    rule, who = parse("2 per second"), uuid4().hex
    taken: list[tuple[float, float]] = []
    # One at the beginning, one before the end, and two right behind it.
    for pause in (0.0, 0.7, 0.4, 0.0):
        time.sleep(pause)
        asked = time.monotonic()
        if limiter.limiter.hit(rule, who):
            taken.append((asked, time.monotonic()))
    for (began, _), (_, ended) in zip(taken, taken[2:], strict=False):
        assert ended - began >= 1
