"""Keeps what a page asks for from arriving, for a while."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, Route


class Interception:
    """Has `answer` answer what `page` asks for at an address, until `end`.

    The route stays until the page is at rest: one that is taken away while something is asked for
    leaves that without any answer, and the page waits for it.
    """

    def __init__(self, page: Page, address: str, answer: Callable[[Route], object]) -> None:
        self._answer = answer
        self._is_over = False
        page.route(address, self._route)

    def end(self) -> None:
        self._is_over = True

    def _route(self, route: Route) -> None:
        if self._is_over:
            route.fallback()
        else:
            self._answer(route)


def lose(route: Route) -> None:
    """What is asked for does not reach the server."""
    route.abort()
