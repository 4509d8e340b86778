"""What the strictest of the compatible servers refuse to read.

A client that gets past this gets past OpenAI, vLLM and llama.cpp as far as the shape of
its requests goes, so that tests find out before a restaurant does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# Only what every compatible server knows; the rest is answered with 400 somewhere.
KNOWN = {"model", "messages", "tools", "stream", "stream_options"}
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Json = dict[str, Any]


def complaint(body: Json) -> str | None:
    """Why a server would refuse this request, or None."""
    return next(_complaints(body), None)


def _complaints(body: Json) -> Iterator[str]:
    if unknown := sorted(set(body) - KNOWN):
        yield f"Unrecognized request argument: {unknown[0]}"
    if "tools" in body and not body["tools"]:
        yield "tools must not be an empty list"
    for tool in body.get("tools", []):
        if not TOOL_NAME.fullmatch(tool["function"]["name"]):
            yield "Invalid tool name"
    if not body.get("messages"):
        yield "messages must not be empty"
    yield from _complaints_about_messages(body.get("messages", []))


def _complaints_about_messages(messages: list[Json]) -> Iterator[str]:
    unanswered: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in unanswered:
                yield "A tool message must answer a call of the message before it"
            else:
                unanswered.remove(message["tool_call_id"])
        elif unanswered:
            yield "Every tool call must be answered by a tool message"
        for call in message.get("tool_calls", []):
            unanswered.append(call["id"])
            yield from _complaints_about_call(call)
    if unanswered:
        yield "Every tool call must be answered by a tool message"


def _complaints_about_call(call: Json) -> Iterator[str]:
    if not TOOL_NAME.fullmatch(call["function"]["name"]):
        yield "Invalid name of a tool call"
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        yield "Arguments of a tool call are not JSON"
    else:
        if not isinstance(arguments, dict):
            yield "Arguments of a tool call are not an object"
