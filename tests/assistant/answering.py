"""A runner of a test's own, in this process: claims turns and answers them as told."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType

from flask import Flask

from app.assistant.providers.base import ModelEvent, Provider
from app.assistant.turns.executor import claim_turns, execute_turn
from app.extensions import Services
from tests.assistant.scripted import ScriptedProvider, say


class Answering:
    """Claims every queued turn within its block; `provider` says what the model says."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.services: Services = app.extensions["comanda"]
        self.provider: Provider = ScriptedProvider(say("All right."))
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)

    def script(self, *replies: Sequence[ModelEvent | BaseException]) -> ScriptedProvider:
        """From now on the model replies so."""
        self.provider = provider = ScriptedProvider(*replies)
        return provider

    def _work(self) -> None:
        while not self.stopping.wait(0.02):
            for claimed in claim_turns(self.services, "in this process", 10):
                with self.app.test_request_context("/"):
                    execute_turn(self.services, self.provider, claimed)

    def __enter__(self) -> Answering:
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self.thread.join(10)
