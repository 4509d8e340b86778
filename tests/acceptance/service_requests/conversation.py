"""Conversations about requests as YAML: what somebody says or taps, and what must come back.

    name, language      of the conversation; a turn can switch the language
    solving: off        solutions are not proposed; or a number: the threshold
    sureness: 40        how sure a language model says it is of its solution
    json: true          also held with a model that has no function calling

A turn does one of these:
    say: words          choose: the slug of a type
    tap: a step, such as {type: field_response, field: account, value: schedule}, where `field`
         is a name and `upload: [leak.jpg]` adds pictures

Everything else of a turn is expected, or is how a model goes about it:
    calls: [{tool: arguments}]  what a model does about the words; without it the usual
    words: ...          what it says in the end; without it what the last result asks
    remove: leak.jpg    a file that is gone before the turn
    elsewhere: true     the turn is taken on another device
    told: [...]         patterns that its words or parts have; not_told: those they do not have
    tools: [...]        tools that ran, in this order, among others; not_tools: ones that did not
    parts: [...]        kinds of parts that are shown, and no others
    values: {name: value}   what the request holds afterwards; null for what it does not hold
    phase: question     what comes next; `nothing` where no request is open
    builtin, model:     the same, expected of only one of them

`filed` are the requests that there are in the end: type, values, and what of the row is told;
`answers` is how many questions were answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
EXPECTATIONS = frozenset(
    ("told", "not_told", "tools", "not_tools", "parts", "values", "phase", "asked", "inferred")
)


@dataclass(frozen=True)
class Turn:
    """One message or tap, how a model goes about it, and the expectations by who answers."""

    say: str = ""
    choose: str = ""
    tap: Mapping[str, Any] = field(default_factory=dict)
    language: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] | None = None
    words: str = ""
    elsewhere: bool = False
    remove: str = ""
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, provider: str) -> dict[str, Any]:
        """What is expected of this provider."""
        return {**self.expected["both"], **self.expected.get(provider, {})}

    def __str__(self) -> str:
        return repr(self.say or self.choose or dict(self.tap))


@dataclass(frozen=True)
class Conversation:
    name: str
    language: str
    turns: tuple[Turn, ...]
    filed: tuple[Mapping[str, Any], ...] = ()
    is_solving: bool = True
    threshold: int = 70
    sureness: int = 90
    in_json: bool = False


def load_conversations() -> list[Conversation]:
    """Every document of every file of the folder."""
    files = sorted(FOLDER.glob("*.yaml"))
    return [
        _conversation(raw)
        for file in files
        for raw in yaml.safe_load_all(file.read_text("utf-8"))
        if raw
    ]


def _conversation(raw: dict[str, Any]) -> Conversation:
    solving = raw.get("solving", 70)
    return Conversation(
        raw["name"],
        raw["language"],
        tuple(_turn(dict(entry), raw["name"]) for entry in raw["turns"]),
        tuple(raw.get("filed", ())),
        solving is not False,
        solving or 70,
        raw.get("sureness", 90),
        raw.get("json", False),
    )


def _turn(entry: dict[str, Any], name: str) -> Turn:
    own = {key: entry.pop(key, {}) for key in ("builtin", "model")}
    plain = ("say", "choose", "tap", "language", "words", "elsewhere", "remove")
    done = {key: entry.pop(key) for key in plain if key in entry}
    calls = entry.pop("calls", None)
    planned = None if calls is None else tuple(item for each in calls for item in each.items())
    expected = {"both": entry, **own}
    unknown = {key for each in expected.values() for key in each} - EXPECTATIONS
    assert not unknown, f"{name}: {unknown} is no expectation"
    assert len({"say", "choose", "tap"} & set(done)) == 1, f"{name}: {entry} does one thing"
    return Turn(**done, calls=planned, expected=expected)
