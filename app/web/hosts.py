"""The names that this server answers to; a request for another one is refused.

A request says itself which host it is for. Links never take that name (they lead to
`Settings.base_url`), and where PUBLIC_URL says what people type, no page is made for others.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from urllib.parse import urlsplit, urlunsplit

from flask import Flask, Response, request

from app.config import LOOPBACK, Settings
from app.errors import InvalidInput
from app.extensions import PROBES, services
from app.web.first_steps import add_first_step


@cache
def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The names without ports, in lower case; empty where any will do (no PUBLIC_URL)."""
    if settings.public_url is None:
        return frozenset()
    public = urlsplit(settings.public_url).hostname or ""
    names = (public, *settings.allowed_hosts, *LOOPBACK)
    # Browsers send a name with accents in its ASCII form.
    return frozenset(name.lower().encode("idna").decode() for name in names if name)


def _name_of(host: str) -> str:
    """The name in a Host header, without its port; empty when there is none in it."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _check_host() -> None:
    allowed = allowed_hosts(services().settings)
    if not allowed or request.endpoint in PROBES or _name_of(request.host) in allowed:
        return
    error = InvalidInput(
        "Comanda does not answer at this address. Open it at %(address)s.",
        address=services().settings.base_url,
    )
    error.status = HTTPStatus.BAD_REQUEST
    raise error


def _stay_here(response: Response) -> Response:
    """Lead on within this site without naming the host that the request claimed to be for."""
    target = urlsplit(response.headers.get("Location", ""))
    ours = response.status_code == HTTPStatus.PERMANENT_REDIRECT or target.netloc == request.host
    if target.netloc and ours:
        path = "/" + target.path.lstrip("/")
        response.headers["Location"] = urlunsplit(("", "", path, target.query, target.fragment))
    return response


def init_hosts(app: Flask) -> None:
    """Bind it before everything that does something for who is asking."""
    add_first_step(app, _check_host)
    app.after_request(_stay_here)
