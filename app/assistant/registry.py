"""The one list of what the skills bring: tools, parts, prompts, context and search sources.

A skill declares itself with a `Skill`; the registry puts the declarations together and
fails at start when two of them claim the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask import Blueprint

from app.assistant.parts import NoticePart, Part, ProposalPart, ReceiptPart
from app.assistant.tool import Tool
from app.db import ScopedSession

# A context source looks at the message and returns (hints, lines for the system prompt).
ContextSource = Callable[[ScopedSession, str, str], tuple[Mapping[str, Any], list[str]]]

# A background task: it is given the database and what the job was deferred with, and may
# block. A worker that died in the middle is followed by another: it must bear being repeated.
TaskFunction = Callable[..., None]


@dataclass(frozen=True)
class Skill:
    """What one skill adds to the assistant."""

    name: str
    tools: tuple[Tool, ...] = ()
    parts: tuple[type[Part], ...] = ()
    blueprints: tuple[Blueprint, ...] = ()
    prompts: Path | None = None  # a YAML file of prompt rows to seed
    context: Mapping[str, ContextSource] = field(default_factory=dict)
    domains: tuple[str, ...] = ()  # citation contexts that one may ask in
    tasks: Mapping[str, TaskFunction] = field(default_factory=dict)  # by the name to defer


class Registry:
    """All skills of this app, by the names that messages and models use for their things."""

    def __init__(self, skills: Iterable[Skill]) -> None:
        self.skills = tuple(skills)
        self.tools: dict[str, Tool] = {}
        self.parts: dict[str, type[Part]] = {}
        self.context: dict[str, ContextSource] = {}
        self.domains: dict[str, str] = {}
        self.tasks: dict[str, TaskFunction] = {}
        for core in (NoticePart, ProposalPart, ReceiptPart):
            _add(self.parts, core.model_fields["type"].default, core, "part")
        for skill in self.skills:
            for tool in skill.tools:
                _add(self.tools, tool.name, tool, "tool")
            for part in skill.parts:
                _add(self.parts, part.model_fields["type"].default, part, "part")
            for name, source in skill.context.items():
                _add(self.context, name, source, "context source")
            for domain in skill.domains:
                _add(self.domains, domain, skill.name, "domain")
            for name, task in skill.tasks.items():
                _add(self.tasks, name, task, "task")


def _add(into: dict[str, Any], name: str, thing: Any, kind: str) -> None:
    if name in into:
        raise RuntimeError(f"two skills register the {kind} {name!r}")
    into[name] = thing
