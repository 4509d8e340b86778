"""Few requests of one person are answered at once: who sends many keeps nobody else waiting.

A process does one thing at a time, and goes on with another where the first one waits for the
database. Forty requests of one person would each come in between wherever another's waits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from threading import Event, Lock
from typing import cast
from uuid import UUID

from flask import Flask, g, has_request_context, request, session
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import AnonymousUserMixin, current_user

from app.accounts.account_limits import account_of_device
from app.accounts.form_tokens import KEPT
from app.accounts.person import bearer_token, presented_token
from app.accounts.tokens import hash_token
from app.errors import TooMany, Unavailable
from app.extensions import PROBES, ComandaRequest, client_address
from app.jobs.system_threads import tell_costs_to, tell_senders_by
from app.web.fair_queue import Pace, has_left
from app.web.first_steps import add_first_step
from app.web.pages import (
    REFUSED_SECONDS,
    enter_lane_again,
    error_response,
    leave_lanes,
    wants_json,
)
from app.web.request_body import LARGEST_BODY, LARGEST_SIGNED_OUT

# How many of one person are answered at once in a process, by what they are; and of one address, of
# those that are nobody's as far as the process knows. Any of them may run wherever another person's
# request waits for the database.
AT_ONCE = {"read": 2, "write": 2, "body": 2, "unknown": 2, "token": 2}
# For each other one that is there so much of a pause is made in its lane, which leaves others their
# time (decision 24). Longer ones would keep the people behind a stranger's address out.
PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.005, 0.025
# Beside more than a page asks for with its parts it is so many times what the last one in the lane
# cost, which may be a long page: pairs of them leave others most of the processes.
FEW_OTHERS, PAUSES_A_COST, LONGEST_PAUSE_OF_COST_SECONDS = 1, 6.0, 1.5
OF_A_PERSON, COSTS_KEPT = ("read", "write"), 3
# What one person or one address sends to a process goes on so far apart, but for as much as a page
# asks for with all its files. It waits before it is answered: of a proxy's connections none seems
# to be free that is not.
EVERY_SECONDS, LONGEST_TURN_SECONDS, BURST = 0.002, 4.0, 60
# What stands in no lane has nothing else that keeps it apart, and what a stranger asks for costs a
# process most where it leads to the form at once. A page has dozens of static files; nobody needs
# the probes a hundred times a second.
TURNS_OF = {"page": 2.5, "static": 2.0, "probe": 5.0}
# To read what was typed takes a process the longer the more it is; files have turns of their own.
BYTES_A_TURN = 32 * 1024
# When a server has started anew, nobody's token is known, and all pages of a restaurant come back.
MOST_WAITING = {"read": 60, "write": 60, "body": 60, "unknown": 600, "token": 600}
LONGEST_WAIT_SECONDS = 30.0
# Who waits and is nobody's is looked after so often: a script that leaves would fill the lane.
LOOK_SECONDS = 1.0
# A stream lasts for hours and has limits of its own; a static file is nobody's.
STREAM = "streams.events"
WITHOUT_LANE = {"static", STREAM, *PROBES}
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
# So many tokens are known to be somebody's, those that were sent last.
MOST_KNOWN = 10_000

Lane = tuple[str, Hashable]


class Crowded(TooMany):
    """What is asked for is not done, because too much of the same person is."""


def _stays() -> bool:
    """Of whoever is waited for to the end, that they have not gone."""
    return False


class _Room:
    """The places of a lane, and who waits for one.

    Behind one address a script may ask again, over hundreds of connections, whenever it is
    answered; whoever signs in there has a cookie from the page with the form, which the script's
    requests do not have or have in common. Every second place is for the visitors, one after the
    other, the others for those without a cookie as they came.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        # Of each visitor those that wait, the visitors in the order of their turns.
        self._visitors: dict[Hashable, deque[Event]] = {}
        self._others: deque[Event] = deque()
        self._is_visitors_turn = True
        self._lock = Lock()

    def acquire(
        self, timeout: float, visitor: Hashable = None, has_gone: Callable[[], bool] = _stays
    ) -> bool:
        """Whether there was a place within so many seconds; it is to be released.

        Whoever `has_gone` meanwhile takes none.
        """
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            mine = Event()
            self._waiting_of(visitor).append(mine)
        ends = time.monotonic() + timeout
        while (left := ends - time.monotonic()) > 0:
            if mine.wait(min(left, LOOK_SECONDS)):
                return True
            if has_gone():
                break
        with self._lock:
            if mine.is_set():
                return True
            self._waiting_of(visitor).remove(mine)
            self._forget_if_gone(visitor)
            return False

    def release(self) -> None:
        with self._lock:
            self._is_visitors_turn = not self._is_visitors_turn
            if self._visitors and (self._is_visitors_turn or not self._others):
                visitor = next(iter(self._visitors))
                waiting = self._visitors.pop(visitor)
                waiting.popleft().set()
                # The next one of theirs comes after one of each of the others.
                self._visitors[visitor] = waiting
                self._forget_if_gone(visitor)
            elif self._others:
                self._others.popleft().set()
            else:
                self._free += 1

    def _waiting_of(self, visitor: Hashable) -> deque[Event]:
        return self._others if visitor is None else self._visitors.setdefault(visitor, deque())

    def _forget_if_gone(self, visitor: Hashable) -> None:
        if visitor is not None and not self._visitors[visitor]:
            del self._visitors[visitor]


