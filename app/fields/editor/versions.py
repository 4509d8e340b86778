"""What was saved of something that is built: a page of its versions, without what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

VERSIONS_A_PAGE = 20


@dataclass(frozen=True)
class Step:
    """A version: who saved it when, and whether nothing was there before it."""

    number: int
    at: datetime
    author: str
    is_first: bool = False


class Steps(NamedTuple):
    """A page of versions, the latest first, and whether there are older ones."""

    steps: Sequence[Step]
    has_more: bool


def read_steps(rows: Sequence[tuple[int, datetime, str | None]]) -> Steps:
    """A page from its rows, (number, at, author), the latest first, with one of the next page."""
    has_more = len(rows) > VERSIONS_A_PAGE
    shown = rows[:VERSIONS_A_PAGE]
    return Steps(
        [
            Step(number, at, author or "", is_first=not has_more and place == len(shown))
            for place, (number, at, author) in enumerate(shown, 1)
        ],
        has_more,
    )
