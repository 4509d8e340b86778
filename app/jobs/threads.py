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


class RealThreads:
    """So many threads of this process, for work that neither yields nor uses the network."""

    def __init__(self, count: int) -> None:
        self._count = count

    def run(self, work: Callable[[], Answer]) -> Answer:
        """Do the work in one of them and wait for it; just do it where there is no gevent.

        It is done in the context of whoever waits: what it says is in the request's language.
        """
        if not monkey.is_module_patched("threading"):
            return work()
        answer: Answer = self._pool.apply(copy_context().run, (work,))
        return answer

    @cached_property
    def _pool(self) -> ThreadPool:
        # Made at the first work, in the process that does it: threads do not survive a fork.
        from gevent.threadpool import ThreadPool

        return ThreadPool(self._count)