class Lanes:
    """What is being answered in this process, and what waits. Safe to use from threads.

    A lane is a kind of request with whoever sends it: `("read", id)`, `("unknown", address)`.
    """

    def __init__(self, waiting: int | None = None) -> None:
        """`waiting` is how many may wait in any lane; else it is `MOST_WAITING` of its kind."""
        self._waiting = waiting
        self._entered: dict[Lane, tuple[_Room, int]] = {}
        self._costs: dict[Lane, deque[float]] = {}
        self._lock = Lock()

    def enter(
        self,
        lane: Lane,
        longest: float = LONGEST_WAIT_SECONDS,
        visitor: Hashable = None,
        has_gone: Callable[[], bool] = _stays,
    ) -> int:
        """Wait for room in a lane, to be left with `leave`; how many are waiting, with this one.

        Of the visitors in a lane each has their turn, however many requests they send; whoever
        `has_gone` meanwhile is not waited for.

        Raises:
            Crowded: as many wait as may.
            Unavailable: none became free in `longest` seconds, or its sender has gone.
        """
        at_once = AT_ONCE[lane[0]]
        waiting = MOST_WAITING[lane[0]] if self._waiting is None else self._waiting
        with self._lock:
            room, count = self._entered.get(lane) or (_Room(at_once), 0)
            if count >= at_once + waiting:
                raise Crowded(
                    "That was too much at once. Wait a moment and try again.", retry_after=1
                )
            self._entered[lane] = room, count + 1
        if not room.acquire(longest, visitor, has_gone):
            self._count_out(lane)
            raise Unavailable("That took too long. Try again in a moment.")
        return max(0, count + 1 - at_once)

    def leave(self, lane: Lane, cost: float = 0.0) -> None:
        """Let the next one be answered; `cost` is this one's, in seconds of the processor."""
        self._costs.setdefault(lane, deque(maxlen=COSTS_KEPT)).append(cost)
        self._entered[lane][0].release()
        self._count_out(lane)

    def pause_of(self, lane: Lane, others: int) -> float:
        """How many seconds one who was let in beside others waits for people of other lanes."""
        pause = min(PAUSE_SECONDS * others, LONGEST_PAUSE_SECONDS)
        costs = self._costs.get(lane)
        if others <= FEW_OTHERS or not costs or lane[0] not in OF_A_PERSON:
            return pause
        # Any one of them may have waited while another person's was worked on.
        return max(pause, min(PAUSES_A_COST * min(costs), LONGEST_PAUSE_OF_COST_SECONDS))

    def _count_out(self, lane: Lane) -> None:
        with self._lock:
            room, count = self._entered.pop(lane)
            if count > 1:
                self._entered[lane] = room, count - 1
            else:
                self._costs.pop(lane, None)


