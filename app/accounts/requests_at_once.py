"""Few requests of one person are answered at once: who sends many keeps nobody else waiting.

A process does one thing at a time, and goes on with another where the first one waits for the
database. Forty requests of one person would each come in between wherever another's waits.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import ExitStack
from http import HTTPStatus
from threading import Lock, Semaphore

from flask import Flask, g, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import AnonymousUserMixin, current_user

from app.accounts.person import presented_token
from app.accounts.tokens import hash_token
from app.errors import TooMany, Unavailable
from app.extensions import PROBES
from app.web.pages import error_response, wants_json

# How many of one person, and of one sign-in, are answered at once in a process, by what they are.
# Any of them may run wherever another person's request waits for the database. A form with files
# may take long to come, and the routes that take files have limits of their own.
AT_ONCE = {"read": 2, "write": 2, "files": 12}
MOST_WAITING = 60
LONGEST_WAIT_SECONDS = 30.0
# A stream lasts for hours and has limits of its own; a static file is nobody's.
WITHOUT_TURN = {"static", "streams.events", *PROBES}

Lane = tuple[str, Hashable]


class Crowded(TooMany):
    """What is asked for is not done, because too much of the same person is."""


class Turns:
    """What is being answered in this process, and what waits. Safe to use from threads.

    A lane is a kind of request with whoever sends it: `("read", id)`.
    """

    def __init__(self, waiting: int = MOST_WAITING) -> None:
        self._waiting = waiting
        self._lanes: dict[Lane, tuple[Semaphore, int]] = {}
        self._lock = Lock()

    def take(self, lane: Lane, longest: float = LONGEST_WAIT_SECONDS) -> bool:
        """Wait for a turn, to be given back with `give_back`; True when others were before it.

        Raises:
            Crowded: as many wait as may.
            Unavailable: none became free in `longest` seconds.
        """
        at_once = AT_ONCE[lane[0]]
        with self._lock:
            turns, count = self._lanes.get(lane, (Semaphore(at_once), 0))
            if count >= at_once + self._waiting:
                raise Crowded(
                    "That was too much at once. Wait a moment and try again.", retry_after=1
                )
            self._lanes[lane] = turns, count + 1
        if turns.acquire(blocking=False):
            return False
        if not turns.acquire(timeout=longest):
            self._leave(lane)
            raise Unavailable("That took too long. Try again in a moment.")
        return True

    def give_back(self, lane: Lane) -> None:
        """Let the next one be answered."""
        self._lanes[lane][0].release()
        self._leave(lane)

    def _leave(self, lane: Lane) -> None:
        with self._lock:
            turns, count = self._lanes.pop(lane)
            if count > 1:
                self._lanes[lane] = turns, count - 1


def _take_turn() -> None:
    """Wait for a turn of the sign-in, and then of its person.

    The sign-in is counted before the database is asked whose it is, so that who waits or is
    refused takes no connection.

    Raises:
        Crowded, Unavailable: it is too much at once, or took too long.
    """
    token = presented_token()
    if not token or request.endpoint in WITHOUT_TURN:
        return
    kind = "read" if request.method in ("GET", "HEAD", "OPTIONS") else "write"
    if kind == "write" and request.mimetype == "multipart/form-data":
        kind = "files"
    _take((kind, hash_token(token)))
    if current_user.is_authenticated and _take((kind, current_user.user_id)):
        # Meanwhile somebody may have been removed, or have another role.
        g.pop("_login_user", None)


def _take(lane: Lane) -> bool:
    has_waited = _turns.take(lane)
    # `release_session` gives it back, at the latest when the request is over.
    g.setdefault("turns", ExitStack()).callback(_turns.give_back, lane)
    return has_waited


def _refuse(error: Crowded) -> ResponseReturnValue:
    """In words alone, and for nobody: drawing a page would cost what is spared."""
    if "_login_user" not in g:
        g._login_user = AnonymousUserMixin()
    if wants_json():
        return error_response(error)
    headers = {"Content-Type": "text/plain; charset=utf-8", "Retry-After": str(error.retry_after)}
    return str(_(error.message)), HTTPStatus.TOO_MANY_REQUESTS, headers


_turns = Turns()


def init_turns(app: Flask) -> None:
    """Have every request that somebody sends wait for its turn.

    Bind it behind the log and the check of the host, and before what may ask the database.
    """
    app.before_request(_take_turn)
    app.register_error_handler(Crowded, _refuse)
