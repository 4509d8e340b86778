"""A model without function calling: any script, speaking JSON instead of calling tools.

`InJson(script)` reads {message, today, tools, history} as such a model would, lets the script
decide as if it had been asked in the usual way, and writes its decision as one JSON object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.model_server.recording import Json, RecordedCall
from tests.model_server.script import Call, Say, Script, Sizes, Step

KEYS = {"message", "today", "tools", "history"}


def payload_of(call: RecordedCall) -> Json | None:
    """What the model was given; None where it was not spoken to in JSON."""
    if call.body.get("tools") or [m["role"] for m in call.messages[:2]] != ["system", "user"]:
        return None
    try:
        payload = json.loads(call.messages[1]["content"])
    except ValueError:
        return None
    return payload if isinstance(payload, dict) and set(payload) == KEYS else None


def complaint_of(call: RecordedCall) -> str:
    """What the model was told about the reply before this one; empty at the first try."""
    return str(call.messages[-1]["content"]) if len(call.messages) > 2 else ""


def as_usual(call: RecordedCall, payload: Json) -> RecordedCall:
    """The same request as a model with function calling would have been given it.

    What this message has brought so far begins with the first tool: talk of earlier turns
    carries none.
    """
    history = payload["history"]
    since = next((n for n, entry in enumerate(history) if "tool_calls" in entry), len(history))
    messages: list[Json] = [call.messages[0], *map(_spoken, history[:since])]
    messages.append({"role": "user", "content": payload["message"]})
    messages += [_spoken(entry) for entry in history[since:]]
    tools = [{"type": "function", "function": tool} for tool in payload["tools"]]
    body = {**call.body, "messages": messages, "tools": tools}
    return RecordedCall(body, call.headers, call.client_port)


def _spoken(entry: Json) -> Json:
    if entry["role"] == "tool":
        return {"role": "tool", "content": json.dumps(entry["result"], ensure_ascii=False)}
    message: Json = {"role": entry["role"], "content": entry.get("text", "")}
    if "tool_calls" in entry:
        message["tool_calls"] = entry["tool_calls"]
    return message


@dataclass(frozen=True)
class InJson:
    """Speaks for `script` in JSON, in deltas of `sizes`.

    Of tools that the script would call at once only the first is called: an object has room
    for one. `around` stands before and after each object, `more` are further members of it.
    """

    script: Script
    sizes: Sizes = 5
    around: tuple[str, str] = ("", "")
    more: Mapping[str, Any] = field(default_factory=dict)
    byte_by_byte: bool = False
    streams: bool = True

    def is_for(self, call: RecordedCall) -> bool:
        payload = payload_of(call)
        return payload is not None and self.script.is_for(as_usual(call, payload))

    def steps(self, call: RecordedCall) -> Sequence[Step]:
        payload = payload_of(call)
        assert payload is not None
        usual = as_usual(call, payload)
        written = json.dumps({**_decision(self.script.steps(usual), usual), **self.more})
        return [Say(self.around[0] + written + self.around[1], self.sizes)]


def _decision(steps: Sequence[Step], call: RecordedCall) -> Json:
    for step in steps:
        if isinstance(step, Call):
            assert isinstance(step.arguments, Mapping)
            return {"type": "tool_call", "tool": step.name, "args": dict(step.arguments)}
    said = [step.text for step in steps if isinstance(step, Say)]
    words = [text(call) if callable(text) else text for text in said]
    content = "".join(word if isinstance(word, str) else "".join(word) for word in words)
    return {"type": "answer", "content": content}