class KnownTokens:
    """Whose the tokens were that were sent last, by their hashes."""

    def __init__(self, most: int = MOST_KNOWN) -> None:
        self._most = most
        self._people: dict[str, UUID] = {}

    def find(self, hashed: str) -> UUID | None:
        return self._people.get(hashed)

    def add(self, hashed: str, person: UUID) -> None:
        self.forget(hashed)
        self._people[hashed] = person
        while len(self._people) > self._most:
            self._people.pop(next(iter(self._people)))

    def forget(self, hashed: str) -> None:
        self._people.pop(hashed, None)


def enter_lane(kind: str, person: UUID) -> None:
    """Wait in the lane of a person for what is asked for in this request.

    Raises:
        Crowded, Unavailable: it is too much at once, or took too long.
    """
    g.enter_lane_again = partial(_enter_again, kind, person)
    if _enter((kind, person), g.lanes):
        # Meanwhile somebody may have been removed, or have another role.
        g.pop("_login_user", None)


def _enter_again(kind: str, person: UUID) -> None:
    g.lanes = ExitStack()
    enter_lane(kind, person)


def _enter_lane() -> None:
    """Wait for room in the lane of the person, or of the address of a stranger.

    Of whom a token is that was sent before is known without the database, so that who waits or is
    refused takes no connection.

    Raises:
        Crowded, Unavailable: it is too much at once, or took too long.
    """
    if request.endpoint == STREAM:
        return
    if request.endpoint in WITHOUT_LANE:
        _wait_at_address("static" if request.endpoint == "static" else "probe")
        # Its answer is the same for everybody, also where there is no such file.
        g._login_user = AnonymousUserMixin()
        return
    token = presented_token()
    kind = "read" if request.method in ("GET", "HEAD", "OPTIONS") else "write"
    person = find_owner(token)
    if person is None:
        try:
            if kind == "write":
                _read_posted()
        finally:
            # What is wrong with it is told in turn, too.
            enter_lane_of_stranger()
        return
    if kind == "write":
        _enter_to_write(person)
    else:
        enter_lane(kind, person)
    if not current_user.is_authenticated:
        # The sign-in has ended: the next request with it is a stranger's.
        _known.forget(hash_token(token))


def _add_cost(seconds: float) -> None:
    """Count what a thread did for this request as what it costs in its lane."""
    if has_request_context() and "in_threads" in g:
        g.in_threads.append(seconds)


def _sender() -> Hashable:
    """Whose request it is, as far as that has been looked up, for work that is done in turn."""
    if not has_request_context():
        return None
    person = g.get("_login_user")
    return person.user_id if person and person.is_authenticated else client_address()


def find_owner(token: str) -> UUID | None:
    """Whose a token is, or was when it was sent last; None for a made-up one, and for none.

    What they send goes on `EVERY_SECONDS` apart from here on. Who sends one that is not known waits
    before the database is asked, and no longer: with those of the account that was used on the
    device before, else with those of the same address who bring a cookie, which nobody can make up,
    and who are no guests; or, as anybody can make up the token of a program, with all of these.

    Raises:
        Crowded, Unavailable: too many of them are there, or it took too long.
    """
    g.lanes = ExitStack()
    hashed = hash_token(token) if token else ""
    known = _known.find(hashed)
    typed = min(_typed_bytes(), LARGEST_BODY if known else LARGEST_SIGNED_OUT)
    turns = 1 + typed / BYTES_A_TURN
    if sender := known or account_of_device():
        _paces.wait(sender, turns)
    else:
        _wait_at_address("page", turns)
    if known is not None or not token:
        return known
    kind = "token" if bearer_token() is None else "unknown"
    with ExitStack() as looked_up:
        _enter((kind, account_of_device() or client_address()), looked_up)
        if not current_user.is_authenticated:
            return None
        person: UUID = current_user.user_id
    _known.add(hashed, person)
    return person


def _wait_at_address(kind: str, times: float = 1.0) -> None:
    """Wait for one's turn among those of one kind that the address of a stranger sends.

    A flood of one kind holds up none of the others, and all of them together are answered no more
    often than one would be.
    """
    address = client_address()
    others = sum(_paces.is_behind((each, address)) for each in TURNS_OF if each != kind)
    _paces.wait((kind, address), TURNS_OF[kind] * times * (1 + others))


def _typed_bytes() -> int:
    """How much is sent that is no form with files, as the request says; it may say anything."""
    return 0 if request.mimetype == "multipart/form-data" else request.content_length or 0


