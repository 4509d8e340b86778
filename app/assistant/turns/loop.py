"""The turn loop, pure: messages in, events out.

It asks the provider, runs the tools that the provider wants, gives their results back and
asks again, until the answer is words. It touches neither the database nor the network
itself: the provider and the tools do, and they are given to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from app.assistant.proposals.consent import Question
from app.assistant.providers.base import (
    ChatMessage,
    Explained,
    ModelRequest,
    Provider,
    TextDelta,
    ToolCall,
    Usage,
)
from app.assistant.tools.parts import Action, Part, Suggestion
from app.assistant.tools.tool import ToolResult
from app.assistant.tools.toolbox import Toolbox, ToolOutcome
from app.assistant.turns.citations import CitationFilter, without_citations
from app.assistant.turns.json_blocks import BlockFilter, read_object
from app.assistant.turns.turn_limits import (
    LONGEST_REMARK,
    LONGEST_REPLY,
    MAX_CALLS_AT_ONCE,
    MAX_MODEL_CALLS,
    MAX_SEARCH_ROUNDS,
)
from app.text.markdown import PARAGRAPH, join_paragraphs, paragraph_after
from app.text.plain_text import clean_text


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
    """The reply is whole; `is_cut` where the model had not come to its end at the longest.

    `asked` names the question of the product's own in which it ends, if it does, and `question`
    holds its text, also of one that only collects and has no name. `explained` says why the
    built-in assistant answered as it did, where it was the one.
    """

    suggestions: tuple[Suggestion, ...]
    tokens_in: int
    tokens_out: int
    model_calls: int
    actions: tuple[Action, ...] = ()
    is_cut: bool = False
    asked: str = ""
    explained: Explained | None = None
    question: str = ""


TurnEvent = Text | ToolStarted | ToolFinished | PartReady | Finished


@dataclass
class _Progress:
    """What a turn has gathered so far."""

    messages: list[ChatMessage]
    suggestions: list[Suggestion] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    shown: dict[tuple[str, str], Part] = field(default_factory=dict)
    search_rounds: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    model_calls: int = 0
    said: int = 0
    is_cut: bool = False
    has_text: bool = False
    # What readers have been told, in the pieces that they were told it in.
    told: list[str] = field(default_factory=list)
    is_visible: bool = False
    final_text: str | None = None
    # What the product asks in the end, whatever the model has said, and the chips that answer it.
    question: Question | None = None
    # Why the built-in assistant did what it did first.
    explained: Explained | None = None
    answers: Sequence[Suggestion] = ()

    def allowed(self, words: str) -> str:
        """As much of the words as a reply may still have."""
        left = LONGEST_REPLY - self.said
        self.is_cut = len(words) > left
        self.said += min(len(words), left)
        return words[:left]


def run_turn(
    request: ModelRequest,
    provider: Provider,
    toolbox: Toolbox,
    *,
    clock: Callable[[], float] = time.monotonic,
    rest: Callable[[float], object] = lambda _seconds: None,
    still_asks: Callable[[Question], bool] = lambda _question: True,
) -> Generator[TurnEvent, None, None]:
    """Answer `request` with `provider`, running tools from `toolbox`.

    At most five model calls; search tools are withheld after three rounds of them and all
    tools on the fifth call, so that a turn always ends in words. The call of a model that says
    more than `LONGEST_REPLY` is closed there, and no tool is run for it. `rest` lets other turns
    go on between two tools. What somebody has answered by its button meanwhile the reply no longer
    asks: `still_asks` tells.

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
        yield from _run_tools(calls, toolbox, progress, clock, rest)
    yield from _read_blocks(blocks, toolbox, progress)
    if progress.question is not None and not still_asks(progress.question):
        progress.question, progress.answers = None, ()
    yield from _end_words(progress)
    yield Finished(
        tuple(progress.suggestions if progress.question is None else progress.answers),
        progress.tokens_in,
        progress.tokens_out,
        progress.model_calls,
        tuple(progress.actions),
        progress.is_cut,
        progress.question.about if progress.question else "",
        progress.explained,
        progress.question.markdown if progress.question else "",
    )


def _end_words(progress: _Progress) -> Iterator[TurnEvent]:
    """The last words of the product, and the question that the reply ends in: the last one.

    A yes answers that one alone, and with it what is shown before it here.
    """
    said, question = progress.final_text or "", progress.question
    words = said
    if question is not None:
        for part in question.parts:
            # What another tool has drawn may have been another state.
            if progress.shown.get((part.type, part.once)) != part:
                yield PartReady(part)
        before = "" if question.words in said else question.words
        words = join_paragraphs(said, before, question.markdown)
    if words:
        yield from _show_words(paragraph_after("".join(progress.told), words), progress)


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
    with closing(provider.stream(asked)) as events:
        for event in events:
            if isinstance(event, TextDelta):
                words = progress.allowed(clean_text(event.text))
                if words:
                    # Words before and after a tool are two paragraphs, not one run-on sentence.
                    gap = PARAGRAPH if progress.has_text and not said else ""
                    said.append(words)
                    progress.has_text = True
                    yield from _show_words(citations.feed(blocks.feed(gap + words)), progress)
                if progress.is_cut:
                    break
            elif isinstance(event, ToolCall):
                calls.append(_clean_call(event))
            elif isinstance(event, Usage):
                progress.tokens_in += event.tokens_in
                progress.tokens_out += event.tokens_out
            elif isinstance(event, Explained):
                progress.explained = progress.explained or event
    yield from _show_words(citations.feed(blocks.close()) + citations.close(), progress)
    progress.messages.append(ChatMessage("assistant", "".join(said), tuple(calls)))
    return [] if progress.is_cut else calls


def _show_words(words: str, progress: _Progress) -> Iterator[Text]:
    """The words as an event, if there are any."""
    if words:
        progress.is_visible = progress.is_visible or bool(words.strip())
        progress.told.append(words)
        yield Text(words)


def _clean_call(call: ToolCall) -> ToolCall:
    """A call without signs to be obeyed; those that its arguments escape, the toolbox drops."""
    return replace(
        call,
        id=clean_text(call.id),
        name=clean_text(call.name),
        arguments=clean_text(call.arguments),
        # It stands above a card, beside which there are no sources.
        confirmation_message=without_citations(clean_text(call.confirmation_message))[
            :LONGEST_REMARK
        ],
    )


def _run_tools(
    calls: list[ToolCall],
    toolbox: Toolbox,
    progress: _Progress,
    clock: Callable[[], float],
    rest: Callable[[float], object],
) -> Generator[TurnEvent, None, None]:
    """Run the calls in order and put every result into the conversation."""
    searched = False
    final: list[str | None] = []
    for number, call in enumerate(calls):
        if number:
            rest(0)
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
        if outcome.question is not None:
            progress.question, progress.answers = outcome.question, outcome.suggestions
    # What else was asked for at once still has to be told.
    if None not in final:
        progress.final_text = join_paragraphs(*dict.fromkeys(filter(None, final)))
    if searched:
        progress.search_rounds += 1


def _show(found: ToolOutcome | ToolResult, progress: _Progress) -> Iterator[PartReady]:
    """The parts of a result, and its chips and actions, each once."""
    for part in found.parts:
        if part.once and (part.type, part.once) in progress.shown:
            continue
        progress.shown[part.type, part.once] = part
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
            words = CitationFilter(toolbox.ledger_numbers).whole(said)
            yield from _show_words(words, progress)
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
        **({} if outcome.has_taken else {"took": False}),
        **{name: value for name, value in why.items() if value},
    }
