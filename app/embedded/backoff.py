"""How long to rest before starting again what has died."""

from __future__ import annotations

LONGEST_SECONDS = 30.0
# What ran this long was healthy: its next death is a new story.
HEALTHY_SECONDS = 60.0


class Backoff:
    """Rests that double with each early death, from `first` seconds to half a minute."""

    def __init__(self, first: float) -> None:
        self.first = first
        self.rest = first

    def after_death(self, lived_seconds: float) -> float:
        """The seconds to rest now, given how long it lived."""
        if lived_seconds >= HEALTHY_SECONDS:
            self.rest = self.first
        rest = self.rest
        self.rest = min(rest * 2, LONGEST_SECONDS)
        return rest
