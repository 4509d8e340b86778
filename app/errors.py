"""One exception hierarchy, mapped once (in app.web.pages) to a page, a fragment or JSON.

An error that a person can see carries a message id from the catalog, so that it
reaches them in their language and says what to do next. Nothing internal is in it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

from babel.dates import format_date, format_time


def N_(text: str) -> str:  # noqa: N802 (what the catalog's tools know it by)
    """Marks a text that is translated where it is shown."""
    return text


class ConfigurationError(Exception):
    """The process cannot start with these settings; the text is for the operator."""


class NotLearned(ConfigurationError):
    """What messages are for was never learned, or from other sentences than are there now."""

    FIX = "Run `make nlu`."

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}: run `make nlu`")
        self.problem = problem


class ComandaError(Exception):
    """Something went wrong that the person at the other end should be told.

    `message` is a catalog message id, `params` fill its placeholders.
    """

    status = 500
    code = "error"

    def __init__(self, message: str, *, field: str | None = None, **params: Any) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.params = params

    def told(self, language: str) -> dict[str, Any]:
        """What fills the message's placeholders for a reader of `language`."""
        return self.params


class InvalidInput(ComandaError):
    """What was sent cannot be accepted; `field` names the culprit where there is one."""

    status = 422
    code = "invalid"


class NotSignedIn(ComandaError):
    status = 401
    code = "not_signed_in"


class SignInChanged(ComandaError):
    """Who asked is signed out by now, or has another role than when they began to ask."""

    status = 401
    code = "not_signed_in"

    def __init__(self) -> None:
        super().__init__("Sign in to continue.")


class Forbidden(ComandaError):
    status = 403
    code = "forbidden"


class NotFound(ComandaError):
    """It does not exist, or it is not yours: both look the same from outside."""

    status = 404
    code = "not_found"


class Conflict(ComandaError):
    status = 409
    code = "conflict"


class Gone(ComandaError):
    """It was there, and can be had again in the way that the message says."""

    status = 410
    code = "gone"


class TooMany(ComandaError):
    """A limit was reached; `retry_after` is in seconds where it is known."""

    status = 429
    code = "too_many"

    def __init__(self, message: str, *, retry_after: int | None = None, **params: Any) -> None:
        super().__init__(message, **params)
        self.retry_after = retry_after


class Reached(Protocol):
    """What is known of a limit that is reached; `resets_at` is in the group's time zone."""

    @property
    def limit(self) -> int | None: ...
    @property
    def resets_at(self) -> datetime: ...
    def as_json(self) -> dict[str, Any]: ...


class LimitReached(TooMany):
    """The messages of a day or a month are used up; `usage` says how many and until when.

    Its message may have the placeholders limit, date and time. It carries no `retry_after`:
    nobody counts the seconds of hours.
    """

    code = "limit"

    def __init__(self, message: str, usage: Reached) -> None:
        super().__init__(message)
        self.usage = usage

    def told(self, language: str) -> dict[str, Any]:
        moment = self.usage.resets_at
        return {
            "limit": f"{self.usage.limit or 0:,}",
            "date": format_date(moment, "long", locale=language),
            "time": format_time(moment, "short", tzinfo=moment.tzinfo, locale=language),
        }


class Unavailable(ComandaError):
    """A service that this needs is away for the moment."""

    status = 503
    code = "unavailable"
