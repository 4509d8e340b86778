"""The one interface that every model speaks, the built-in assistant included.

A provider is given a `ModelRequest` and streams back what it says and which tools it
wants. It runs no tool, stores nothing and knows neither the user nor the group.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from app.retrieval.quotes.lines import Line

# Of the arguments of all calls in one reply so many characters are read, and of calls so many;
# whoever sends more has lost its way.
LONGEST_ARGUMENTS = 64_000
# Each value that is wrong costs an error; a form of a hundred fields has fewer than these.
MOST_VALUES = 1_000
MOST_CALLS = 32
# What a model says that one call took is at most this: ten of them still fit the columns they
# are kept in.
MOST_TOKENS = 100_000_000

# Where the group's own cannot be had.
USUAL_NUMBER = "911"

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class ToolCall:
    """A model's wish to run a tool; `arguments` is JSON text exactly as it sent it.

    A model may ask that its person confirms a change even where Comanda would not, and say
    in its own words what to confirm.
    """

    id: str
    name: str
    arguments: str
    wants_confirmation: bool = False
    confirmation_message: str = ""


@dataclass(frozen=True)
class ChatMessage:
    """One message of the conversation as a model sees it.

    A `tool` message carries a tool's result as JSON text and names the call it answers.
    """

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is described to a model.

    `parameters` is the JSON schema of its arguments. `examples` are utterances that
    should lead to it, by language; the built-in assistant recognises intent by them, unless
    its skill reads the wish for it out of the message.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_wished: bool = False


class RecordAnswers(Protocol):
    """How the built-in assistant tells what a tool's `results` that have a `name` say.

    `named` are the names that the question has, as the hints tell them; `action` is what a chip
    asks for, above what the question says.
    """

    def describe(
        self,
        question: str,
        results: Sequence[Mapping[str, Any]],
        named: Collection[str],
        action: str,
    ) -> list[Line]:
        """The lines that answer, with the numbers of their sources; none where nothing does."""

    def describe_none(self, payload: Mapping[str, Any]) -> list[Line]:
        """The lines for a payload without results, where asking more widely would be wrong."""

    def names_one(
        self, question: str, results: Sequence[Mapping[str, Any]], named: Collection[str]
    ) -> bool:
        """Whether the question names one of the results, and little that it does not have."""

    def is_only_near(self, question: str, results: Sequence[Mapping[str, Any]]) -> bool:
        """Whether the question asks for what none of the results has."""


@dataclass(frozen=True)
class ModelRequest:
    """Everything a model may know for one call.

    `hints` are facts the context found about the message (for one: which of the group's
    products it names, by tool); they are also part of the system prompt's words.
    `today` is the group's date, YYYY-MM-DD; empty where it could not be had. The
    `emergency_number` is whom one calls where the group is. `records` are the
    tools whose results the built-in assistant has told by their skill, offered now or not.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...]
    language: str
    action: str = ""
    hints: Mapping[str, Any] = field(default_factory=dict)
    today: str = ""
    emergency_number: str = USUAL_NUMBER
    records: Mapping[str, RecordAnswers] = field(default_factory=dict)


@dataclass(frozen=True)
class TextDelta:
    """Some more text of the reply."""

    text: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, as the provider counted them; sent last, if at all.

    Whatever a server puts there (nothing, a text, a fraction, a number below zero or beyond all
    reason), they are whole numbers from 0 to `MOST_TOKENS`: no answer hangs on its accounting.
    """

    tokens_in: int
    tokens_out: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens_in", _tokens(self.tokens_in))
        object.__setattr__(self, "tokens_out", _tokens(self.tokens_out))


def _tokens(reported: object) -> int:
    if isinstance(reported, bool) or not isinstance(reported, int | float):
        return 0
    # Only a number is neither below zero nor above the most: NaN is left.
    bounded = min(max(reported, 0), MOST_TOKENS)
    return int(bounded) if bounded == bounded else 0


@dataclass(frozen=True)
class Candidate:
    """A tool that a message may be for, its share of all of them, and what speaks for it.

    `learned` is what sentences alone say, 0..1; `evidence` what was found in its documents and
    `wished` what its skill has read, both in log odds.
    """

    tool: str
    share: float
    learned: float
    evidence: float
    wished: float


@dataclass(frozen=True)
class Explained:
    """Why the built-in assistant did what it did: a name for it, and the likeliest tools."""

    why: str
    candidates: tuple[Candidate, ...] = ()


ModelEvent = TextDelta | ToolCall | Usage | Explained


class Provider(Protocol):
    """A language model, or what stands in for one.

    `uses_hints` says whether it reads `ModelRequest.hints`, which cost a search to find.
    """

    name: str
    model: str
    uses_hints: bool

    def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
        """Yield the reply as it comes. Closing the iterator ends the call upstream.

        Raises:
            ProviderError: the model cannot be reached, refuses, or breaks off.
        """
        ...

    def check(self) -> str:
        """What keeps it from answering, for `flask doctor`; empty when all is well."""
        ...


class ProviderError(Exception):
    """A call to a model failed.

    `code` is one of: unreachable, timeout, rate_limited, refused, declined, server_error,
    interrupted, malformed. What is `refused` is so whoever asks, as with a wrong key; `declined` is
    this one request. `retry_after` is in seconds where the model's server named it.
    """

    def __init__(self, code: str, detail: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.retry_after = retry_after
