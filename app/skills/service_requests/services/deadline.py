"""How a request stands to the time that its type promises; told alike wherever it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from app.skills.service_requests.models import PRIORITIES

State = Literal["due", "soon", "overdue", "met", "missed"]
# Less than this is left: it is time to look at it.
SOON = timedelta(hours=2)
MINUTE, HOUR, DAY = 60, 3600, 86_400
# From here on hours are told beside days, and minutes no more.
IN_DAYS = 2 * DAY


@dataclass(frozen=True)
class Standing:
    """Where a request stands; `seconds` are left where it is due, and too many where it is not."""

    state: State
    due_at: datetime
    seconds: int

    @property
    def is_over(self) -> bool:
        """Whether more time was taken than was promised."""
        return self.state in ("overdue", "missed")

    @property
    def is_running(self) -> bool:
        """Whether the clock still runs."""
        return self.state in ("due", "soon", "overdue")


def due_from(submitted_at: datetime, hours: int, usual: str, priority: str) -> datetime:
    """When a request is due: after its type's hours at the type's `usual` priority.

    Each step of priority above it halves that time, each step below it doubles it.
    """
    return due_at_priority(submitted_at, submitted_at + timedelta(hours=hours), usual, priority)


def due_at_priority(submitted_at: datetime, due_at: datetime, before: str, after: str) -> datetime:
    """When a request that was due at `due_at` with the priority `before` is due with another."""
    steps = PRIORITIES.index(after) - PRIORITIES.index(before)
    return submitted_at + (due_at - submitted_at) / 2.0**steps


def standing(due_at: datetime, ended_at: datetime | None, now: datetime) -> Standing:
    """How it stands at `now`, or how it stood when it was `ended_at`."""
    left = due_at - (ended_at or now)
    seconds = abs(int(left.total_seconds()))
    if ended_at is not None:
        return Standing("met" if left >= timedelta(0) else "missed", due_at, seconds)
    if left < timedelta(0):
        return Standing("overdue", due_at, seconds)
    return Standing("soon" if left < SOON else "due", due_at, seconds)


def ended_at(
    status: str, resolved_at: datetime | None, closed_at: datetime | None
) -> datetime | None:
    """When the clock of a request stopped; None while it is open."""
    return (resolved_at or closed_at) if status in ("resolved", "closed") else None


def span(seconds: int) -> str:
    """A length of time in units that are the same in all our languages: "3 d 4 h", "12 min"."""
    if seconds >= IN_DAYS:
        days, rest = divmod(seconds, DAY)
        return _joined((days, "d"), (rest // HOUR, "h"))
    hours, rest = divmod(seconds, HOUR)
    return _joined((hours, "h"), (rest // MINUTE, "min")) or "1 min"


def _joined(*parts: tuple[int, str]) -> str:
    return " ".join(f"{count} {unit}" for count, unit in parts if count)
