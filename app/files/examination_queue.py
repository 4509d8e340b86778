"""Whose files are examined when: one file of a person at a time, wherever it came in.

Web processes, on one host or on several, share a line for each person in Redis. Who waits in it
renews a lease; what belonged to a process that died is passed over. While Redis is away each
process has lines of its own.

In a process there are few places for children. As each person has at most one file that waits for
one, nobody waits for more than one file of any other person.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from threading import Condition, Event, Lock, Thread

import redis
import structlog
from redis.exceptions import RedisError

from app.errors import TooMany

# The posts with files of one person that are taken at the same time: one is examined, the others
# wait. A page sends its files one after the other, so that this is as many pages.
MOST_AT_ONCE = 6
LEASE_SECONDS, RENEW_SECONDS, POLL_SECONDS = 12.0, 3.0, 0.1
LONGEST_WAIT_SECONDS = 90
RETRY_SECONDS = 15

# Takes or renews a ticket. Returns its place in the line, from 0 on, or -1 where that is full.
_STEP = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('LREM', KEYS[1], 0, gone)
  redis.call('ZREM', KEYS[2], gone)
end
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
  redis.call('RPUSH', KEYS[1], ARGV[1])
end
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], 2 * ARGV[2])
redis.call('PEXPIRE', KEYS[2], 2 * ARGV[2])
for place, ticket in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if ticket == ARGV[1] then return place - 1 end
end
return -1
"""

log = structlog.get_logger()


def line_is_full() -> TooMany:
    """What somebody is told who adds more files at once than are taken."""
    return TooMany(
        "Wait until your other files are checked, then add this one again.",
        retry_after=RETRY_SECONDS,
    )


class Places:
    """As many at work as there are places; others wait in the order in which they came."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._line: list[object] = []
        self._changed = Condition()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Have a place, and leave it at the end."""
        ticket = object()
        with self._changed:
            self._line.append(ticket)
            self._changed.wait_for(lambda: ticket in self._line[: self._count])
        try:
            yield
        finally:
            with self._changed:
                self._line.remove(ticket)
                self._changed.notify_all()


class ExaminationQueue:
    """A line for each person; whoever is first in theirs may have files examined."""

    def __init__(self, connection: redis.Redis) -> None:
        self._redis = connection
        self._step = connection.register_script(_STEP)
        self._own: dict[str, list[str]] = {}
        self._lock = Lock()

    @contextmanager
    def turn_of(self, person: str) -> Iterator[None]:
        """Wait until it is this post's turn among those of its person, and keep it to the end.

        Raises:
            TooMany: too many of this person's posts are waiting already; nothing was done.
        """
        ticket, done = token_hex(8), Event()
        renewing = Thread(target=self._renew, args=(person, ticket, done), daemon=True)
        try:
            self._wait(person, ticket)
            renewing.start()
            yield
        finally:
            done.set()
            if renewing.ident:
                # Else it could take the ticket once more after it was given back.
                renewing.join()
            self._leave(person, ticket)

    def _wait(self, person: str, ticket: str) -> None:
        give_up_at = time.monotonic() + LONGEST_WAIT_SECONDS
        while place := self._place(person, ticket):
            if place < 0 or time.monotonic() > give_up_at:
                raise line_is_full()
            time.sleep(POLL_SECONDS)

    def _renew(self, person: str, ticket: str, done: Event) -> None:
        while not done.wait(RENEW_SECONDS):
            self._place(person, ticket)

    def _place(self, person: str, ticket: str) -> int:
        """Where a ticket is in its person's line; it is taken or renewed by asking."""
        lease = int(LEASE_SECONDS * 1000)
        try:
            return int(self._step(keys=_keys(person), args=[ticket, lease, MOST_AT_ONCE]))
        except RedisError as error:
            log.warning("the shared line of uploads is away", error=type(error).__name__)
            return self._own_place(person, ticket)

    def _own_place(self, person: str, ticket: str) -> int:
        """The same in this process alone, whose tickets end with it."""
        with self._lock:
            line = self._own.setdefault(person, [])
            if ticket not in line:
                if len(line) >= MOST_AT_ONCE:
                    return -1
                line.append(ticket)
            return line.index(ticket)

    def _leave(self, person: str, ticket: str) -> None:
        with self._lock:
            line = [each for each in self._own.pop(person, []) if each != ticket]
            if line:
                self._own[person] = line
        order, leases = _keys(person)
        try:
            self._redis.lrem(order, 0, ticket)
            self._redis.zrem(leases, ticket)
        except RedisError as error:
            log.warning("a ticket is left to its lease", error=type(error).__name__)


def _keys(person: str) -> tuple[str, str]:
    return f"uploads:{{{person}}}:line", f"uploads:{{{person}}}:leases"
