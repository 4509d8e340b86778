"""The event stream that a browser listens to: flask-sse's blueprint with our log behind it.

A stream has a place, among those of its person and of the process, from before the database is
asked anything until its answer is closed: hundreds asked for at once are refused at once.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

import gevent
import structlog
from flask import Response, g, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import AnonymousUserMixin, current_user
from flask_sse import Message as SseMessage
from flask_sse import ServerSentEventsBlueprint
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.concurrency_limit import enter_lane, enter_lane_of_stranger, find_owner
from app.accounts.models import SignIn
from app.accounts.person import presented_token
from app.accounts.tokens import hash_token
from app.assistant.threads.threads import load_thread
from app.assistant.turns.events import Event, EventLog, Subscription
from app.db import utc_now
from app.errors import ComandaError, NotFound, TooMany, Unavailable
from app.extensions import services
from app.observability.metrics import count_stream
from app.web.fair_queue import Pace
from app.web.pages import db_session, release_session

# Enough for a proxy to start passing the stream on, and what programs take for the delay before
# they reconnect; a page has its own (templates/chat/_stream.html).
PREAMBLE = ": comanda\nretry: 1000\n\n"
HEARTBEAT = ": still here\n\n"
CLOSED = "closed"
# A page that is refused asks again after this long (static/js/stream_connection.js waits as long).
RETRY_SECONDS = 30
# Streams are refused so long one after the other, and none waits longer than this to be.
REFUSED_EVERY_SECONDS, LONGEST_REFUSED_SECONDS = 0.05, 5.0
# Fewer than the connections that a worker takes (gunicorn.conf.py), so that it answers others.
MOST_STREAMS = 3500
# A stream has a connection to its reader and one to Redis; what else the process opens is less.
FILES_OF_A_STREAM = 2
OTHER_FILES = 200
log = structlog.get_logger()
# The greenlets that each serve a stream.
_open: set[gevent.Greenlet[Any, Any]] = set()


class Place:
    """What one stream takes of this process, from being asked for until its answer is closed."""

    taken: ClassVar[set[Place]] = set()
    # How many places each sign-in and each person has.
    taken_by: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        """Take one.

        Raises:
            Unavailable: the process serves as many streams as it can.
        """
        if len(self.taken) >= most_streams():
            raise Unavailable(
                "Too many Comanda pages are open. This one will continue by itself soon."
            )
        self._counted: list[str] = []
        self.taken.add(self)

    def count(self, who: str) -> None:
        """Count it as one of theirs.

        Raises:
            TooMany: this process serves as many streams of theirs as it may.
        """
        if self.taken_by[who] >= services().settings.streams_per_person:
            raise TooMany(
                "Comanda is open in too many places at once. Close some of its pages.",
                retry_after=RETRY_SECONDS,
            )
        self.taken_by[who] += 1
        self._counted.append(who)

    def release(self) -> None:
        """Give it back; once it is given back, this does nothing."""
        self.taken.discard(self)
        while self._counted:
            who = self._counted.pop()
            self.taken_by[who] -= 1
            if not self.taken_by[who]:
                del self.taken_by[who]


# What was missed is told in stretches that take 3 ms, of all streams of a person a tenth of a
# process's time.
_replays = Pace(0.03, longest=60.0)
# One for everybody: what it spares is this process.
_refusals = Pace(REFUSED_EVERY_SECONDS, LONGEST_REFUSED_SECONDS)


class ThreadEvents(ServerSentEventsBlueprint):
    """flask-sse with a log to replay from and a channel that the server chooses.

    The package's own stream takes the channel from the query string and forgets what was
    said while nobody listened; here the channel is a thread that the person owns.
    """

    def __init__(self, name: str, import_name: str) -> None:
        super().__init__(name, import_name)
        self.before_request(_take_place)
        self.after_request(_keep_place)
        self.teardown_request(_drop_place)
        for refused in (TooMany, Unavailable, NotFound):
            self.register_error_handler(refused, _refuse)

    def stream(self, thread_id: UUID) -> Response:
        """Stream the thread's events after Last-Event-ID, else after `?after=`.

        Raises:
            NotFound: the thread does not exist, or is not the person's.
            TooMany: this process serves as many streams of the person as it may.
        """
        place: Place = g.stream_place
        load_thread(db_session(), thread_id)
        # A reconnect repeats the old query string, so the header wins.
        last_id = request.headers.get("Last-Event-ID") or request.args.get("after", "")
        rest = partial(_replays.wait, current_user.user_id)
        subscription = Subscription(EventLog(services().redis), thread_id, last_id, rest)
        beat = services().settings.stream_heartbeat_seconds
        frames = _frames(subscription.events(beat), _sign_in_check(), place)
        release_session()
        return Response(
            frames,
            mimetype="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


def most_streams() -> int:
    """How many streams this process can serve, given the files that it may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, min(MOST_STREAMS, (files - OTHER_FILES) // FILES_OF_A_STREAM))


def _take_place() -> None:
    """Take the place before anything is asked of the database, even who it is for.

    Raises:
        TooMany: the sign-in that the request brings has as many as a person may have, or many
            are sent from its address that nobody knows.
        Unavailable: the process serves as many streams as it can.
    """
    try:
        g.stream_place = Place()
        token = presented_token()
        if token:
            g.stream_place.count(hash_token(token))
        person = find_owner(token)
        if person is None:
            # Who is refused has to wait for that as for any other page.
            enter_lane_of_stranger()
        else:
            # They may have other sign-ins.
            g.stream_place.count(str(person))
            # Until it begins, or is refused.
            enter_lane("read", person)
    except ComandaError:
        # The answer is made for nobody: looking up its language would cost what is spared.
        g._login_user = AnonymousUserMixin()
        raise


def _refuse(error: ComandaError) -> ResponseReturnValue:
    """Say so in words alone, and in turn: hundreds may be refused at once.

    Drawing a page takes longer, and each of them may ask again at once.
    """
    if "stream_place" in g:
        g.stream_place.release()
    _refusals.wait()
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    return str(_(error.message)), error.status, headers


def _keep_place(response: Response) -> Response:
    """Hold the place until the stream's answer is closed, be it read or not."""
    if "stream_place" in g:
        # A generator that was never begun is closed without a word; the answer is told.
        response.call_on_close(g.stream_place.release)
        if request.method == "HEAD" or not response.is_streamed:
            g.stream_place.release()
    return response


def _drop_place(error: BaseException | None) -> None:
    """Give the place back where the answer that holds it is not the one that is sent."""
    if error is not None and "stream_place" in g:
        g.stream_place.release()


def _frames(
    events: Iterator[Event | None], signed_in: Callable[[], bool], place: Place
) -> Iterator[str]:
    with _open_stream(place):
        yield from _said(events, signed_in)


@contextmanager
def _open_stream(place: Place) -> Iterator[None]:
    """Let `end_streams` find the stream while it lasts; its place is given back with it."""
    here = gevent.getcurrent()
    _open.add(here)
    count_stream(1)
    try:
        yield
    finally:
        place.release()
        _open.discard(here)
        count_stream(-1)


def end_streams() -> None:
    """End every stream of this process at once; its readers go on with another one."""
    gevent.killall(list(_open), block=False)


def _said(events: Iterator[Event | None], signed_in: Callable[[], bool]) -> Iterator[str]:
    yield PREAMBLE
    for event in events:
        if event is not None:
            yield _frame(event)
        elif signed_in():
            yield HEARTBEAT
        else:
            yield _frame(Event("", CLOSED, "{}"))
            return


def _frame(event: Event) -> str:
    return str(SseMessage(event.data, type=event.type, id=event.id or None))


def _sign_in_check() -> Callable[[], bool]:
    """A question that may be asked after the request is over: is this sign-in still good?"""
    database, scope, sign_in_id = services().database, current_user.scope, current_user.sign_in_id

    def signed_in() -> bool:
        try:
            with database.transaction(scope) as session:
                sign_in = session.get(SignIn, sign_in_id)
                return (
                    sign_in is not None
                    and sign_in.group_id == scope.group_id
                    and sign_in.expires_at > utc_now()
                )
        except SQLAlchemyError as error:
            # Nothing is written meanwhile that could be heard; the next beat asks again.
            log.warning("sign-in not checked", error=type(error).__name__)
            return True

    return signed_in
