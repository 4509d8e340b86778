"""Results as the search tools give them, made of the demo restaurant's own files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import yaml

from app.assistant.providers.base import ChatMessage, ModelRequest, ToolCall
from app.demo import HERE
from app.skills.knowledge.services.markdown_import import parse_markdown

DEMO = HERE / "alamo_prime"


@cache
def sections(language: str) -> dict[str, dict[str, Any]]:
    """Every section of the demo manual as a passage, by its slug."""
    found = {}
    for file in sorted((DEMO / "manual" / language).glob("*.md")):
        for section in parse_markdown(file.read_text("utf-8"), file.name).sections:
            path = [section.parent.title] if section.parent else []
            found[section.slug] = {
                "title": section.title,
                "path": path,
                "text": section.body,
                "language": language,
            }
    return found


@cache
def products(kind: str) -> dict[str, dict[str, Any]]:
    """Every demo product of a kind as an English record, by its slug."""
    rows = yaml.safe_load((DEMO / "products" / f"{kind}.yaml").read_text("utf-8"))
    return {row["slug"]: _record(row) for row in rows}


def _record(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": row["name_en"],
        "category": row["category"],
        "description": row["description_en"],
        "price": f"${row['price']}",
        "allergens": [code.replace("_", " ") for code in row["allergens"]],
        "ingredients": [item["en"] for item in row["ingredients"]],
        "pairing": row["pairing_notes_en"],
        "tags": row["tags"],
        "facts": {
            key.replace("_", " ").capitalize(): _english(value)
            for key, value in row["facts"].items()
        },
        "steps": [],
    }


def _english(value: Any) -> str:
    return str(value["en"] if isinstance(value, dict) else value)


def found(
    results: Sequence[dict[str, Any]],
    *,
    searched: str = "manual",
    place: str = "the manual",
    weak: bool = False,
    near: Sequence[str] = (),
    first: int = 1,
) -> dict[str, Any]:
    """A search tool's payload; its results are numbered from `first` on."""
    numbered = [{"cite": number, **result} for number, result in enumerate(results, first)]
    return {
        "searched": searched,
        "place": place,
        "query": "…",
        "weak": weak,
        "results": numbered,
        "near": list(near),
    }


def answered_by(
    request: ModelRequest, *calls: tuple[str, dict[str, Any], dict[str, Any]]
) -> ModelRequest:
    """The request after one round of tools: (name, arguments, payload) each."""
    round_ = sum(bool(message.tool_calls) for message in request.messages) + 1
    made = [
        ToolCall(f"call_{round_}_{number}", name, json.dumps(arguments))
        for number, (name, arguments, _) in enumerate(calls, 1)
    ]
    results = [
        ChatMessage("tool", json.dumps(payload), tool_call_id=call.id, tool_name=call.name)
        for call, (_, _, payload) in zip(made, calls, strict=True)
    ]
    messages = (*request.messages, ChatMessage("assistant", "", tuple(made)), *results)
    return replace(request, messages=messages)
