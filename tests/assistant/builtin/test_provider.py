"""The provider as the turn loop sees it: deltas, tools, languages, and how fast it decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flask import Flask

from app.assistant.providers.base import Explained, TextDelta, ToolCall
from app.assistant.providers.builtin import BuiltinProvider
from app.retrieval.embedder import Vector, Vectors
from tests.assistant.builtin.conftest import MakeRequest
from tests.assistant.builtin.payloads import answered_by, found, sections

CATALOGUED = [
    "hi",
    "thanks",
    "asdfgh",
    "what is the capital of France",
]


def test_words_come_a_few_at_a_time_and_none_is_lost(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("how do I light the chargrill")
    payload = found([sections("en")["gas-grill-lighting"]])
    answered = answered_by(request, ("search_manual_v2", {"query": "chargrill"}, payload))
    deltas = [event.text for event in provider.stream(answered) if isinstance(event, TextDelta)]
    assert len(deltas) > 20
    assert all(len(delta.split()) <= 4 for delta in deltas)
    whole = "".join(deltas)
    assert "\n\n1. Turn on the hood fan" in whole
    assert re.search(r"\n6\. .*\[1\]", whole)


def test_a_call_says_either_words_or_tools(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    for message in ("hi", "what is the tip policy", "asdf", "malbec?"):
        kinds = {type(event) for event in provider.stream(make_request(message))}
        assert kinds - {Explained} in ({TextDelta}, {ToolCall})


def test_it_stops_when_the_turn_is_stopped(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    events = provider.stream(make_request("what can you do"))
    next(events)
    events.close()
    assert list(events) == []


def test_it_speaks_the_persons_language(
    app: Flask, provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    with app.app_context():
        for message in CATALOGUED:
            request = make_request(message, language="es")
            text = "".join(e.text for e in provider.stream(request) if isinstance(e, TextDelta))
            english = "".join(
                e.text for e in provider.stream(make_request(message)) if isinstance(e, TextDelta)
            )
            assert text.splitlines()[0] != english.splitlines()[0]


class _Away:
    """An embedding model that cannot be reached, as one behind an API may be."""

    model = "text-embedding-3-large"
    dimensions = 3072

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("the built-in assistant asked the network")

    def embed_query(self, text: str) -> Vector:
        raise AssertionError("the built-in assistant asked the network")


def test_it_never_asks_a_model_behind_an_api(make_request: MakeRequest) -> None:
    events = list(BuiltinProvider(_Away()).stream(make_request("what is the tip policy")))
    assert [event.name for event in events if isinstance(event, ToolCall)] == ["search_manual_v2"]


def test_nothing_keeps_it_from_answering(provider: BuiltinProvider) -> None:
    assert provider.check() == ""
    assert provider.uses_hints
