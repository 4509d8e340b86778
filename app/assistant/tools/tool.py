"""What a tool is: a name, an argument model, examples, and what it does.

A tool's arguments come from a model and are validated; whom it works for comes from the
`ToolContext`, which the runner fills from the signed-in session. A `ReadTool` only looks; a
`ThreadTool` keeps steps of its conversation; a `WriteTool` proposes, and writes when its person has
confirmed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from app.assistant.proposals.consent import Heard, Question
from app.assistant.providers.base import RecordAnswers, ToolSpec
from app.assistant.threads.steps import StepLoader
from app.assistant.tools.parts import Action, Citation, Part, Suggestion
from app.db import Scope, ScopedSession
from app.errors import ComandaError
from app.web.links import Target


class Arguments(BaseModel):
    """The base of every tool's argument model: unknown fields, and what is no number, are rejected.

    "NaN" and "Infinity" are numbers that no database keeps as JSON.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Profile:
    """What the assistant should know about the person it serves."""

    name: str = ""
    units: str = "us"
    allergens: tuple[str, ...] = ()
    diets: tuple[str, ...] = ()
    cuisines: tuple[str, ...] = ()


@dataclass
class CitationLedger:
    """Numbers the sources of one reply, 1, 2, …; the same passage keeps its number."""

    citations: list[Citation] = field(default_factory=list)

    def cite(self, source: Citation) -> int:
        """Return the number of `source`, giving it the next one if it is new."""
        for known in self.citations:
            if known.document_id == source.document_id:
                return known.number
        number = len(self.citations) + 1
        self.citations.append(source.model_copy(update={"number": number}))
        return number


@dataclass(frozen=True)
class ToolContext:
    """For whom and in which language a tool runs, and what it may use.

    `message_id` is what the person wrote that it runs for; None where nothing is stored.
    """

    scope: Scope
    language: str
    transaction: Callable[[], AbstractContextManager[ScopedSession]]
    ledger: CitationLedger
    profile: Profile = Profile()
    services: Mapping[str, Any] = field(default_factory=dict)
    # Stores a draft as the thread's proposal and returns its card; absent where nothing may
    # be proposed.
    offer: Callable[[WriteTool, Draft], Offered] | None = None
    # The conversation and the reply that is being made; absent where nothing that is said is
    # kept.
    thread_id: UUID | None = None
    message_id: UUID | None = None
    reply_id: UUID | None = None
    # Keeps steps of a structured task with the reply; absent where nothing is kept.
    take_steps: Callable[[Sequence[Mapping[str, Any]]], None] | None = None
    # The steps of the conversation as they are now, with those that the reply has taken; absent
    # where nothing is kept.
    load_steps: StepLoader | None = None
    # What skills have worked out in this turn, by keys of their own.
    memo: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NextCall:
    """The call that should follow a tool's own: by name and with its arguments."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolResult:
    """What came of a tool: a payload for the model; parts, chips and actions for the person.

    With `final_text` the turn ends in these words, without another model call. `say` is in a
    sentence what there is to say, which the built-in assistant repeats, and `next` the call that it
    makes then; a model is told both. `by_words_alone` says of a search that its model was away,
    `odds` how likely the best that it found is an answer, as the logarithm of odds. A `question` is
    asked as the last words of the reply, whatever else is said in it. A tool that ran and kept
    nothing of what it was given has not `has_taken` it: what a model says of that is not true.
    """

    payload: Mapping[str, Any]
    parts: Sequence[Part] = ()
    suggestions: Sequence[Suggestion] = ()
    final_text: str | None = None
    by_words_alone: bool = False
    actions: Sequence[Action] = ()
    odds: float | None = None
    question: Question | None = None
    say: str = ""
    next: NextCall | None = None
    has_taken: bool = True

    @property
    def told(self) -> Mapping[str, Any]:
        """The payload with what is to be said and called, as whoever called is told it."""
        told = dict(self.payload)
        if self.say:
            told["say"] = self.say
        if self.next:
            told["next"] = {"tool": self.next.tool, "arguments": self.next.arguments}
        return told


# By language: "en" and "es".
Texts = Mapping[str, str]
# Label and value pairs, by language.
Details = Mapping[str, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class Draft:
    """What a writing tool would do: one sentence, the exact values, the arguments to store.

    `arguments` is an instance of the tool's argument model and may say more than the call
    did (a resolved person, a date instead of "yesterday"). `asks` is the question that the
    reply ends in; without it the model says in its own words what is proposed. What is
    `at_once` is done without waiting for a word, where the tool's `is_consented` says that the
    message was the word for it and the model does not want another one.
    """

    arguments: Arguments
    summary: Texts
    details: Details
    asks: Texts | None = None
    at_once: bool = False


@dataclass(frozen=True)
class Offered:
    """What became of a draft: its card (a receipt where it was done at once), the draft with what
    the same reply had proposed before, and the question whether it shall be done."""

    card: Part
    draft: Draft
    asks: Texts


@dataclass(frozen=True)
class Receipt:
    """What a confirmed write did. `kept` is whatever undoing it takes, as JSON.

    `step` is what it means for the task that its conversation is collecting.
    """

    result_id: str
    summary: Texts
    details: Details = field(default_factory=dict)
    url: Target = ""
    kept: Mapping[str, Any] = field(default_factory=dict)
    step: Mapping[str, Any] | None = None


class ToolFailure(Exception):
    """A tool could not do it; the model is told why and what might help.

    `say` is for the person, in the language of the turn, with chips to choose from; a `question`
    ends the turn, as its last words. `code` and `field` are for programs: one of those that
    docs/adding-a-skill.md lists, and which argument it is.
    """

    def __init__(
        self,
        message: str,
        *,
        recoverable: bool = True,
        suggestion: str = "",
        say: str = "",
        code: str = "",
        field: str = "",
        chips: Sequence[Suggestion] = (),
        question: Question | None = None,
    ) -> None:
        super().__init__(message)
        self.recoverable = recoverable
        self.suggestion = suggestion
        self.say = say
        self.code = code
        self.field = field
        self.chips = chips
        self.question = question


class Tool(ABC):
    """What reading and writing tools have in common.

    `activity` are the words shown while it runs, by language; `prompt_slug` names the
    prompt row that introduces it, without which (or while it is inactive) it is not offered.
    `roles` may use it; none named means everybody. A tool with a `conversation` is offered in
    threads of that kind alone (see `registry.Conversation`), and not in the chat. One that
    `is_wished` is what its skill's `readers` read out of a message; the built-in assistant does
    not guess at it. A search tool with a `domain` is what others search that domain with
    (see `registry.Skill.domains`). Where its results are `records`, the built-in assistant has
    them told by that; texts it quotes by itself. `makes_true` are the kinds of claims (see
    `app/nlu/claims.yaml`) that a model may make once it has taken its steps, or has its receipt.
    """

    name: str
    description: str
    arguments: type[Arguments]
    activity: Mapping[str, str]
    examples: Mapping[str, tuple[str, ...]]
    prompt_slug: str | None = None
    is_search: bool = False
    domain: str = ""
    roles: tuple[str, ...] = ()
    conversation: str = ""
    is_wished: bool = False
    records: RecordAnswers | None = None
    makes_true: tuple[str, ...] = ()

    def spec(self) -> ToolSpec:
        """How this tool is described to a model."""
        return ToolSpec(
            self.name, self.description, _schema(self.arguments), self.examples, self.is_wished
        )

    def allows(self, role: str) -> bool:
        """Whether somebody of this role may use it."""
        return not self.roles or role in self.roles


class ReadTool(Tool):
    """A tool that looks things up and changes nothing."""

    @abstractmethod
    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Do it for `context.scope`; `arguments` is an instance of the argument model."""


