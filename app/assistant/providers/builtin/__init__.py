"""The built-in assistant: a provider that needs no key and no network.

It tells by the tools' own examples which tool a message is for, fills its arguments from
the message, and answers from the results in their own words, with their numbers. What it
knows of a tool is what the tool says of itself: a new tool with examples works in it.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from app.assistant.providers.base import (
    Candidate,
    Explained,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolSpec,
)
from app.assistant.providers.builtin import phrases
from app.assistant.providers.builtin.compose import compose
from app.assistant.providers.builtin.decide import Decision, decide, odds_of
from app.assistant.providers.builtin.intent import IntentIndex, example_reader, read_evidence
from app.assistant.providers.builtin.nonsense import WordShapes
from app.nlu.model import INTENTS, load_model
from app.retrieval.embedder import WORDLLAMA, Embedder, WordLlamaEmbedder
from app.retrieval.quotes.lines import to_markdown
from app.text.markdown import escape_markdown, join_paragraphs

_WORDS_A_DELTA = 4
_DELTA = re.compile(rf"(?:\s*\S+){{1,{_WORDS_A_DELTA}}}\s*")
_KEPT_INDEXES = 32
# Of the tools that a message may be for, so many are told.
MOST_EXPLAINED = 5

# What tells sets of tools apart: each tool's name, description and examples by language.
_Key = tuple[tuple[str, str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
# Of the process, since every provider reads with the same embedding model: beside what was
# learned when they were made, nothing else goes into them.
_indexes: dict[tuple[tuple[str, ...], _Key], tuple[IntentIndex, WordShapes]] = {}
_read_examples = example_reader(WordLlamaEmbedder())


class BuiltinProvider:
    """Answers without a language model.

    Its weights are fitted to the bundled embedding model, which it uses whatever the
    search itself uses: it must also answer when no server can be reached.
    """

    name = "builtin"
    model = "comanda-builtin"
    uses_hints = True

    def __init__(self, embedder: Embedder | None = None) -> None:
        bundled = embedder is not None and embedder.model == WORDLLAMA
        self._embedder: Embedder = embedder if embedder and bundled else WordLlamaEmbedder()

    def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
        """Reply in words a few at a time, or name the tools to call."""
        with phrases.speaking(request.language):
            decision = self._respond(request)
        if decision.why:
            yield Explained(decision.why, self._candidates(request))
        for delta in _DELTA.findall(decision.text):
            yield TextDelta(delta)
        if decision.calls:
            round_ = sum(bool(message.tool_calls) for message in request.messages) + 1
            for number, call in enumerate(decision.calls, 1):
                yield ToolCall(f"call_{round_}_{number}", call.tool, call.json)

    def check(self) -> str:
        """Nothing can keep it from answering."""
        return ""

    def _respond(self, request: ModelRequest) -> Decision:
        if request.messages[-1].role == "tool":
            composed = compose(request, self._embedder)
            answers = [to_markdown(lines) for lines in composed.answers]
            if composed.next_call:
                return Decision(join_paragraphs(*answers), (composed.next_call,))
            return Decision(join_paragraphs(*answers, *_afterwards(request)))
        index, shapes = self._index(request)
        decision = decide(request, index, shapes, self._embedder)
        if decision.calls or not _afterwards(request):
            return decision
        return Decision(join_paragraphs(decision.text, *_afterwards(request)))

    def _candidates(self, request: ModelRequest) -> tuple[Candidate, ...]:
        """The likeliest tools for the message, as whoever wonders is told of them."""
        index, _ = self._index(request)
        evidence = read_evidence(request.hints)
        ranking = index.rank(request.messages[-1].text, evidence, bonus=odds_of(request))
        return tuple(ranked.as_candidate() for ranked in ranking[:MOST_EXPLAINED])

    def _index(self, request: ModelRequest) -> tuple[IntentIndex, WordShapes]:
        """What these tools and their examples come to, computed once for each set of tools.

        Tools that the person's role may not use can be meant all the same: the refusal says so.
        What goes on with something open is its skill's to read, and nobody's to guess.
        """
        learned = load_model()[INTENTS].classes
        denied = (ToolSpec(name, "", {}) for name in request.hints.get("denied", ()))
        tools = tuple(
            tool
            for tool in (*request.tools, *denied)
            if tool.name in learned or (tool.examples and not tool.is_wished)
        )
        key = tuple(learned), _key(tools)
        known = _indexes.get(key)
        if known is None:
            if len(_indexes) >= _KEPT_INDEXES:
                _indexes.clear()
            index = IntentIndex(tools, self._embedder, _read_examples)
            known = _indexes[key] = index, WordShapes(index.vocabulary)
        return known


def _afterwards(request: ModelRequest) -> list[str]:
    """What was asked before the message went on to something else, and what it wants besides."""
    lead_back, rest = (str(request.hints.get(name) or "") for name in ("lead_back", "rest"))
    told = phrases.one_after_the_other(escape_markdown(rest.rstrip("."))) if rest else ""
    return list(filter(None, (lead_back, told)))


def _key(tools: tuple[ToolSpec, ...]) -> _Key:
    return tuple(
        (tool.name, tool.description, tuple(sorted(tool.examples.items()))) for tool in tools
    )
