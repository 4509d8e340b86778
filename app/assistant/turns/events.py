"""What happens in a thread, as events that no reader misses, doubles or sees out of order.

Each thread has a log in Redis. Publishing is one script: number the event, append it,
announce it. A reader subscribes first, then reads the log after the last id it has seen,
then listens; a number that does not follow the last one sends it back to the log.

Ids are `epoch-n`: n counts without gaps within an epoch, and an epoch ends when the log
was lost. The truth is in the database; the log only carries what happens meanwhile, so a
reader with an id from another epoch, from the future, or older than the log is told to
`reset`: to fetch the snapshot and go on from there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import uniform
from secrets import token_hex
from typing import Any
from uuid import UUID

import redis
import structlog

KEEP_SECONDS = 3600
KEEP_EVENTS = 5000
# So many of what was missed are told at once; others are heard before the next ones.
STRETCH = 100
RESET = "reset"
log = structlog.get_logger(__name__)

# KEYS: state (epoch, n, and of each turn its fence and what it said last), log. ARGV: new
# epoch, type, data, keep seconds, keep events, channel, turn or '', fence, name of this try.
_PUBLISH = """
local state = redis.call('HMGET', KEYS[1], 'epoch', 'n')
local epoch = state[1]
if ARGV[7] ~= '' then
  local known = redis.call('HMGET', KEYS[1], 'f:' .. ARGV[7], 't:' .. ARGV[7], 'i:' .. ARGV[7])
  if tonumber(ARGV[8]) < tonumber(known[1] or '0') then return false end
  if known[2] == ARGV[9] then return known[3] end
end
if not epoch or (tonumber(state[2]) > 0 and redis.call('EXISTS', KEYS[2]) == 0) then
  epoch = ARGV[1]
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'n', 0)
  redis.call('DEL', KEYS[2])
end
local n = redis.call('HINCRBY', KEYS[1], 'n', 1)
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], n .. '-0', 't', ARGV[2], 'd', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4])
local id = epoch .. '-' .. n
if ARGV[7] ~= '' then
  local turn = ':' .. ARGV[7]
  redis.call('HSET', KEYS[1], 'f' .. turn, ARGV[8], 't' .. turn, ARGV[9], 'i' .. turn, id)
end
redis.call('PUBLISH', ARGV[6], id .. '\\n' .. ARGV[2] .. '\\n' .. ARGV[3])
return id
"""


@dataclass(frozen=True)
class Event:
    """One thing that happened; `data` is JSON text."""

    id: str
    type: str
    data: str

    @property
    def payload(self) -> dict[str, Any]:
        payload: dict[str, Any] = json.loads(self.data)
        return payload


def parse_id(event_id: str) -> tuple[str, int] | None:
    """The epoch and number of an id; None for what is no id at all."""
    epoch, dash, number = event_id.rpartition("-")
    if not dash or not epoch or not number.isdecimal() or len(number) > 15 or len(epoch) > 20:
        return None
    return epoch, int(number)


class EventLog:
    """The logs of all threads, over one Redis connection pool."""

    def __init__(self, connection: redis.Redis) -> None:
        self.redis = connection
        self._publish = connection.register_script(_PUBLISH)

    def publish(
        self,
        thread_id: UUID,
        type_: str,
        payload: dict[str, Any],
        *,
        fence: tuple[UUID, int] | None = None,
    ) -> str | None:
        """Append an event and announce it; returns its id.

        With `fence` (turn, number) nothing is published, and None returned, once a higher
        number has published for that turn: a runner that lost its lease stays unheard. And
        it is published once, though the connection tries again when no answer comes.
        """
        # Pure ASCII: no line or paragraph separator of Unicode can break a frame.
        data = json.dumps(payload, separators=(",", ":"))
        epoch = format(time.time_ns() // 1_000_000, "x")
        turn, number = fence or ("", 0)
        state, log, channel = _keys(thread_id)
        published = self._publish(
            keys=[state, log],
            args=[
                *(epoch, type_, data, KEEP_SECONDS, KEEP_EVENTS, channel),
                *(str(turn), number, token_hex(8)),
            ],
        )
        return published.decode() if published else None

    def announce(self, thread_id: UUID, type_: str, payload: dict[str, Any]) -> None:
        """Publish what is stored already: who is not told finds it when they look again."""
        try:
            self.publish(thread_id, type_, payload)
        except redis.RedisError as error:
            log.warning("not announced", type=type_, error=type(error).__name__)

    def tip(self, thread_id: UUID) -> str:
        """The id of the thread's latest event; empty when there is none."""
        state, log, _ = _keys(thread_id)
        with self.redis.pipeline() as pipe:
            pipe.hmget(state, ["epoch", "n"])
            pipe.exists(log)
            (epoch, number), there = pipe.execute()
        return f"{epoch.decode()}-{int(number)}" if epoch and there else ""

    def after(self, thread_id: UUID, last_id: str, most: int | None = None) -> list[Event] | None:
        """The events after `last_id` (all there are when it is empty), oldest first, or `most`.

        None means that the log cannot tell: the reader needs a fresh snapshot.
        """
        parsed = parse_id(last_id)
        epoch, newest, events = self._look(thread_id, parsed[1] if parsed else 0, most)
        if not last_id:
            return events
        if parsed is None or parsed[0] != epoch or parsed[1] > newest:
            return None
        following = parse_id(events[0].id) if events else None
        expected = parsed[1] + 1
        if following is None:
            return events if newest < expected else None
        return events if following[1] == expected else None

    def _look(self, thread_id: UUID, after: int, most: int | None) -> tuple[str, int, list[Event]]:
        """The epoch, the newest number and the events after a number, all of one moment."""
        state, log, _ = _keys(thread_id)
        with self.redis.pipeline() as pipe:
            pipe.hmget(state, ["epoch", "n"])
            pipe.xrange(log, min=f"{after + 1}-0", count=most)
            pipe.exists(log)
            (named, number), rows, there = pipe.execute()
        if not named or not there:
            return "", 0, []
        epoch = named.decode()
        events = [
            Event(f"{epoch}-{key.decode().split('-')[0]}", row[b"t"].decode(), row[b"d"].decode())
            for key, row in rows
        ]
        return epoch, int(number), events


