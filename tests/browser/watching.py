"""Looks over a browser's shoulder: where it asks for things, and what it complains about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Request, WebError

LOCAL_SCHEMES = ("data", "blob", "about")
# How Chromium words what a content security policy keeps from happening.
POLICY = re.compile(r"Content Security Policy|blocked by CSP|\[hx-csp\]", re.IGNORECASE)


@dataclass
class Watch:
    """What one browser context did; `origin` is the only place it may ask."""

    origin: str
    context: BrowserContext
    requests: list[Request] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    expected: list[re.Pattern[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._handlers: dict[str, Callable[..., None]] = {
            "request": self._note_request,
            "console": self._hear,
            "weberror": self._note_error,
            "dialog": self._refuse,
        }
        for event, handler in self._handlers.items():
            self.context.on(event, handler)  # type: ignore[call-overload]

    def stop(self) -> None:
        """What happens in the context from now on is somebody else's."""
        for event, handler in self._handlers.items():
            self.context.remove_listener(event, handler)

    def expect(self, *patterns: str) -> None:
        """This test causes errors like these itself."""
        self.expected += [re.compile(pattern) for pattern in patterns]

    def count(self, path: str) -> int:
        """How many requests went to addresses whose path has this in it."""
        return sum(1 for request in list(self.requests) if path in urlsplit(request.url).path)

    def check(self) -> None:
        """Nothing left the house, no policy had to hold, and nothing failed unforeseen."""
        elsewhere = strangers(self.requests, self.origin)
        unforeseen = [error for error in self.errors if not self._is_expected(error)]
        assert not elsewhere, f"asked elsewhere: {elsewhere}"
        assert not self.violations, f"the policy had to hold: {self.violations}"
        assert not self.dialogs, f"a script ran: {self.dialogs}"
        assert not unforeseen, f"the console complains: {unforeseen}"

    def _is_expected(self, error: str) -> bool:
        return any(pattern.search(error) for pattern in self.expected)

    def _note_request(self, request: Request) -> None:
        self.requests.append(request)

    def _hear(self, message: ConsoleMessage) -> None:
        if POLICY.search(message.text):
            self.violations.append(message.text)
        elif message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _note_error(self, error: WebError) -> None:
        self.errors.append(f"uncaught: {error.error}")

    def _refuse(self, dialog: Dialog) -> None:
        self.dialogs.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()


def strangers(requests: Iterable[Request], origin: str) -> list[str]:
    """The addresses that are not this origin's."""
    return [
        request.url
        for request in list(requests)
        if not request.url.startswith(origin + "/")
        and urlsplit(request.url).scheme not in LOCAL_SCHEMES
    ]
