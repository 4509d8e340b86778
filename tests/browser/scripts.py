"""How the model behaves where the browser is watched: it can be made to pause mid-sentence."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from types import TracebackType

from tests.model_server import Call, Say, Scenario, Step, scenario, split
from tests.model_server.script import Exchange

LOOK_UP_SECONDS = 0.02
LAST_WORD_SECONDS = 0.3


class Pause:
    """A place in a reply where the model waits until the test lets it go on.

    Used as a context it lets go at the latest when the test is over, however it ends.
    """

    def __init__(self) -> None:
        self._over = threading.Event()

    async def play(self, exchange: Exchange) -> None:
        while not self._over.is_set():
            await exchange.sleep(LOOK_UP_SECONDS)

    def end(self) -> None:
        """Let the model go on."""
        self._over.set()

    def __enter__(self) -> Pause:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()


@dataclass(frozen=True)
class Slowly:
    """Some text whose last word comes a while after the others.

    Words are gathered before they are sent; a last word that comes alone is sent at once,
    so that all of the text is on the page although the model is silent after it.
    """

    text: str
    delay: float = 0.0

    async def play(self, exchange: Exchange) -> None:
        *words, last = split(self.text.rstrip(), None)
        for word in words:
            await exchange.delta({"content": word})
            await exchange.sleep(self.delay)
        await exchange.sleep(LAST_WORD_SECONDS)
        await exchange.delta({"content": last})


def looked_up(message: str, *steps: Step, query: str = "raw chicken") -> Scenario:
    """Asked exactly this, the model searches the manual first, then plays the steps."""
    return scenario(Call("search_manual_v2", {"query": query}), list(steps), when=exactly(message))


def told(message: str, *steps: Step | str) -> Scenario:
    """Asked exactly this, the model plays the steps without looking anything up."""
    said = [Say(step) if isinstance(step, str) else step for step in steps]
    return scenario(said, when=exactly(message))


def exactly(message: str) -> str:
    return f"^{re.escape(message)}$"


def paragraphs(count: int, word: str = "knife") -> str:
    """A long answer whose every paragraph differs from the others."""
    return "\n\n".join(
        f"Paragraph {number} says how a {word} is washed, dried, and put back where it belongs,"
        f" so that whoever comes next finds it clean and in its place." * 2
        for number in range(1, count + 1)
    )
