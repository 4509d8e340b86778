"""Tabs, used again from test to test: most of a visit's cost is the start of its process."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser.chat_page import DESKTOP, PHONE, SECONDS


class Tabs:
    """Lends tabs of the two usual kinds, a phone's and a desktop's, and cleans them.

    Each is alone in a browser context. In between it rests at `resting_place`, a page of
    the same origin, so that its process is kept.
    """

    def __init__(self, browser: Browser, resting_place: str) -> None:
        self._browser = browser
        self._resting_place = resting_place
        self._idle: dict[bool, list[Page]] = {True: [], False: []}
        self._kinds: dict[Page, bool] = {}

    def lend(self, *, phone: bool) -> Page:
        """A tab that remembers nothing; only its caches may be warm."""
        if self._idle[phone]:
            return self._idle[phone].pop()
        page = self.make(phone=phone)
        self._kinds[page] = phone
        return page

    def make(self, *, phone: bool, **options: Any) -> Page:
        """A tab that nobody uses again."""
        size = {"viewport": PHONE, "has_touch": True} if phone else {"viewport": DESKTOP}
        context = self._browser.new_context(**{"locale": "en-US", **size, **options})
        context.set_default_timeout(20 * SECONDS)
        return context.new_page()

    def take_back(self, page: Page) -> None:
        """Clean it for the next visitor if it is one of the usual kinds, else close it."""
        context = page.context
        if page not in self._kinds:
            context.close()
            return
        for other in context.pages:
            if other != page:
                other.close()
        context.set_offline(False)
        # First away from the page: one that finds itself signed out goes elsewhere by itself.
        page.goto(self._resting_place)
        page.unroute_all()
        page.evaluate("localStorage.clear()")
        context.clear_cookies()
        context.clear_permissions()
        page.emulate_media(color_scheme="null", reduced_motion="null")
        self._idle[self._kinds[page]].append(page)
