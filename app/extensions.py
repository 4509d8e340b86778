"""Flask's extensions, made once and bound to the app in create_app()."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import redis
from flask import current_app, request
from flask_babel import Babel
from flask_limiter import Limiter
from flask_login import LoginManager
from flask_wtf.csrf import CSRFProtect
from htmx_flask import Htmx
from htmx_flask.requests import HtmxAwareRequest, HtmxHeaders
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header
from werkzeug.wrappers import Response

from app.config import Settings
from app.db import Database
from app.web.addresses import network_of
from app.web.request_body import BodyRequest

if TYPE_CHECKING:
    # Only the names: nothing here depends on what stands on top of it.
    from app.assistant.tools.registry import Registry
    from app.files.examination_queue import ExaminationQueue
    from app.files.storage import Storage
    from app.retrieval.embedder import Embedder


LONGEST_PREFERENCE = 200
# Asked every few seconds by machines of the inside, at whatever address they find a process under.
PROBES = frozenset(("health.alive", "health.ready", "metrics_page.metrics"))


@dataclass(frozen=True)
class Services:
    """What one process shares: settings, connections and the registry of skills."""

    settings: Settings
    database: Database
    redis: redis.Redis
    embedder: Embedder
    registry: Registry
    files: Storage
    examinations: ExaminationQueue


def services() -> Services:
    """The services of the running app."""
    return cast(Services, current_app.extensions["comanda"])


def client_address() -> str:
    """Whom to count requests against: the address, after the trusted proxies, or its network."""
    return network_of(request.remote_addr or "unknown")


def cookie_name(name: str, settings: Settings) -> str:
    """What a cookie of ours is called in the browser.

    Over HTTPS with the prefix by which a browser refuses one that was set over plain HTTP,
    or by another host of the same domain.
    """
    return f"__Host-{name}" if settings.secure_cookies else name


def kept_cookie(name: str) -> str:
    """What the browser kept for us under this name; empty when it kept nothing."""
    return request.cookies.get(cookie_name(name, services().settings), "")


def keep_cookie(response: Response, name: str, value: str, age: timedelta) -> None:
    """Have the browser keep `value`, out of reach for scripts and for other sites' forms."""
    settings = services().settings
    response.set_cookie(
        cookie_name(name, settings),
        value,
        max_age=age,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="Lax",
    )


class HtmxFourHeaders(HtmxHeaders):
    """The headers of htmx 4, for which the package was not written.

    `target` is `tag#id` since htmx 4; the id alone is what a view wants to know.
    """

    @property
    def target_id(self) -> str | None:
        """HX-Target without the tag: the id of the element that will be swapped."""
        target = self._headers.get("HX-Target")
        return target.rpartition("#")[2] if target else None

    @property
    def source(self) -> str | None:
        """HX-Source: `tag#id` of the element that made the request."""
        value = self._headers.get("HX-Source")
        return str(value) if value else None

    @property
    def wants_fragment(self) -> bool:
        """True when htmx will swap a part of the page and not the whole of it."""
        return bool(self) and self._headers.get("HX-Request-Type", "partial") != "full"


class ComandaRequest(BodyRequest, HtmxAwareRequest):
    """Flask's request, knowing htmx 4, and how much may be sent."""

    htmx: HtmxFourHeaders
    query_string: bytes

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.htmx = HtmxFourHeaders(self.headers)
        # An address may hold bytes that are no text: they are read as far as they can be.
        self.query_string = self.query_string.decode(errors="replace").encode()

    @cached_property
    def accept_languages(self) -> LanguageAccept:
        """What the browser prefers; no browser says it in more characters."""
        said = self.headers.get("Accept-Language", "")[:LONGEST_PREFERENCE]
        return parse_accept_header(said, LanguageAccept)


babel = Babel()
csrf = CSRFProtect()
htmx = Htmx()
limiter = Limiter(key_func=client_address, headers_enabled=True)
login_manager = LoginManager()
