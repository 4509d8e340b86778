"""Few pages of one person are made at once: whoever asks for many keeps nobody else waiting.

A process makes one page at a time and goes on with another where the first one waits for the
database. Forty pages of one person would each come in between wherever another's page waits.
"""

from __future__ import annotations

from collections.abc import Hashable
from http import HTTPStatus
from threading import Lock, Semaphore
from typing import Any

from flask import Flask, g, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import AnonymousUserMixin, current_user

from app.accounts.person import presented_token
from app.accounts.tokens import hash_token
from app.errors import TooMany

# Another's page waits for so many wherever it waits for the database.
MADE_AT_ONCE = 2
MOST_WAITING = 60
LONGEST_WAIT_SECONDS = 30.0
# A stream lasts for hours and has limits of its own; a static file is nobody's, and a probe is to
# be answered whatever it brings.
WITHOUT_TURN = ("static", "streams.events", "health.alive", "health.ready")


class Crowded(TooMany):
    """A page is not made, because too many of the same person are."""


class PagesAtOnce:
    """Whose pages are being made in this process, and who waits. Safe to use from threads."""

    def __init__(self, at_once: int = MADE_AT_ONCE, waiting: int = MOST_WAITING) -> None:
        self._at_once, self._most = at_once, at_once + waiting
        self._lines: dict[Hashable, tuple[Semaphore, int]] = {}
        self._lock = Lock()

    def take(self, who: Hashable, longest: float = LONGEST_WAIT_SECONDS) -> None:
        """Wait for a turn of theirs; to be given back with `give_back`.

        Raises:
            Crowded: as many of theirs wait as may, or none became free in `longest` seconds.
        """
        with self._lock:
            line, count = self._lines.get(who, (Semaphore(self._at_once), 0))
            if count >= self._most:
                raise Crowded("That was too much at once. Wait a moment and try again.")
            self._lines[who] = line, count + 1
        if not line.acquire(timeout=longest):
            self._leave(who)
            error = Crowded("That took too long. Try again in a moment.")
            error.status = HTTPStatus.SERVICE_UNAVAILABLE
            raise error

    def give_back(self, who: Hashable) -> None:
        """Let their next page be made."""
        self._lines[who][0].release()
        self._leave(who)

    def _leave(self, who: Hashable) -> None:
        with self._lock:
            line, count = self._lines.pop(who)
            if count > 1:
                self._lines[who] = line, count - 1


def _take_turn(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """Wait for a turn of the sign-in, and then of its person.

    The sign-in is counted before the database is asked whose it is, so that who waits or is
    refused takes no connection. A form with files has limits of its own, and may come slowly.

    Raises:
        Crowded: it is too much at once, or took too long.
    """
    token = presented_token()
    if not token or endpoint in WITHOUT_TURN or request.mimetype == "multipart/form-data":
        return
    kind = "read" if request.method in ("GET", "HEAD") else "write"
    _take(kind, hash_token(token))
    if current_user.is_authenticated:
        _take(kind, current_user.user_id)


def _take(*lane: Hashable) -> None:
    _turns.take(lane)
    g.setdefault("page_turns", []).append(lane)


def _refuse(error: Crowded) -> ResponseReturnValue:
    """In words alone, and for nobody: drawing a page would cost what is spared."""
    g._login_user = AnonymousUserMixin()
    headers = {"Content-Type": "text/plain; charset=utf-8", "Retry-After": "1"}
    return str(_(error.message)), error.status, headers


def _give_back_turns(_error: BaseException | None) -> None:
    for lane in reversed(g.pop("page_turns", [])):
        _turns.give_back(lane)


_turns = PagesAtOnce()


def init_pages_at_once(app: Flask) -> None:
    """Have every page that somebody asks for wait for its turn."""
    # Before anything else: what comes first may look up whose page it is.
    app.url_value_preprocessor(_take_turn)
    app.register_error_handler(Crowded, _refuse)
    app.teardown_request(_give_back_turns)
