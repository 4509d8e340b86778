"""The event stream that a browser listens to: flask-sse's blueprint with our log behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import gevent
import structlog
from flask import Response, request
from flask_login import current_user
from flask_sse import Message as SseMessage
from flask_sse import ServerSentEventsBlueprint
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.models import SignIn
from app.assistant.events import Event, EventLog, Subscription
from app.assistant.threads import load_thread
from app.db import utc_now
from app.extensions import services
from app.metrics import count_stream
from app.web import db_session, release_session

# Enough for a proxy to start passing the stream on, and the delay before a reconnect.
PREAMBLE = ": comanda\nretry: 1000\n\n"
HEARTBEAT = ": still here\n\n"
CLOSED = "closed"
log = structlog.get_logger()
# The greenlets that each serve a stream.
_open: set[gevent.Greenlet[Any, Any]] = set()


class ThreadEvents(ServerSentEventsBlueprint):
    """flask-sse with a log to replay from and a channel that the server chooses.

    The package's own stream takes the channel from the query string and forgets what was
    said while nobody listened; here the channel is a thread that the person owns.
    """

    def stream(self, thread_id: UUID) -> Response:
        """Stream the thread's events after Last-Event-ID, else after `?after=`."""
        load_thread(db_session(), thread_id)
        # A reconnect repeats the old query string, so the header wins.
        last_id = request.headers.get("Last-Event-ID") or request.args.get("after", "")
        subscription = Subscription(EventLog(services().redis), thread_id, last_id)
        beat = services().settings.stream_heartbeat_seconds
        frames = _frames(subscription.events(beat), _sign_in_check())
        release_session()
        return Response(
            frames,
            mimetype="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


def _frames(events: Iterator[Event | None], signed_in: Callable[[], bool]) -> Iterator[str]:
    with _open_stream():
        yield from _said(events, signed_in)


@contextmanager
def _open_stream() -> Iterator[None]:
    """Count the stream while it lasts, and let `end_streams` find it."""
    here = gevent.getcurrent()
    _open.add(here)
    count_stream(1)
    try:
        yield
    finally:
        count_stream(-1)
        _open.discard(here)


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
                return sign_in is not None and sign_in.expires_at > utc_now()
        except SQLAlchemyError as error:
            # Nothing is written meanwhile that could be heard; the next beat asks again.
            log.warning("sign-in not checked", error=type(error).__name__)
            return True

    return signed_in
