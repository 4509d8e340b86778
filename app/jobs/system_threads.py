"""Slow work in threads of the operating system, where gevent runs: no stream waits for it."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, TypeVar, cast

from gevent import monkey

if TYPE_CHECKING:
    from gevent.threadpool import ThreadPool

Answer = TypeVar("Answer")
# For so long one of them keeps the interpreter where all else of the process could go on. A page
# asks the database twenty times, and after each would wait for Python's usual 5 ms.
SWITCH_SECONDS = 0.0005

# What whoever waits for a thread holds and others need is given back first: see `RealThreads`.
_give_back: list[Callable[[], None]] = []


def give_back_with(function: Callable[[], None]) -> None:
    """Have this called by whoever begins to wait; a process says so once."""
    if function not in _give_back:
        _give_back.append(function)


# Who is told what the work has cost, in seconds of the processor.
_costs: list[Callable[[float], None]] = []


def tell_costs_to(function: Callable[[float], None]) -> None:
    """Have this called after each work, by whoever waited for it; a process says so once."""
    if function not in _costs:
        _costs.append(function)


# Who asks for work: of each sender one after the other is done.
_senders: list[Callable[[], Hashable]] = []


def tell_senders_by(function: Callable[[], Hashable]) -> None:
    """Have this called to learn who asks for work; a process says so once."""
    if function not in _senders:
        _senders.append(function)


def give_back() -> None:
    """Give back what others need, before waiting."""
    for function in _give_back:
        function()


class RealThreads:
    """So many threads of this process, for work that neither yields nor uses the network.

    With `holds_nothing`, whoever waits for one holds no connection to the database meanwhile: a
    process has few of them, and a page that needs none would wait with those that do.
    """

    def __init__(self, count: int, *, holds_nothing: bool = False) -> None:
        self._count = count
        self._holds_nothing = holds_nothing
        self._free = count
        self._line: dict[Hashable, deque[Event]] = {}

    def run(self, work: Callable[[], Answer]) -> Answer:
        """Do the work in one of them and wait for it; just do it where there is no gevent.

        It is done in the context of whoever waits: what it says is in the request's language.
        """
        if self._holds_nothing:
            give_back()
        if not monkey.is_module_patched("threading"):
            return work()
        with self._turn(tuple(function() for function in _senders)):
            answer, cost = self._pool.apply(copy_context().run, (_measured, work))
        for tell in _costs:
            tell(cost)
        return cast("Answer", answer)

    @contextmanager
    def _turn(self, sender: Hashable) -> Iterator[None]:
        """Wait for a thread; of several senders each has one of theirs done in turn.

        Who sends ten keeps nobody waiting for more than one of them in each thread.
        """
        if self._free:
            self._free -= 1
        else:
            mine = Event()
            self._line.setdefault(sender, deque()).append(mine)
            try:
                mine.wait()
            except BaseException:
                # Whoever waited is gone, perhaps after its turn had come.
                if mine.is_set():
                    self._pass_on()
                else:
                    self._line[sender].remove(mine)
                    self._forget_if_done(sender)
                raise
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Let the next sender's first go on."""
        if not self._line:
            self._free += 1
            return
        sender = next(iter(self._line))
        waiting = self._line.pop(sender)
        waiting.popleft().set()
        # Behind all the others now.
        self._line[sender] = waiting
        self._forget_if_done(sender)

    def _forget_if_done(self, sender: Hashable) -> None:
        if not self._line[sender]:
            del self._line[sender]

    @cached_property
    def _pool(self) -> ThreadPool:
        # Made at the first work, in the process that does it: threads do not survive a fork.
        from gevent.threadpool import ThreadPool

        sys.setswitchinterval(SWITCH_SECONDS)
        return ThreadPool(self._count)


def _measured(work: Callable[[], Answer]) -> tuple[Answer, float]:
    began = time.thread_time()
    return work(), time.thread_time() - began
