"""The turn loop, pure: messages in, events out.

It asks the provider, runs the tools that the provider wants, gives their results back and
asks again, until the answer is words. It touches neither the database nor the network
itself: the provider and the tools do, and they are given to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from app.assistant.blocks import BlockFilter, read_object
from app.assistant.citations import CitationFilter
from app.assistant.parts import Action, Part, Suggestion
from app.assistant.providers.base import (
    ChatMessage,
    ModelRequest,
    Provider,
    TextDelta,
    ToolCall,
    Usage,
)
from app.assistant.tool import ToolResult
from app.assistant.toolbox import Toolbox, ToolOutcome

MAX_MODEL_CALLS = 5
MAX_SEARCH_ROUNDS = 3
# What one answer of a model may ask for; whoever asks for more gets the rest refused.
MAX_CALLS_AT_ONCE = 8
PARAGRAPH = "\n\n"


@dataclass(frozen=True)
class Text:
    """Some more of the reply, with its citations checked."""

    text: str


@dataclass(frozen=True)
class ToolStarted:
    call: ToolCall


@dataclass(frozen=True)
class ToolFinished:
    call: ToolCall
    outcome: ToolOutcome
    milliseconds: int


@dataclass(frozen=True)
class PartReady:
    part: Part


@dataclass(frozen=True)
class Finished:
    """The reply is whole."""

    suggestions: tuple[Suggestion, ...]
    tokens_in: int
    tokens_out: int
    model_calls: int
    actions: tuple[Action, ...] = ()


TurnEvent = Text | ToolStarted | ToolFinished | PartReady | Finished


@dataclass
class _Progress:
    """What a turn has gathered so far."""

    messages: list[ChatMessage]
    suggestions: list[Suggestion] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    shown: set[tuple[str, str]] = field(default_factory=set)
    search_rounds: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    model_calls: int = 0
    has_text: bool = False
    is_visible: bool = False
    final_text: str | None = None


def run_turn(
    request: ModelRequest,
    provider: Provider,
    toolbox: Toolbox,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[TurnEvent, None, None]:
    """Answer `request` with `provider`, running tools from `toolbox`.

    At most five model calls; search tools are withheld after three rounds of them and all
    tools on the fifth call, so that a turn always ends in words.

    Raises:
        ProviderError: the model failed; what was yielded before it stands.
    """
    progress = _Progress(list(request.messages))
    citations = CitationFilter(toolbox.ledger_numbers)
    blocks = BlockFilter(toolbox.blocks)
    while progress.final_text is None:
        calls = yield from _ask_model(request, provider, toolbox, progress, citations, blocks)
        if not calls or progress.model_calls >= MAX_MODEL_CALLS:
            break
        yield from _run_tools(calls, toolbox, progress, clock)
    yield from _read_blocks(blocks, toolbox, progress)
    if progress.final_text:
        yield Text((PARAGRAPH if progress.has_text else "") + progress.final_text)
    yield Finished(
        tuple(progress.suggestions),
        progress.tokens_in,
        progress.tokens_out,
        progress.model_calls,
        tuple(progress.actions),
    )


def _ask_model(
    request: ModelRequest,
    provider: Provider,
    toolbox: Toolbox,
    progress: _Progress,
    citations: CitationFilter,
    blocks: BlockFilter,
) -> Generator[TurnEvent, None, list[ToolCall]]:
    """One model call: passes its text on and returns the tool calls it ended in."""
    progress.model_calls += 1
    tools = toolbox.offered(
        last_call=progress.model_calls >= MAX_MODEL_CALLS,
        search_allowed=progress.search_rounds < MAX_SEARCH_ROUNDS,
    )
    asked = replace(request, messages=tuple(progress.messages), tools=tools)
    said: list[str] = []
    calls: list[ToolCall] = []
    for event in provider.stream(asked):
        if isinstance(event, TextDelta):
            words = _storable(event.text)
            if not words:
                continue
            # Words before and after a tool are two paragraphs, not one run-on sentence.
            gap = PARAGRAPH if progress.has_text and not said else ""
            said.append(words)
            checked = citations.feed(blocks.feed(gap + words))
            progress.has_text = True
            if checked:
                progress.is_visible = progress.is_visible or bool(checked.strip())
                yield Text(checked)
        elif isinstance(event, ToolCall):
            calls.append(event)
        elif isinstance(event, Usage):
            progress.tokens_in += event.tokens_in
            progress.tokens_out += event.tokens_out
    rest = citations.feed(blocks.close()) + citations.close()
    if rest:
        progress.is_visible = progress.is_visible or bool(rest.strip())
        yield Text(rest)
    progress.messages.append(ChatMessage("assistant", "".join(said), tuple(calls)))
    return calls


def _storable(text: str) -> str:
    """A model's text without what no database keeps: NUL and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _run_tools(
    calls: list[ToolCall], toolbox: Toolbox, progress: _Progress, clock: Callable[[], float]
) -> Generator[TurnEvent, None, None]:
    """Run the calls in order and put every result into the conversation."""
    searched = False
    final: list[str | None] = []
    for number, call in enumerate(calls):
        yield ToolStarted(call)
        began = clock()
        outcome = toolbox.run(call) if number < MAX_CALLS_AT_ONCE else toolbox.refuse(call)
        yield ToolFinished(call, outcome, round((clock() - began) * 1000))
        searched = searched or outcome.is_search
        progress.messages.append(
            ChatMessage("tool", outcome.model_text, tool_call_id=call.id, tool_name=call.name)
        )
        yield from _show(outcome, progress)
        final.append(outcome.final_text)
    # What else was asked for at once still has to be told.
    if None not in final:
        progress.final_text = final[-1]
    if searched:
        progress.search_rounds += 1


def _show(found: ToolOutcome | ToolResult, progress: _Progress) -> Iterator[PartReady]:
    """The parts of a result, and its chips and actions, each once."""
    for part in found.parts:
        if part.once and (part.type, part.once) in progress.shown:
            continue
        progress.shown.add((part.type, part.once))
        yield PartReady(part)
    progress.suggestions += [each for each in found.suggestions if each not in progress.suggestions]
    progress.actions += [each for each in found.actions if each not in progress.actions]


def _read_blocks(
    blocks: BlockFilter, toolbox: Toolbox, progress: _Progress
) -> Generator[TurnEvent, None, None]:
    """What the model wrote as JSON into its words, as parts; what cannot be read is left out."""
    for block in blocks.blocks:
        found = read_object(block) or {}
        # A reply that is an object from end to end has its words in it.
        said = found.get("message")
        if isinstance(said, str) and said.strip() and not progress.is_visible:
            progress.is_visible = True
            yield Text(CitationFilter(toolbox.ledger_numbers).whole(said))
        for name in toolbox.blocks:
            if name in found:
                yield from _show(toolbox.read_block(name, found[name]), progress)


def trace_entry(finished: ToolFinished) -> dict[str, Any]:
    """A tool call as the trace keeps it: name, arguments, outcome, time and why it failed."""
    outcome = finished.outcome
    why = {"code": outcome.code, "field": outcome.field}
    return {
        "tool": finished.call.name,
        "args": outcome.arguments,
        "ok": outcome.ok,
        "ms": finished.milliseconds,
        **{name: value for name, value in why.items() if value},
    }
