"""The web server's worker: gunicorn's for gevent, in which no connection keeps others waiting."""

from __future__ import annotations

from typing import Any

import gevent
from gunicorn.workers.ggevent import GeventWorker  # type: ignore[import-untyped]


class FairWorker(GeventWorker):  # type: ignore[misc]
    """Lets others go on after each request.

    gunicorn answers what came over one connection without a pause for as long as more is there.
    """

    def handle_request(self, *request: Any) -> Any:
        answered = super().handle_request(*request)
        gevent.sleep(0)
        return answered
