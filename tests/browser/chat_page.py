"""A person at the chat: what they click and type, and what they look at."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.watching import Watch

SECONDS = 1000
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 800}


class Visitor:
    """One tab of one signed-in person's browser."""

    def __init__(self, page: Page, url: str, watch: Watch) -> None:
        self.page = page
        self.url = url
        self.watch = watch

    def open(self, path: str = "/chat") -> Visitor:
        self.page.goto(self.url + path)
        return self

    def another_tab(self, path: str = "") -> Visitor:
        """A second tab of the same browser, at the same address unless told otherwise."""
        tab = Visitor(self.page.context.new_page(), self.url, self.watch)
        return tab.open(path or self.path)

    @property
    def path(self) -> str:
        return self.page.url.removeprefix(self.url)

    @property
    def composer(self) -> Locator:
        return self.page.locator("#message")

    @property
    def send(self) -> Locator:
        return self.page.locator(".composer .send")

    @property
    def stop(self) -> Locator:
        return self.page.locator(".composer .halt")

    @property
    def questions(self) -> Locator:
        return self.page.locator("[data-role=user] .bubble")

    @property
    def replies(self) -> Locator:
        return self.page.locator("[data-role=assistant]")

    @property
    def reply(self) -> Locator:
        """The newest reply."""
        return self.replies.last

    @property
    def words(self) -> Locator:
        """What the newest reply says: its finished blocks, and the end that grows."""
        return self.reply.locator(".blocks, .tail")

    def ask(self, words: str) -> None:
        """Type a message and press Enter; returns when it stands in the conversation."""
        before = self.questions.count()
        self.composer.fill(words)
        self.composer.press("Enter")
        expect(self.questions).to_have_count(before + 1)

    def ask_plainly(self, words: str) -> None:
        """Send a message where no script runs: a new page comes."""
        self.composer.fill(words)
        self.send.click()
        expect(self.questions.last).to_have_text(words)

    def wait_for_answer(self, status: str = "complete") -> None:
        expect(self.reply).to_have_attribute("data-status", status, timeout=30 * SECONDS)
        # The bubble is brought up to date piece by piece, its attributes first, its words later.
        expect(self.reply.locator(".message-end")).to_be_attached()
        expect(self.reply.locator(".activity-live")).to_have_count(0)
        before = ""
        while (now := self.said()) != before:
            before = now
            self.page.wait_for_timeout(100)

    def read(self, words: str) -> None:
        """Wait until the newest reply says this."""
        expect(self.reply).to_contain_text(words, timeout=30 * SECONDS)

    def said(self) -> str:
        """The newest reply's text as it stands, blanks run together."""
        return " ".join(" ".join(self.words.all_text_contents()).split())

    def evaluate(self, expression: str, argument: Any = None) -> Any:
        return self.page.evaluate(expression, argument)

    def module(self, name: str) -> str:
        """The address of a module as this page has it: imported from there, it is the same."""
        main = self.page.locator("script[src$='/js/main.js']").get_attribute("src") or ""
        return main.replace("main.js", name)


def focused(page: Page) -> Any:
    """The id of what has the focus, else its tag."""
    return page.evaluate("document.activeElement.id || document.activeElement.localName")
