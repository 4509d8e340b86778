"""A language model that does as it is told: the calls of its plan, then whatever comes next.

It follows the `next` of each result and ends in what the last of them asks. What somebody
tapped it is given as JSON, and goes on from there as the prompt says. Asked for a solution it
quotes the first passage, as sure as the plan wants it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.model_server import Call, RecordedCall, Say, Step

Planned = tuple[str, Mapping[str, Any]]
_NEXT_FIELD = re.compile(r"Next: request_field_input for ([0-9a-f-]{36})")
_NEXT_TOOL = re.compile(r"Next: (evaluate_ai_resolution|submit_service_request)\.")
_RECORD = "record_answers"


@dataclass
class FollowingModel:
    """Follows what the turn `plan`s; `words` are said in the end instead of what is asked."""

    plan: Sequence[Planned] = ()
    words: str = ""
    confidence: int = 90
    streams: bool = True
    byte_by_byte: bool = False
    given: list[str] = field(default_factory=list)

    def is_for(self, call: RecordedCall) -> bool:
        return True

    def steps(self, call: RecordedCall) -> Sequence[Step]:
        if (solved := solution_for(call, self.confidence)) is not None:
            return [Say(solved, sizes=40)]
        if not call.since_message:
            self.given.append(call.message)
        following = self._following(call) if call.tools else None
        if following is not None:
            return [Call(*following, sizes=60)]
        return [Say(self.words or _asked(call.tool_results), sizes=20)]

    def _following(self, call: RecordedCall) -> Planned | None:
        if call.round < len(self.plan):
            return self.plan[call.round]
        if not call.tool_results:
            return _after_tap(call)
        following = call.tool_results[-1].get("next")
        return (following["tool"], following["arguments"]) if following else None


def solution_for(call: RecordedCall, confidence: int = 90) -> str | None:
    """What a model makes of the passages that it is given with a request; None for all else."""
    try:
        passages = json.loads(call.message)["passages"]
    except (ValueError, KeyError, TypeError):
        return None
    said = passages[0]["text"].split(". ")[0].strip().replace("\n", " ")
    answer = f"{said} [{passages[0]['number']}]"
    return json.dumps({"proposed_answer": answer, "confidence_score": confidence})


def step_of(call: RecordedCall) -> dict[str, Any] | None:
    """The step that a message is, as the model is given it; None for words."""
    try:
        step = json.loads(call.message)
    except ValueError:
        return None
    return step if isinstance(step, dict) and "type" in step else None


def _after_tap(call: RecordedCall) -> Planned | None:
    """What somebody tapped goes on as the prompt says; words that need no tool do not."""
    step = step_of(call)
    if step is None or step["type"] == "request_cancelled":
        return None
    if step["type"] == "type_selection":
        return "get_service_request_form", {"type_id": step["type_id"]}
    prompt = str(call.messages[0]["content"])
    if found := _NEXT_FIELD.search(prompt):
        return "request_field_input", {"field_id": found[1]}
    if found := _NEXT_TOOL.search(prompt):
        return found[1], {}
    return (_RECORD, {}) if "Open service request" in prompt else None


def _asked(results: Sequence[Any]) -> str:
    """All that the results say and ask, in the order they came."""
    said: list[str] = []
    for result in results:
        if result.get("error"):
            said.append(str(result.get("say") or result["message"]))
            continue
        said += [str(result[key]) for key in ("say", "ask") if result.get(key)]
        said += [f"{each['text'][:200]} [{each['cite']}]" for each in _passages(result)[:1]]
    return "\n\n".join(["So:", *dict.fromkeys(said)]) if said else "All right."


def _passages(result: Mapping[str, Any]) -> list[Any]:
    return [each for each in result.get("results", ()) if "text" in each]
