"""One line in the log for each request, and an id that follows it through the processes.

A proxy's X-Request-ID is kept when it is plain, so that its log and ours tell of the same
request; the answer carries the id, and so does the turn that a message starts.
"""

from __future__ import annotations

import re
import time
from uuid import uuid4

import structlog
from flask import Flask, Response, g, request

from app.extensions import PROBES
from app.observability import metrics
from app.web.first_steps import add_first_step

HEADER = "X-Request-ID"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
# Asked for by machines all the time, or many at once by a page.
_QUIET = PROBES | {"static"}

log = structlog.get_logger()


def _begin() -> None:
    sent = request.headers.get(HEADER, "")
    g.request_id = sent if _PLAIN.fullmatch(sent) else uuid4().hex
    g.began = time.perf_counter()
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request=g.request_id)


def _end(response: Response) -> Response:
    """Say who was asked for what kind of page and how long it took; never the address."""
    if "began" not in g:
        return response
    seconds = time.perf_counter() - g.began
    metrics.count_request(request.endpoint, request.method, response.status_code, seconds)
    # Whoever was found out to be asking; a line of the log is no reason to look them up.
    person = getattr(g.get("_login_user"), "user_id", None)
    tell = log.debug if request.endpoint in _QUIET else log.info
    tell(
        "request",
        method=request.method if request.method in metrics.METHODS else "other",
        endpoint=request.endpoint or "none",
        status=response.status_code,
        milliseconds=round(seconds * 1000, 1),
        user=str(person) if person else "",
    )
    response.headers[HEADER] = g.request_id
    return response


def request_id() -> str:
    """The id of the request that this process serves just now; empty where there is none."""
    return str(structlog.contextvars.get_contextvars().get("request", ""))


def init_request_log(app: Flask) -> None:
    """Bind it first: what is bound first sees a request first and its answer last."""
    add_first_step(app, _begin)
    app.after_request(_end)
