"""Slow work in threads of the operating system, where gevent runs: no stream waits for it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from gevent import monkey

if TYPE_CHECKING:
    from gevent.threadpool import ThreadPool

Answer = TypeVar("Answer")


# What whoever waits for a thread holds and others need is given back first: see `RealThreads`.
_give_back: list[Callable[[], None]] = []


def give_back_with(function: Callable[[], None]) -> None:
    """Have this called by whoever begins to wait; a process says so once."""
    if function not in _give_back:
        _give_back.append(function)


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

    def run(self, work: Callable[[], Answer]) -> Answer:
        """Do the work in one of them and wait for it; just do it where there is no gevent.

        It is done in the context of whoever waits: what it says is in the request's language.
        """
        if self._holds_nothing:
            give_back()
        if not monkey.is_module_patched("threading"):
            return work()
        answer: Answer = self._pool.apply(copy_context().run, (work,))
        return answer

    @cached_property
    def _pool(self) -> ThreadPool:
        # Made at the first work, in the process that does it: threads do not survive a fork.
        from gevent.threadpool import ThreadPool

        return ThreadPool(self._count)
