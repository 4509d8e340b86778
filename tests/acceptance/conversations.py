"""Conversations as YAML: what somebody says or taps, and what must come back.

A turn either says something (`say`) or taps a chip of the last product card (`press`: its
action). Everything else is an expectation; what stands under `builtin` or `model` is
expected only of the built-in assistant or of the language model.

    tools: [...]      every one of these ran (an empty list: none did)
    not_tools: [...]  none of these ran
    cites: [...]      at least one of these sections or products is cited
    contains: [...]   each of these facts is shown
    cards: [...]      a card of each of these products is shown
    language: es      the reply's language, and that of its words
    mode: action      the envelope's mode
    not_found: true   nothing is stated: no source, no card, and words that say so
    plan: [...]       how the scripted model goes about it (see planned.py)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.acceptance.asking import HERE, Reply
from tests.acceptance.grounding import written_in

FOLDER = HERE / "conversations"
KNOWN = frozenset(
    ("tools", "not_tools", "cites", "contains", "cards", "language", "mode", "not_found")
)
NOT_FOUND = re.compile(
    r"\bnothing\b|\bno answer\b|\bnot among\b|\bno est[aá] entre\b"
    r"|\b(could|did|do|does|can|ca)( ?not|n[’']t) (find|have|say|know)"
    r"|\bno (encontr|encuentr|hay|tengo|dice|viene)|\bnada (sobre|en|de)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Turn:
    """One message, or one chip, and the expectations by who answers."""

    say: str
    press: str
    plan: list[Mapping[str, str]]
    expected: Mapping[str, Mapping[str, Any]]

    def of(self, provider: str) -> dict[str, Any]:
        """What is expected of this provider."""
        return {**self.expected["both"], **self.expected.get(provider, {})}


@dataclass(frozen=True)
class Conversation:
    name: str
    person: str
    language: str
    turns: list[Turn] = field(default_factory=list)


def load_conversations() -> list[Conversation]:
    """Every file of the folder, by name."""
    return [_read(path) for path in sorted(FOLDER.glob("*.yaml"))]


def _read(path: Path) -> Conversation:
    raw = yaml.safe_load(path.read_text("utf-8"))
    turns = [_turn(entry, path.stem) for entry in raw["turns"]]
    return Conversation(path.stem, raw["person"], raw["language"], turns)


def _turn(entry: dict[str, Any], name: str) -> Turn:
    own = {key: entry.pop(key, {}) for key in ("builtin", "model")}
    say, press, plan = entry.pop("say", ""), entry.pop("press", ""), entry.pop("plan", [])
    expected = {"both": entry, **own}
    unknown = {key for each in expected.values() for key in each} - KNOWN
    assert not unknown, f"{name}: {unknown} is no expectation"
    assert bool(say) != bool(press), f"{name}: a turn says something or taps something"
    return Turn(say, press, plan, expected)


def chip_of(reply: Reply, action: str) -> dict[str, Any]:
    """The chip with this action on the first product card of a reply."""
    chips: list[dict[str, Any]] = [chip for card in reply.cards[:1] for chip in card["chips"]]
    found = next((chip for chip in chips if chip["action"] == action), None)
    assert found, f"{reply} has no card with the chip {action!r}"
    return found


def problems(reply: Reply, expected: Mapping[str, Any], language: str) -> list[str]:
    """What about a reply is not as expected, in words."""
    wanted_language = expected.get("language", language)
    found = [*_tools(reply, expected), *_words(reply, expected)]
    if expected.get("cites") and not set(expected["cites"]) & set(reply.cited_slugs):
        found.append(f"cites none of {expected['cites']}")
    cards = {card["slug"] for card in reply.cards}
    found += [f"no card of {slug}" for slug in expected.get("cards", ()) if slug not in cards]
    if reply.status != "complete":
        found.append(f"the reply is {reply.status}")
    if reply.mode != expected.get("mode", "search"):
        found.append(f"the mode is {reply.mode}")
    if reply.language != wanted_language:
        found.append(f"the reply's language is {reply.language}")
    elif len(reply.text.split()) > 3 and written_in(reply.text) != wanted_language:
        found.append(f"the words are not {wanted_language}")
    return [f"{reply}: {each}" for each in found]


def _tools(reply: Reply, expected: Mapping[str, Any]) -> list[str]:
    wanted = expected.get("tools")
    found = [f"{tool} did not run" for tool in wanted or () if tool not in reply.tools]
    if wanted == [] and reply.tools:
        found.append("a tool ran")
    return found + [f"{t} ran" for t in expected.get("not_tools", ()) if t in reply.tools]


def _words(reply: Reply, expected: Mapping[str, Any]) -> list[str]:
    wanted = expected.get("contains", ())
    found = [f"{fact!r} is not shown" for fact in wanted if not reply.states(fact)]
    if expected.get("not_found"):
        if reply.citations or reply.cards:
            found.append("something was stated")
        if not NOT_FOUND.search(reply.text):
            found.append("it does not say that nothing was found")
    elif not reply.text.strip():
        found.append("there are no words")
    return found
