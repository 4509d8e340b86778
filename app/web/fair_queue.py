"""Lets what comes at once go on one after the other."""

from __future__ import annotations

import select
from collections.abc import Hashable, Iterable, Iterator
from time import monotonic, perf_counter, thread_time
from typing import Any, TypeVar

import gevent
from flask import has_request_context
from gevent import monkey

# Of so many senders the times are kept; those who wait for nothing are forgotten beyond.
MOST_SENDERS = 10_000
# An answer that is made while it is sent is made for so long at a time; all of one person's take a
# quarter of a process's time.
STRETCH_SECONDS = 0.01
# A page is drawn for so long at a time; everything else of the process goes on in between.
DRAWING_SECONDS = 0.001
REST_SECONDS = 0.0002
Piece = TypeVar("Piece")
# Where the system does not tell of a closed half, only what is closed as a whole counts. gevent's
# own way of asking lets others go on, which is no question of an instant.
_LEFT = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR
_poll = monkey.get_original("select", "poll")


class Pace:
    """Lets what a sender brings at once go on one after the other, `every` seconds apart.

    So many of a `burst` go on without waiting, and nobody waits for longer than `longest` seconds.
    """

    def __init__(self, every: float, longest: float, burst: int = 0) -> None:
        self.every, self.longest, self.burst = every, longest, burst
        self._next: dict[Hashable, float] = {}

    def is_behind(self, sender: Hashable = None) -> bool:
        """Whether this sender's next one would have to wait."""
        return self._next.get(sender, 0.0) > monotonic()

    def wait(self, sender: Hashable = None, turns: float = 1.0) -> None:
        """Wait for one's turn among those of the same sender; the next is so many `turns` later."""
        now = monotonic()
        earliest = now - self.burst * self.every
        turn = max(earliest, self._next.get(sender, earliest))
        self._next[sender] = min(turn, now + self.longest) + self.every * turns
        if len(self._next) > MOST_SENDERS:
            self._next = {who: when for who, when in self._next.items() if when > earliest}
        gevent.sleep(max(0.0, min(turn - now, self.longest)))


_stretches = Pace(4 * STRETCH_SECONDS, longest=60.0)


def in_stretches(pieces: Iterator[Piece], sender: Hashable) -> Iterator[Piece]:
    """The pieces of an answer as they are made, with a rest for others after each stretch."""
    worked = 0.0
    while True:
        began = thread_time()
        try:
            piece = next(pieces)
        except StopIteration:
            return
        worked += thread_time() - began
        yield piece
        if worked > STRETCH_SECONDS:
            _stretches.wait(sender, worked / STRETCH_SECONDS)
            worked = 0.0


def has_left(connection: Any) -> bool:
    """Whether the other side has closed a connection, or its half of it.

    Who has closed a half may still wait for an answer: nothing on the wire tells which it is.
    """
    place = connection.fileno()
    if place < 0:
        return True
    signs = _poll()
    signs.register(place, _LEFT)
    return bool(signs.poll(0))


def draw(pieces: Iterable[str]) -> str:
    """A template's pieces as one text; a large page keeps nobody waiting while it is drawn."""
    return "".join(with_rests(pieces))


def with_rests(pieces: Iterable[Piece]) -> Iterable[Piece]:
    """The pieces, and a rest for others after each stretch of what is done with them.

    Only where one thread answers everybody.
    """
    if not (has_request_context() and monkey.is_module_patched("threading")):
        return pieces
    return _rested(pieces)


def _rested(pieces: Iterable[Piece]) -> Iterator[Piece]:
    began = perf_counter()
    for piece in pieces:
        yield piece
        if perf_counter() - began > DRAWING_SECONDS:
            gevent.sleep(REST_SECONDS)
            began = perf_counter()
