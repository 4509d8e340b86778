"""What files can fail with, beside what is said to whoever sent them."""

from __future__ import annotations

from app.errors import N_, Unavailable

AWAY = N_("Comanda can't reach its files right now. Try again in a moment.")


class StorageAway(Unavailable):
    """Files cannot be kept or read just now; `reason` says why, to the operator alone."""

    def __init__(self, reason: str) -> None:
        super().__init__(AWAY)
        self.reason = reason
