"""A language model with a plan: the tools a conversation wants of it, then words with sources.

A plan is a list of rounds; a round maps tool names to queries, and all tools of a round are
called at once. `{pairing}` and the like in a query of a later round is that field of the
first thing found before, so that a later call depends on what an earlier one brought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.model_server import Call, RecordedCall, Say, Step

Plan = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class PlannedModel:
    """Follows the plan for one message, then quotes the first source of every tool."""

    message: str
    plan: Plan
    streams: bool = True
    byte_by_byte: bool = False

    def is_for(self, call: RecordedCall) -> bool:
        return call.message == self.message

    def steps(self, call: RecordedCall) -> Sequence[Step]:
        if call.round >= len(self.plan) or not call.tools:
            return [Say(_quotations(call.tool_results), sizes=7)]
        known = _first_found(call.tool_results)
        return [
            Call(tool, {"query": query.format_map(known)[:200]}, sizes=5)
            for tool, query in self.plan[call.round].items()
        ]


def _first_found(results: Sequence[Any]) -> dict[str, Any]:
    """The best thing that the last tool with results found."""
    for result in reversed(results):
        if result.get("results"):
            found: dict[str, Any] = result["results"][0]
            return found
    return {}


def _quotations(results: Sequence[Any]) -> str:
    """One cited line for what each tool found first, with its pairing where it has one."""
    lines = []
    for result in results:
        for found in result.get("results", [])[:1]:
            said = [found.get("text") or found["description"], found.get("pairing", "")]
            lines.append(f"{' '.join(filter(None, said))} [{found['cite']}]")
    return "\n\n".join(lines)
