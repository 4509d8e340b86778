"""Ends a process in which one greenlet keeps all others from going on."""

from __future__ import annotations

import faulthandler
import signal

import gevent

# Of the processor's time, and not the clock's: a process that is stopped, or a machine that sleeps,
# goes on where it was.
STUCK_SECONDS = 15.0


def end_when_stuck(seconds: float = STUCK_SECONDS) -> None:
    """End this process where it works for so long and nothing else gets a turn in it.

    Runs until it is killed. Another process takes over what this one was at, or this one does when
    it was started anew. The system ends it, since what keeps it busy may be a single call; which
    lines it was at is printed before, and nothing of what anybody wrote.
    """
    faulthandler.register(signal.SIGPROF, chain=True)
    try:
        while True:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            gevent.sleep(seconds / 10)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.unregister(signal.SIGPROF)