def _read_posted() -> None:
    """What a stranger posts is read before it waits.

    A few slow ones would keep everybody behind that address from signing in.
    """
    if (request.content_length or 0) <= LARGEST_SIGNED_OUT:
        cast(ComandaRequest, request).max_content_length = LARGEST_SIGNED_OUT
        request.get_data()


def _enter_to_write(person: UUID) -> None:
    """Wait in the lane of a person for what they post, once it has been read.

    In their lane it would keep a place meanwhile: half-sent posts of a sign-in that was stolen, or
    has ended, would keep its owner from ending all of them. What is long waits apart.

    Raises:
        Crowded, Unavailable: it is too much at once, or took too long.
    """
    length = request.content_length
    if length is not None and length <= LARGEST_SIGNED_OUT:
        _read_and_enter(person)
        return
    g.enter_lane_again = partial(_enter_again, "write", person)
    if request.mimetype == "multipart/form-data":
        # It may be a form with files, which has limits of its own while it comes.
        leave_lanes()
    else:
        _enter(("body", person), g.lanes)
    if request.mimetype in FORMS:
        # How long it may be its page says, before anybody reads it.
        cast(ComandaRequest, request).when_read = _enter_when_read
        return
    with ExitStack() as reading:
        reading.callback(leave_lanes)
        request.get_data()
    enter_lane_again()


def _read_and_enter(person: UUID) -> None:
    try:
        request.get_data()
    finally:
        # What is wrong with it is told in turn, too.
        enter_lane("write", person)


def _enter_when_read() -> None:
    leave_lanes()
    enter_lane_again()


def enter_lane_of_stranger() -> None:
    """Wait in the lane of the account that was used on this device before, else of the address.

    Guests are often behind the same address as the restaurant's people, who come in beside them.

    Raises:
        Crowded, Unavailable: too many are there, or it took too long.
    """
    # What a form was signed with: nobody can make it up, and each browser has another one.
    visitor = session.get(KEPT)
    _enter(("unknown", account_of_device() or client_address()), g.lanes, visitor)


def _enter(lane: Lane, held: ExitStack, visitor: str | None = None) -> bool:
    """Whether it had to be waited for; `release_session` leaves it at the latest."""
    try:
        others = _lanes.enter(lane, visitor=visitor, has_gone=_has_gone_of(lane[0]))
    except (Crowded, Unavailable):
        # The answer is made for nobody: looking up its language would cost what is spared.
        g.setdefault("_login_user", AnonymousUserMixin())
        raise
    began = time.thread_time()
    in_threads: list[float] = []
    g.in_threads = in_threads
    held.callback(lambda: _lanes.leave(lane, time.thread_time() - began + sum(in_threads)))
    if pause := _lanes.pause_of(lane, others):
        time.sleep(pause)
        began = time.thread_time()
    return others > 0


def _has_gone_of(kind: str) -> Callable[[], bool]:
    """Whether this request's sender has left, where nothing is lost with it.

    What somebody known posts before they close the page is done.
    """
    connection = request.environ.get("gunicorn.socket")
    is_safe = kind == "unknown" or request.method in ("GET", "HEAD")
    if connection is None or not is_safe or kind in OF_A_PERSON:
        return _stays
    return partial(has_left, connection)


def _refuse(error: Crowded) -> ResponseReturnValue:
    """In words alone, since drawing a page would cost what is spared; and not at once."""
    time.sleep(REFUSED_SECONDS)
    if wants_json():
        return error_response(error)
    headers = {"Content-Type": "text/plain; charset=utf-8", "Retry-After": str(error.retry_after)}
    return str(_(error.message)), HTTPStatus.TOO_MANY_REQUESTS, headers


_lanes, _known = Lanes(), KnownTokens()
_paces = Pace(EVERY_SECONDS, LONGEST_TURN_SECONDS, BURST)


def init_lanes(app: Flask) -> None:
    """Have every request wait for room in its lane.

    Bind it behind the log, and before what may ask the database or draw a page.
    """
    add_first_step(app, _enter_lane)
    tell_costs_to(_add_cost)
    tell_senders_by(_sender)
    app.register_error_handler(Crowded, _refuse)
