"""URLs of links: the one place where an endpoint and its arguments become an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from flask import url_for
from werkzeug.routing import BuildError

from app.web.links import Link, Target

log = structlog.get_logger(__name__)
LINK = frozenset(Link.model_fields)


def url_of(target: Target) -> str:
    """The URL of a link, relative to the site; a URL that was stored is returned as it is.

    Needs a request context. A page that there is no more has none, and its URL is empty.
    """
    if isinstance(target, str):
        return target
    arguments: dict[str, Any] = dict(target.arguments)
    try:
        return url_for(target.endpoint, **arguments)
    except BuildError:
        log.warning("link leads nowhere", endpoint=target.endpoint)
        return ""


def with_urls(stored: Any) -> Any:
    """Stored JSON with the URL in place of each link, as whoever is not Comanda reads it."""
    if isinstance(stored, Mapping):
        if stored.keys() == LINK:
            return url_of(Link.model_validate(stored))
        return {name: with_urls(value) for name, value in stored.items()}
    if isinstance(stored, list | tuple):
        return [with_urls(value) for value in stored]
    return stored
