"""A provider that says what a test tells it to, and tools that need no database."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any
from uuid import UUID

from pydantic import Field

from app.assistant.providers.base import (
    ChatMessage,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCall,
    Usage,
)
from app.assistant.tools.parts import Citation, NoticePart, Suggestion
from app.assistant.tools.tool import (
    Arguments,
    CitationLedger,
    ReadTool,
    ToolContext,
    ToolFailure,
    ToolResult,
)
from app.assistant.tools.toolbox import Toolbox
from app.assistant.turns.loop import Text, TurnEvent, run_turn
from app.db import Scope

SOURCE = UUID("0190a000-0000-7000-8000-000000000001")


class ScriptedProvider:
    """Plays one list of events a call, the last one again and again, and keeps the requests."""

    name = "scripted"
    model = "scripted-1"
    uses_hints = False

    def __init__(self, *replies: Sequence[ModelEvent | BaseException]) -> None:
        self.replies = replies
        self.requests: list[ModelRequest] = []

    def check(self) -> str:
        """There is nothing to reach."""
        return ""

    def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
        self.requests.append(request)
        for event in self.replies[min(len(self.requests), len(self.replies)) - 1]:
            if isinstance(event, BaseException):
                raise event
            yield event

    @property
    def offered(self) -> list[list[str]]:
        """The names of the tools offered at each call."""
        return [[tool.name for tool in request.tools] for request in self.requests]


def say(*words: str, tokens: tuple[int, int] | None = None) -> list[ModelEvent]:
    """A reply in words, a delta each."""
    events: list[ModelEvent] = [TextDelta(word) for word in words]
    return [*events, Usage(*tokens)] if tokens else events


def call(name: str, arguments: str = '{"query": "tips"}', id_: str = "c1") -> ToolCall:
    return ToolCall(id_, name, arguments)


class Query(Arguments):
    query: str = Field(min_length=1, max_length=200)


def source(title: str, number: int = 0) -> Citation:
    """A citation of a passage that differs by its number."""
    return Citation(
        context="manual",
        document_id=UUID(int=SOURCE.int + number),
        source_id=SOURCE,
        title=title,
        url="/library/manual/x",
        quote=title,
        language="en",
    )


class LookUp(ReadTool):
    """A search that finds one more passage each time it runs."""

    name = "look_up"
    description = "Search."
    arguments = Query
    activity: Mapping[str, str] = MappingProxyType({"en": "Looking…", "es": "Mirando…"})
    examples: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    is_search = True

    def __init__(self) -> None:
        self.seen: list[str] = []

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        self.seen.append(arguments.query)
        number = context.ledger.cite(source(arguments.query, len(self.seen)))
        return ToolResult({"results": [{"cite": number, "text": arguments.query}]})


class Count(LookUp):
    """Not a search: offered when searches no longer are."""

    name = "count"
    is_search = False

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        chip = Suggestion(label="More", message="More of it")
        return ToolResult({"count": 3}, [NoticePart(kind="limit", text="Three")], [chip])


class Declared(LookUp):
    """A tool whose words are the whole reply."""

    name = "declared"
    is_search = False

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        return ToolResult({}, final_text="These are the words.")


class Broken(LookUp):
    """Fails with what it is given."""

    name = "broken"

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error or ToolFailure("The fryer log is locked.", suggestion="Try later.")

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        raise self.error


def toolbox(*tools: ReadTool) -> Toolbox:
    def no_database() -> Any:
        return nullcontext()

    context = ToolContext(Scope(), "en", no_database, CitationLedger())
    return Toolbox({tool.name: tool for tool in tools}, context)


def start(
    provider: ScriptedProvider, tools: Toolbox, clock: Callable[[], float] | None = None
) -> Iterator[TurnEvent]:
    """A turn about tips, its events as they come."""
    request = ModelRequest(
        (ChatMessage("system", "You help."), ChatMessage("user", "What about tips?")), (), "en"
    )
    return run_turn(request, provider, tools, **({"clock": clock} if clock else {}))


def converse(
    provider: ScriptedProvider, tools: Toolbox, clock: Callable[[], float] | None = None
) -> list[TurnEvent]:
    """A whole turn about tips."""
    return list(start(provider, tools, clock))


def words(events: Sequence[TurnEvent]) -> str:
    """What a person reads of these events."""
    return "".join(event.text for event in events if isinstance(event, Text))
