"""Ends a process in which one greenlet keeps all others from going on."""

from __future__ import annotations

import faulthandler

import gevent

# As long as gunicorn waits for a web worker (gunicorn.conf.py).
STUCK_SECONDS = 30.0


def end_when_stuck(seconds: float = STUCK_SECONDS) -> None:
    """End this process where nothing else gets to work in it for so long; runs until it is killed.

    What it was at has been taken over by then, but what keeps it busy would go on, and there would
    be one process less. The lines it is at are printed, and nothing of what anybody wrote.
    """
    try:
        while True:
            faulthandler.dump_traceback_later(seconds, exit=True)
            gevent.sleep(seconds / 10)
    finally:
        faulthandler.cancel_dump_traceback_later()