def _keys(thread_id: UUID) -> tuple[str, str, str]:
    return f"events:{thread_id}:state", f"events:{thread_id}:log", f"events:{thread_id}"


class Subscription:
    """A live reader of one thread's events; see the module's first lines for the order."""

    def __init__(
        self,
        log: EventLog,
        thread_id: UUID,
        last_id: str,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        """`rest` is called between the stretches of a long replay, to let others go on."""
        self.log = log
        self.thread_id = thread_id
        self.last_id = last_id
        self._rest = rest
        self._beat_every = self._beat_at = 0.0

    def events(self, heartbeat_seconds: float) -> Iterator[Event | None]:
        """Yield events as they come, and None at each heartbeat.

        A lost connection to Redis is made again and the log read, so that nothing is missed.
        """
        self._beat_every = heartbeat_seconds
        # Streams that were opened together do not all beat together.
        self._beat_at = time.monotonic() + heartbeat_seconds * uniform(0.2, 1)  # noqa: S311
        while True:
            pubsub = self.log.redis.pubsub()  # type: ignore[no-untyped-call]
            try:
                pubsub.subscribe(_keys(self.thread_id)[2])
                pubsub.get_message(timeout=5)  # the acknowledgement
                yield from self._replay()
                while True:
                    pause = max(0.0, self._beat_at - time.monotonic())
                    message = pubsub.get_message(timeout=pause)
                    if message is not None and message["type"] == "message":
                        yield from self._received(message["data"])
                    elif message is not None:
                        # The connection was lost and made again meanwhile.
                        yield from self._replay()
                    if time.monotonic() >= self._beat_at:
                        yield from self._replay()
            except redis.RedisError:
                yield from self._beat()
                time.sleep(0.5)
            finally:
                _close(pubsub)

    def _received(self, data: bytes) -> Iterator[Event | None]:
        yield from self._beat()
        event_id, type_, body = data.decode().split("\n", 2)
        arrived, seen = parse_id(event_id), parse_id(self.last_id)
        if arrived and seen and arrived[0] == seen[0] and arrived[1] <= seen[1]:
            return
        follows = arrived and (
            arrived[1] == 1
            if not self.last_id
            else bool(seen) and arrived == (seen[0], seen[1] + 1)  # type: ignore[index]
        )
        if follows:
            self.last_id = event_id
            yield Event(event_id, type_, body)
        else:
            yield from self._replay()

    def _beat(self) -> Iterator[None]:
        """None where it is time: who listens is asked for, before anything else is told.

        A busy thread has its heartbeats too, and so has a reader who is slow: they end streams that
        must end. No more often than usual: each beat asks the database whether one may listen.
        """
        if time.monotonic() >= self._beat_at:
            yield None
            self._beat_at = time.monotonic() + self._beat_every

    def _replay(self) -> Iterator[Event | None]:
        while True:
            yield from self._beat()
            events = self.log.after(self.thread_id, self.last_id, STRETCH)
            if events is None:
                tip = self.log.tip(self.thread_id)
                self.last_id = tip
                yield Event(tip, RESET, "{}")
                return
            for event in events:
                self.last_id = event.id
                yield event
            if len(events) < STRETCH:
                return
            self._rest()


def _close(pubsub: redis.client.PubSub) -> None:
    # A connection that is gone already is what was wanted.
    with suppress(redis.RedisError, OSError):
        pubsub.close()
