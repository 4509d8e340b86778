"""The process that answers: claims turns, runs many at once, keeps their leases alive.

Turns run here and not in the web workers, so that a reply goes on when nobody listens and
when a web worker dies. A turn is claimed for some seconds and renewed by heartbeat; when
this process dies or freezes, another one takes its turns over, under a higher fence.

Start it with gevent's patches in place before anything else is imported:
`python -m gevent.monkey --module app.assistant.turns.runner`.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

import gevent
import psycopg
import structlog
from flask import Flask
from gevent.event import Event
from gevent.pool import Pool
from redis import RedisError
from sqlalchemy import func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from app import redis_client
from app.assistant.providers.choice import make_provider, make_standby
from app.assistant.providers.retries_and_breaker import Breaker
from app.assistant.turns.cancel import NOTIFY_CHANNEL
from app.assistant.turns.executor import (
    ClaimedTurn,
    TurnStopped,
    TurnTimedOut,
    claim_turns,
    execute_turn,
)
from app.assistant.turns.model_request import usual_requests
from app.db import app_database
from app.extensions import Services
from app.jobs.watchdog import end_when_stuck
from app.observability.presence import BEAT_SECONDS, Presence

POLL_SECONDS = 1.0
# What a turn gets to notice that it must let go, or to finish writing its last state.
LET_GO_SECONDS = 1.0
# What a turn whose time is over gets before it is told so again.
OVERDUE_SECONDS = 10.0
POOL_SECONDS = 30.0
# A runner that is stopped in the middle of a transaction, such as the one that counts an answer for
# its restaurant, would keep all other answers of that restaurant from being finished.
IDLE_SECONDS = 10.0
log = structlog.get_logger()


class Runner:
    """One runner process; `run()` returns after `stop()` and the drain."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        # Turns wait for a connection rather than fail: there are more of them than connections.
        shared: Services = app.extensions["comanda"]
        patient = app_database(
            shared.settings, pool_timeout=POOL_SECONDS, idle_seconds=IDLE_SECONDS
        )
        log_of_events = redis_client.connect_patiently(shared.settings.redis_url or "")
        self.services = replace(shared, database=patient, redis=log_of_events)
        self.leases = app_database(shared.settings, pool_size=1, idle_seconds=IDLE_SECONDS)
        self.breaker = Breaker()
        self.provider = make_provider(self.services.settings, self.services.embedder, self.breaker)
        self.standby = make_standby(self.services.settings, self.services.embedder)
        self.runner_id = f"{socket.gethostname()}:{os.getpid()}"
        self.pool = Pool(self.services.settings.runner_concurrency)
        self.running: dict[UUID, tuple[ClaimedTurn, gevent.Greenlet[Any, Any]]] = {}
        # Turns whose reply is decided and being written: too late to stop them.
        self.settling: set[UUID] = set()
        self.wake = Event()
        self.stopping = False

    def run(self) -> None:
        """Claim and answer until told to stop; then finish what is running."""
        loops = (self._listen, self._renew_leases, self._tell_of_us, end_when_stuck)
        background = [gevent.spawn(loop) for loop in loops]
        self._prepare()
        log.info("runner ready", runner=self.runner_id, provider=self.provider.name)
        while not self.stopping:
            self.wake.clear()
            if not self._claim_some():
                self.wake.wait(POLL_SECONDS)
        self.pool.join(timeout=self.services.settings.runner_drain_seconds)
        # Nothing may renew what is about to be released.
        gevent.killall(background, timeout=LET_GO_SECONDS)
        self._release_unfinished()

    def _prepare(self) -> None:
        """Let the built-in assistant open what it reads; nobody's first message waits for it."""
        if self.provider.uses_hints:
            for request in usual_requests(self.services.registry):
                deque(self.provider.stream(request), maxlen=0)
                gevent.sleep(0)

    def stop(self) -> None:
        """Claim nothing more; turns that are running may finish."""
        self.stopping = True
        self.wake.set()

    def _claim_some(self) -> bool:
        """Claim what there is room for; True when something was claimed."""
        room = self.pool.free_count()
        if room <= 0:
            self.pool.wait_available(POLL_SECONDS)
            return False
        try:
            claimed = claim_turns(self.services, self.runner_id, room)
        except SQLAlchemyError as error:
            log.error("cannot claim turns", error=type(error).__name__)
            gevent.sleep(POLL_SECONDS)
            return False
        for turn in claimed:
            self._start(turn)
        return bool(claimed)

    def _start(self, turn: ClaimedTurn) -> None:
        greenlet = self.pool.spawn(self._execute, turn)
        self.running[turn.turn_id] = (turn, greenlet)
        # A turn that is stopped before it began never runs, but it ends like the others.
        greenlet.rawlink(lambda _ended: self._forget(turn))

    def _forget(self, turn: ClaimedTurn) -> None:
        entry = self.running.get(turn.turn_id)
        if entry and entry[0] is turn:
            del self.running[turn.turn_id]
            self.settling.discard(turn.turn_id)
        # The next message of the same thread may be waiting for this one.
        self.wake.set()

    def _execute(self, turn: ClaimedTurn) -> None:
        limit = self.services.settings.ai_turn_timeout_seconds
        # Not once: whoever takes it for something else would have no limit any more.
        timer = gevent.get_hub().loop.timer(limit, repeat=OVERDUE_SECONDS)
        timer.start(gevent.getcurrent().throw, TurnTimedOut())

        def settle() -> None:
            timer.close()
            self.settling.add(turn.turn_id)

        try:
            # Links in the reply are relative; the address of this context is never seen.
            with self.app.test_request_context("/"):
                execute_turn(
                    self.services,
                    self.provider,
                    turn,
                    settle,
                    gevent.spawn_later,
                    self.standby,
                    gevent.sleep,
                )
        except (Exception, TurnStopped) as error:
            # The lease runs out and the turn is tried again, here or elsewhere.
            log.exception("turn left unfinished", turn=str(turn.turn_id), error=repr(type(error)))
        finally:
            timer.close()

    def _renew_leases(self) -> None:
        """Renew what runs here; drop what was lost, stop what should stop."""
        lease = self.services.settings.turn_lease_seconds
        while True:
            gevent.sleep(lease / 3)
            if not self.running:
                continue
            try:
                self._renew(lease)
            except SQLAlchemyError as error:
                log.error("cannot renew leases", error=type(error).__name__)

    def _renew(self, lease: float) -> None:
        held = dict(self.running)
        with self.leases.transaction() as session:
            rows = session.execute(
                select("*").select_from(func.renew_turns(self.runner_id, list(held), lease))
            ).all()
        renewed = {row.turn_id: row for row in rows}
        for turn_id, (turn, greenlet) in held.items():
            row = renewed.get(turn_id)
            if row is None or row.fence != turn.fence:
                # Finished meanwhile, or taken over; one whose reply is being written has the
                # fence to find that out, and must not be kept from telling the readers.
                if turn_id in self.running and turn_id not in self.settling:
                    log.warning("turn taken over", turn=str(turn_id))
                    greenlet.kill(block=False)
            elif row.stop_requested:
                self._stop_turn(turn_id)

    def _stop_turn(self, turn_id: UUID) -> None:
        entry = self.running.get(turn_id)
        if entry and turn_id not in self.settling:
            entry[1].kill(TurnStopped, block=False)

    def _listen(self) -> None:
        """Wake up when a turn is queued, and stop one at once when its person says so."""
        url = make_url(self.services.settings.database_url or "").set(drivername="postgresql")
        address = url.render_as_string(hide_password=False)
        while True:
            try:
                with psycopg.connect(address, autocommit=True) as connection:
                    connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
                    self.wake.set()
                    for notice in connection.notifies():
                        self._heard(notice.payload)
            except psycopg.Error as error:
                log.error("cannot listen for turns", error=type(error).__name__)
                gevent.sleep(POLL_SECONDS)

    def _heard(self, payload: str) -> None:
        if payload.startswith("stop:"):
            with suppress(ValueError):
                self._stop_turn(UUID(payload[5:]))
        else:
            self.wake.set()

    def _tell_of_us(self) -> None:
        """Let probes know that a runner lives, and how it finds the model."""
        presence = Presence(self.services.redis)
        try:
            while True:
                try:
                    presence.tell(self.runner_id, model_ok=not self.breaker.is_tripped)
                except RedisError as error:
                    log.warning("cannot tell of this runner", error=type(error).__name__)
                gevent.sleep(BEAT_SECONDS)
        finally:
            with suppress(RedisError):
                presence.leave(self.runner_id)

    def _release_unfinished(self) -> None:
        """Let go of turns that outlived the drain; another runner takes them over at once.

        One whose reply is being written keeps its turn until somebody else claims it.
        """
        unfinished = dict(self.running)
        cut_off = [each for turn, (_, each) in unfinished.items() if turn not in self.settling]
        gevent.killall(cut_off, block=False)
        gevent.joinall([each for _, each in unfinished.values()], timeout=LET_GO_SECONDS)
        if not unfinished:
            return
        try:
            with self.leases.transaction() as session:
                turns = list(unfinished)
                count = session.scalar(select(func.release_turns(self.runner_id, turns)))
                session.execute(select(func.pg_notify(NOTIFY_CHANNEL, "")))
            log.info("turns released", count=count)
        except SQLAlchemyError as error:
            # Their leases run out by themselves.
            log.error("cannot release turns", error=type(error).__name__)


def main(make_app: Callable[[], Flask]) -> None:
    """Run until SIGTERM or SIGINT."""
    from app.observability.metrics import share

    runner = Runner(make_app())
    share(runner.services.settings)
    # The collector need not look through what the app is made of, while turns wait.
    gc.collect()
    gc.freeze()
    for number in (signal.SIGTERM, signal.SIGINT):
        gevent.signal_handler(number, runner.stop)
    began = time.monotonic()
    runner.run()
    log.info("runner ended", seconds=round(time.monotonic() - began))


if __name__ == "__main__":
    from app import create_app

    main(create_app)
