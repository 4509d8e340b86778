"""How many of the development sentences reach their tool, in the demo restaurant.

The weights of the built-in assistant are fitted to these sentences: what they show is that
nothing has come undone. How well it does on sentences it has never seen is measured in
tests/acceptance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from flask import Flask
from sqlalchemy import select

from app.accounts.models import Group
from app.assistant.providers.base import ChatMessage, ModelRequest, ToolCall, ToolSpec
from app.assistant.providers.builtin import BuiltinProvider
from app.db import Database, Scope
from app.skills.knowledge.nlu.hints import find_hints

SENTENCES = Path(__file__).with_name("development.yaml")
BAR = 0.95
TOOLS = {
    "manual": "search_manual_v2",
    "dishes": "search_dishes",
    "wines": "search_wines",
    "cocktails": "search_cocktails",
    "recipes": "search_recipes",
    "beer_liquor": "search_beer_liquor",
}


@dataclass(frozen=True)
class Sentence:
    """A message and the tools that it should lead to; none for small talk and the like."""

    text: str
    language: str
    group: str
    tools: frozenset[str]


def read_sentences() -> Iterator[Sentence]:
    for language, groups in yaml.safe_load(SENTENCES.read_text("utf-8")).items():
        for group, lines in groups.items():
            for line in lines:
                text, _, named = line.partition(" => ")
                wanted = named.split(" + ") if named else [group]
                tools = frozenset(TOOLS[name] for name in wanted if name in TOOLS)
                yield Sentence(text, language, group, tools)


@pytest.fixture(scope="module")
def missed(
    house: Flask, owner: Database, provider: BuiltinProvider, tools: tuple[ToolSpec, ...]
) -> list[Sentence]:
    """The sentences that lead elsewhere, with the hints that the house's context gives."""
    database = house.extensions["comanda"].database
    with owner.transaction() as session:
        group = session.scalars(select(Group.id).where(Group.slug == "alamo-prime")).one()
    with house.app_context(), database.transaction(Scope(group)) as session:
        return [
            sentence
            for sentence in read_sentences()
            if sentence.tools
            != _led_to(
                provider,
                ModelRequest(
                    (ChatMessage("user", sentence.text),),
                    tools,
                    sentence.language,
                    hints=find_hints(session, sentence.text, sentence.language)[0],
                ),
            )
        ]


def _led_to(provider: BuiltinProvider, request: ModelRequest) -> frozenset[str]:
    return frozenset(e.name for e in provider.stream(request) if isinstance(e, ToolCall))


def test_there_are_enough_sentences_of_both_languages() -> None:
    counts = Counter(sentence.language for sentence in read_sentences())
    assert counts["en"] >= 60
    assert counts["es"] >= 60


def test_most_sentences_reach_their_tool(missed: list[Sentence]) -> None:
    total = len(list(read_sentences()))
    assert len(missed) <= (1 - BAR) * total, missed


def test_small_talk_and_nonsense_never_reach_a_tool(missed: list[Sentence]) -> None:
    assert [one for one in missed if one.group in ("small_talk", "nonsense")] == []
