"""What an embedded service is to the keeper that runs it."""

from __future__ import annotations

import signal
from typing import Protocol

from app.embedded.folder import DataFolder
from app.embedded.home import Home
from app.embedded.postgres import Postgres
from app.embedded.redis import Redis
from app.errors import ConfigurationError


class Service(Protocol):
    """A program of its own that listens on a socket in a private folder."""

    name: str
    # What asks it to end well, and what it is sent when that takes too long.
    stop_signal: signal.Signals
    quit_signal: signal.Signals

    def prepare(self) -> None:
        """Make its files where they are missing, and clear what a crash left behind."""

    def command(self) -> list[str]:
        """The command line that starts it in the foreground."""

    def ready(self, process_id: int) -> bool:
        """True once the process answers; asked every few milliseconds."""

    def settle(self) -> None:
        """What is done each time it has started, before anybody is let in."""


def build_service(name: str, folder: DataFolder, home: Home, *, durable: bool = True) -> Service:
    """The service called `name`; `durable=False` is for tests, whose data may be lost."""
    if name == "postgres":
        return Postgres(home, folder.secrets(), durable=durable)
    if name == "redis":
        return Redis(home, durable=durable)
    raise ConfigurationError(f"There is no embedded service {name}")