class ThreadTool(Tool):
    """A tool that keeps steps of what its conversation collects, and changes nothing else.

    It keeps them by `context.take_steps`, which no reading tool is given. For each kind of step its
    skill declares what its person must have said (`registry.Skill.consents`).
    """

    @abstractmethod
    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Do it for `context.scope`; `arguments` is an instance of the argument model."""


class WriteTool(Tool):
    """A tool that changes something, and only once its person has confirmed it.

    The model's call ends in `propose`, which looks and checks but writes nothing. What it
    returns is shown and stored (app.assistant.proposals.proposals); `execute` gets exactly that, in
    the transaction that also marks the proposal as confirmed: both happen, or neither.
    """

    undo_minutes: int = 0  # how long a write can be taken back; 0 is never

    @abstractmethod
    def propose(self, arguments: Any, context: ToolContext) -> Draft:
        """Say exactly what would be done.

        Raises:
            ToolFailure: it cannot be done like that; the model is told why.
        """

    def details_now(self, session: ScopedSession, arguments: Any) -> Details | None:
        """What the card would say of these arguments at this moment; None where `execute` knows.

        Names that others give may have changed since it was shown: nothing is done then.
        """
        return None

    @abstractmethod
    def execute(self, session: ScopedSession, arguments: Any) -> Receipt:
        """Do it for `session.scope`, within the transaction that is open. Never commits.

        Raises:
            ComandaError: it cannot be done any more; nothing is written.
        """

    def subject(self, arguments: Any) -> str:
        """What a write with these arguments is about: a newer proposal about that counts alone.

        Empty where each of the tool's proposals takes the place of its last one.
        """
        return ""

    def join(self, session: ScopedSession, before: Any, draft: Draft) -> Draft | None:
        """Both of what one reply proposes as one draft; None where the later one counts alone.

        `before` are the arguments of what the reply has proposed already.
        """
        return None

    def is_consented(self, session: ScopedSession, arguments: Any, heard: Heard) -> bool:
        """Whether exactly this was consented to by what its person wrote, and saw before that."""
        return False

    def reads_itself(self, message: str) -> bool:
        """Whether its skill reads this no: it says more than that nothing is to be done."""
        return False

    def mends(self, error: ComandaError) -> bool:
        """Whether its conversation goes on by itself where it could not be done."""
        return False

    def undo(self, session: ScopedSession, receipt: Receipt) -> None:
        """Take back what `receipt` tells of, within the transaction that is open.

        Raises:
            ComandaError: it cannot be taken back any more; nothing is changed.
        """
        raise NotImplementedError(f"{self.name} has nothing to take back")


@cache
def _schema(arguments: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments; making it costs more than all else in a turn."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    return schema
