"""Few pages of one person are made at once: whoever asks for many keeps nobody else waiting.

A process makes one page at a time and goes on with another where the first one waits for the
database. Forty pages of one person would each come in between wherever another's page waits.
"""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock, Semaphore

from flask import Flask, g, request
from flask_login import current_user

from app.errors import TooMany, Unavailable

# Another's page waits for so many wherever it waits for the database.
MADE_AT_ONCE = 2
MOST_WAITING = 60
LONGEST_WAIT_SECONDS = 30.0
# A stream lasts for hours and has limits of its own; a static file is nobody's.
WITHOUT_TURN = ("static", "streams.events")


class PagesAtOnce:
    """Whose pages are being made in this process, and who waits. Safe to use from threads."""

    def __init__(self, at_once: int = MADE_AT_ONCE, waiting: int = MOST_WAITING) -> None:
        self._at_once, self._most = at_once, at_once + waiting
        self._lines: dict[Hashable, tuple[Semaphore, int]] = {}
        self._lock = Lock()

    def take(self, who: Hashable, longest: float = LONGEST_WAIT_SECONDS) -> None:
        """Wait for a turn of theirs; to be given back with `give_back`.

        Raises:
            TooMany: as many of theirs wait as may.
            Unavailable: none became free in `longest` seconds.
        """
        with self._lock:
            line, count = self._lines.get(who, (Semaphore(self._at_once), 0))
            if count >= self._most:
                raise TooMany("That was too much at once. Wait a moment and try again.")
            self._lines[who] = line, count + 1
        if not line.acquire(timeout=longest):
            self._leave(who)
            raise Unavailable("That took too long. Try again in a moment.")

    def give_back(self, who: Hashable) -> None:
        """Let their next page be made."""
        self._lines[who][0].release()
        self._leave(who)

    def _leave(self, who: Hashable) -> None:
        with self._lock:
            line, count = self._lines.pop(who)
            if count > 1:
                self._lines[who] = line, count - 1


def _take_turn() -> None:
    is_read = request.method in ("GET", "HEAD") and request.endpoint not in WITHOUT_TURN
    if is_read and current_user.is_authenticated:
        who = current_user.user_id
        _turns.take(who)
        g.page_made_for = who


def _give_back_turn(_error: BaseException | None) -> None:
    who = g.pop("page_made_for", None)
    if who is not None:
        _turns.give_back(who)


_turns = PagesAtOnce()


def init_pages_at_once(app: Flask) -> None:
    """Have every page that is read wait for its turn."""
    app.before_request(_take_turn)
    app.teardown_request(_give_back_turn)
