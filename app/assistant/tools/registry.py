"""The one list of what the skills bring: tools, parts, prompts, context and search sources.

A skill declares itself with a `Skill`; the registry puts the declarations together and
fails at start when two of them claim the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

from flask import Blueprint
from flask_babel import LazyString

from app.assistant.models import Message
from app.assistant.proposals.consent import Question, StepConsent
from app.assistant.providers.base import ChatMessage
from app.assistant.threads.steps import Step, StepReader
from app.assistant.tools.parts import NoticePart, Part, ProposalPart, ReceiptPart, Suggestion
from app.assistant.tools.sent_data import CORE, SentData
from app.assistant.tools.tool import Tool, ToolContext
from app.assistant.tools.toolbox import BlockReader
from app.db import ScopedSession
from app.web.links import Link
from app.web.navigation import NavEntry

# A context source looks at the message and returns (hints, lines for the system prompt).
ContextSource = Callable[[ScopedSession, str, str], tuple[Mapping[str, Any], list[str]]]

# What a message asks for after what was said before it: hints for the built-in assistant,
# `wanted` (arguments by tool) or `reply` (the words that answer it).
MessageReader = Callable[[ScopedSession, "TurnInput"], Mapping[str, Any]]

# What stands open in the conversation, told to whoever answers: lines for the system prompt.
PromptStateSource = Callable[[ScopedSession, "TurnInput"], Sequence[str]]

# What a conversation still waits for its person's yes or no to, at the end of a reply to anything
# else: it looks, as a tool does.
QuestionSource = Callable[[ScopedSession, ToolContext], Question | None]

# What has become of parts that were shown, by message and place: of those that have changed.
PartRefresher = Callable[[ScopedSession, Sequence[Message]], Mapping[tuple[UUID, int], Part]]

# What a skill offers beside an answer: it looks at the message, and is given its language.
SuggestionSource = Callable[[ScopedSession, str, str], Sequence[Suggestion]]

# What a conversation of another kind starts from: it looks at its thread and the message.
ConversationSource = Callable[[ScopedSession, UUID, str, str], "Opening"]

# Where the page is that a conversation of another kind stands on: it looks at its thread.
ConversationPage = Callable[[ScopedSession, UUID], Link]

# What somebody has begun and not finished: it looks, with the page's language, and tells.
UnfinishedWorkSource = Callable[[ScopedSession, str], Sequence["UnfinishedWork"]]

# The payloads of a reply's actions of one type, as the object that other clients look for in words.
ActionBlock = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]

# A background task: it is given the database, what the job was deferred with, and as
# `is_last_try` whether it is tried again when it raises; it may block. A worker that died in
# the middle is followed by another: it must bear being repeated.
TaskFunction = Callable[..., None]


# A question stands at the end of what was said last.
ASKED_AT = 80


@dataclass(frozen=True)
class TurnInput:
    """A message in its conversation, for a skill to read.

    `history` are the messages before it, oldest first; `today` is the group's date;
    `proposal` is the {tool, arguments, is_open} that the message may change, where there is one:
    what waits, or was declined just now. `done` is the {tool, arguments} that was carried out in
    the reply before, or by its button. The `steps` are those of its branch up to it; where it is a
    step itself, `step` is it. `intents` say how likely it is for each tool, by itself, 0..1
    (`app.nlu.model`). What a skill has worked out it may leave in `memo` for its tools, which are
    given the same one (`ToolContext.memo`).
    """

    message: str
    language: str
    today: date
    history: Sequence[ChatMessage] = ()
    proposal: Mapping[str, Any] | None = None
    thread_id: UUID | None = None
    steps: Sequence[Step] = ()
    step: Step | None = None
    intents: Mapping[str, float] = field(default_factory=dict)
    memo: dict[Any, Any] = field(default_factory=dict)
    done: Mapping[str, Any] | None = None

    @property
    def is_going_on(self) -> bool:
        """Whether it may go on with what is open, and not begin something."""
        last = self.history[-1] if self.history else None
        is_asked = last is not None and last.role == "assistant" and "?" in last.text[-ASKED_AT:]
        return bool(self.proposal or self.steps or self.step) or is_asked


@dataclass(frozen=True)
class Opening:
    """What a turn of a conversation of its own kind starts from.

    `tools` are offered, and no others; `lines` are for the system prompt; `listens` names the
    tool that the built-in assistant gives every message to, as its argument `words`, and
    `says` is its answer where it has no such tool.
    """

    tools: tuple[str, ...]
    lines: tuple[str, ...] = ()
    listens: str = ""
    says: str = ""


@dataclass(frozen=True)
class Conversation:
    """A kind of thread beside the chat, with a persona and tools of its own.

    Its name is the `context_type` of its threads. Of the prompt rows those of `domain` count
    and no others; `open` is asked anew for each turn, `page` for the page it stands on.
    """

    domain: str
    open: ConversationSource
    page: ConversationPage


@dataclass(frozen=True)
class UnfinishedWork:
    """Something half done that its person may have forgotten; the chat lists it.

    `link` leads back to it, `drop` (where there is one) is posted to, with `fields`, for throwing
    it away.
    """

    text: str
    link: Link
    drop: Link | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FirstQuestion:
    """A question to try on a first visit: its subject as `label`, and the `message` that asks it.

    `order` is its place among those of all skills.
    """

    label: LazyString
    message: LazyString
    order: int


@dataclass(frozen=True)
class Skill:
    """What one skill adds to the assistant.

    `title` is what people call it, in the reader's language.
    `suggestions` are chips that stand beside answers, by the tool that they lead to; `blocks` read
    what a model writes into its words as JSON, by the key of the object; `action_blocks` write the
    like for other clients, by the type of an action; `readers` read what a message asks for where
    no model does. `steps` validate what widgets post, by its type;
    `taps_make_true` says what a tap on one has done, as `Tool.makes_true` does;
    `consents` say of each step that its tools may take what its person must have said for it;
    `sends` is what its tools and jobs give to servers elsewhere.
    `prompt_state` says what is open in a conversation, `questions` what is asked again after a
    language model's reply to something else, `refreshers` what has become of its parts.
    """

    name: str
    title: LazyString | str = ""
    tools: tuple[Tool, ...] = ()
    parts: tuple[type[Part], ...] = ()
    blueprints: tuple[Blueprint, ...] = ()
    navigation: tuple[NavEntry, ...] = ()  # what the menu leads to
    first_questions: tuple[FirstQuestion, ...] = ()  # offered where nothing was asked yet
    prompts: Path | None = None  # a YAML file of prompt rows to seed
    context: Mapping[str, ContextSource] = field(default_factory=dict)
    domains: tuple[str, ...] = ()  # citation contexts that one may ask in
    tasks: Mapping[str, TaskFunction] = field(default_factory=dict)  # by the name to defer
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    unfinished_work: Mapping[str, UnfinishedWorkSource] = field(default_factory=dict)
    suggestions: Mapping[str, SuggestionSource] = field(default_factory=dict)
    blocks: Mapping[str, BlockReader] = field(default_factory=dict)
    action_blocks: Mapping[str, ActionBlock] = field(default_factory=dict)
    readers: Mapping[str, MessageReader] = field(default_factory=dict)
    steps: Mapping[str, StepReader] = field(default_factory=dict)
    taps_make_true: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    consents: Mapping[str, StepConsent | None] = field(default_factory=dict)
    prompt_state: Mapping[str, PromptStateSource] = field(default_factory=dict)
    questions: Mapping[str, QuestionSource] = field(default_factory=dict)
    refreshers: Mapping[str, PartRefresher] = field(default_factory=dict)  # by the type of part
    sends: tuple[SentData, ...] = ()


class Registry:
    """All skills of this app, by the names that messages and models use for their things."""

    def __init__(self, skills: Iterable[Skill]) -> None:
        self.skills = tuple(skills)
        self.titles = {skill.name: skill.title for skill in self.skills}
        self.sends = (*CORE, *(each for skill in self.skills for each in skill.sends))
        self.navigation = tuple(entry for skill in self.skills for entry in skill.navigation)
        self.first_questions = tuple(
            sorted(
                (each for skill in self.skills for each in skill.first_questions),
                key=lambda each: each.order,
            )
        )
        self.tools: dict[str, Tool] = {}
        self.parts: dict[str, type[Part]] = {}
        self.context: dict[str, ContextSource] = {}
        self.domains: dict[str, str] = {}
        self.searches: dict[str, Tool] = {}
        self.tasks: dict[str, TaskFunction] = {}
        self.conversations: dict[str, Conversation] = {}
        self.unfinished_work: dict[str, UnfinishedWorkSource] = {}
        self.suggestions: dict[str, SuggestionSource] = {}
        self.blocks: dict[str, BlockReader] = {}
        self.action_blocks: dict[str, ActionBlock] = {}
        self.readers: dict[str, MessageReader] = {}
        self.steps: dict[str, StepReader] = {}
        self.taps_make_true: dict[str, tuple[str, ...]] = {}
        self.consents: dict[str, StepConsent | None] = {}
        self.prompt_state: dict[str, PromptStateSource] = {}
        self.refreshers: dict[str, PartRefresher] = {}
        for core in (NoticePart, ProposalPart, ReceiptPart):
            _add(self.parts, core.model_fields["type"].default, core, "part")
        for skill in self.skills:
            for tool in skill.tools:
                _add(self.tools, tool.name, tool, "tool")
                if tool.is_search and tool.domain:
                    _add(self.searches, tool.domain, tool, "search of the domain")
            for part in skill.parts:
                _add(self.parts, part.model_fields["type"].default, part, "part")
            for domain in skill.domains:
                _add(self.domains, domain, skill.name, "domain")
            _add_all(self.context, skill.context, "context source")
            _add_all(self.tasks, skill.tasks, "task")
            _add_all(self.conversations, skill.conversations, "conversation")
            _add_all(self.unfinished_work, skill.unfinished_work, "open work source")
            _add_all(self.suggestions, skill.suggestions, "suggestion")
            _add_all(self.blocks, skill.blocks, "block")
            _add_all(self.action_blocks, skill.action_blocks, "block of an action")
            _add_all(self.readers, skill.readers, "message reader")
            _add_all(self.steps, skill.steps, "step")
            _add_all(self.taps_make_true, skill.taps_make_true, "tap")
            _add_all(self.consents, skill.consents, "step of a tool")
            _add_all(self.prompt_state, skill.prompt_state, "prompt state source")
            _add_all(self.refreshers, skill.refreshers, "part refresher")


def _add_all(into: dict[str, Any], things: Mapping[str, Any], kind: str) -> None:
    for name, thing in things.items():
        _add(into, name, thing, kind)


def _add(into: dict[str, Any], name: str, thing: Any, kind: str) -> None:
    if name in into:
        raise RuntimeError(f"two skills register the {kind} {name!r}")
    into[name] = thing
