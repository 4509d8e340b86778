"""The tools of one turn: which are offered, and running one by name with checked arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from flask_babel import gettext as _
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

from app.assistant.proposals.consent import Question, about_proposal
from app.assistant.providers.base import LONGEST_ARGUMENTS, MOST_VALUES, ToolCall, ToolSpec
from app.assistant.tools.parts import Action, Part, ProposalPart, ReceiptPart, Suggestion
from app.assistant.tools.tool import (
    CitationLedger,
    ReadTool,
    ThreadTool,
    Tool,
    ToolContext,
    ToolFailure,
    ToolResult,
    WriteTool,
)
from app.errors import ComandaError
from app.text.bilingual import reader_language
from app.text.json_text import TooMuch, parse_json
from app.text.markdown import escape_markdown
from app.text.plain_text import clean_value

# What a model is given of one result; a tool that brings more is cut, and says so.
RESULT_LIMIT = 24_000
MAX_REPEATED_ERRORS = 2
WAITING = (
    "Nothing is written yet: the person sees this proposal and has to confirm it. Say in one"
    " short sentence what you propose; never say that it is done."
)
# What programs are told, where a page's error has another name for it.
_CODES = {"invalid": "invalid_input"}

# Reads what a model wrote into its words as JSON, under a key that is the reader's.
BlockReader = Callable[[Any, ToolContext], ToolResult]
log = structlog.get_logger()


@dataclass(frozen=True)
class ToolOutcome:
    """What came of one call, for the model and for the person; errors included."""

    ok: bool
    payload: Mapping[str, Any]
    arguments: Any = None
    is_search: bool = False
    parts: Sequence[Part] = ()
    suggestions: Sequence[Suggestion] = ()
    final_text: str | None = None
    by_words_alone: bool = False
    actions: Sequence[Action] = ()
    code: str = ""
    field: str = ""
    question: Question | None = None
    has_taken: bool = True

    @property
    def model_text(self) -> str:
        """The result as JSON text, never longer than a model should read."""
        text = json.dumps(self.payload, ensure_ascii=False, default=str)
        if len(text) <= RESULT_LIMIT:
            return text
        cut = {"truncated": True, "beginning": text[:RESULT_LIMIT]}
        return json.dumps(cut, ensure_ascii=False)


class _Numbers(Collection[int]):
    """The numbers that a ledger has given out so far; it grows while the turn runs."""

    def __init__(self, ledger: CitationLedger) -> None:
        self._ledger = ledger

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and 1 <= number <= len(self._ledger.citations)

    def __iter__(self) -> Any:
        return iter(range(1, len(self._ledger.citations) + 1))

    def __len__(self) -> int:
        return len(self._ledger.citations)


@dataclass
class Toolbox:
    """The tools that one turn may use, for one person.

    Those that are `denied` to the person's role are offered to no model; who asks for one is
    told so.
    """

    tools: Mapping[str, Tool]
    context: ToolContext
    blocks: Mapping[str, BlockReader] = field(default_factory=dict)
    denied: Collection[str] = ()
    errors: int = field(default=0, init=False)

    @property
    def ledger_numbers(self) -> Collection[int]:
        return _Numbers(self.context.ledger)

    def offered(self, *, last_call: bool, search_allowed: bool) -> tuple[ToolSpec, ...]:
        """The tools for the next model call; none when it must end in words."""
        if last_call or self.errors > MAX_REPEATED_ERRORS:
            return ()
        return tuple(
            tool.spec() for tool in self.tools.values() if search_allowed or not tool.is_search
        )

    def run(self, call: ToolCall) -> ToolOutcome:
        """Run one call; whatever goes wrong becomes a result that the model can read."""
        tool = self.tools.get(call.name)
        if tool is None and call.name in self.denied:
            return self._refused(denial())
        if tool is None:
            known = ", ".join(sorted(self.tools))
            return self._failed(f"There is no tool named {call.name[:64]!r}.", f"Use: {known}")
        try:
            arguments = tool.arguments.model_validate(_parse(call.arguments))
        except ValueError as error:
            failed = self._failed(_explain(error), "Correct the arguments and call it again.")
            return replace(failed, code="invalid_input", field=_first_field(error))
        shown = arguments.model_dump(mode="json", exclude_none=True)
        try:
            result = self._use(tool, arguments, call)
        except ToolFailure as failure:
            return self._refused(failure, shown, tool.is_search)
        except ComandaError as error:
            return self._refused(as_failure(error), shown, tool.is_search)
        except (SQLAlchemyError, OSError) as error:
            log.error("tool failed", tool=tool.name, error=type(error).__name__)
            message = "The library cannot be reached at the moment."
            return self._failed(
                message, "Say so and offer to try again.", False, shown, tool.is_search
            )
        except Exception as error:
            # A fault in a tool's own code is logged; the answer goes on without it.
            log.exception("tool broke", tool=tool.name, error=type(error).__name__)
            message = "This tool does not work at the moment."
            return self._failed(
                message, "Say so, or use another tool.", False, shown, tool.is_search
            )
        return ToolOutcome(
            True,
            result.told,
            shown,
            tool.is_search,
            result.parts,
            result.suggestions,
            result.final_text,
            result.by_words_alone,
            result.actions,
            question=result.question,
            has_taken=result.has_taken,
        )

    def _use(self, tool: Tool, arguments: Any, call: ToolCall) -> ToolResult:
        if isinstance(tool, ReadTool):
            return tool.run(arguments, replace(self.context, take_steps=None))
        if isinstance(tool, ThreadTool):
            if self.context.take_steps is None:
                message = "There is no conversation here that could be kept."
                raise ToolFailure(message, recoverable=False)
            return tool.run(arguments, self.context)
        if not isinstance(tool, WriteTool) or self.context.offer is None:
            raise ToolFailure("Nothing can be changed from here.", recoverable=False)
        draft = tool.propose(arguments, self.context)
        if call.wants_confirmation:
            draft = replace(draft, at_once=False)
        offered = self.context.offer(tool, draft)
        language = self.context.language
        if isinstance(offered.card, ReceiptPart):
            done = offered.card.summary[language]
            told = escape_markdown(done)
            return ToolResult({"done": done}, parts=[offered.card], final_text=told)
        assert isinstance(offered.card, ProposalPart)
        payload = {
            "proposal": {
                "summary": offered.draft.summary[language],
                "arguments": offered.draft.arguments.model_dump(mode="json", exclude_none=True),
            },
            "note": WAITING,
        }
        # What a model says of it comes before the question, and never in its place.
        said = call.confirmation_message or ("" if offered.draft.asks else None)
        return ToolResult(
            payload,
            parts=[offered.card],
            final_text=said,
            question=Question(offered.asks[language], about_proposal(offered.card.proposal_id)),
        )

    def read_block(self, name: str, value: Any) -> ToolResult:
        """What a block of JSON in the model's words comes to; nothing where it cannot be had."""
        try:
            return self.blocks[name](value, self.context)
        except Exception as error:
            log.exception("block not read", block=name, error=type(error).__name__)
            return ToolResult({})

    def refuse(self, call: ToolCall) -> ToolOutcome:
        """What a call gets that was one too many; nothing is run."""
        # What a model calls a tool that there is not may be words of the conversation.
        known = call.name if call.name in self.tools else "unknown"
        log.warning("too many calls at once", tool=known)
        return self._failed("That was too much at once.", "Ask for what you need most.")

    def _refused(
        self, failure: ToolFailure, arguments: Any = None, is_search: bool = False
    ) -> ToolOutcome:
        """What came of a call that the tool could not do, with what it has to say to people."""
        outcome = self._failed(
            str(failure), failure.suggestion, failure.recoverable, arguments, is_search
        )
        payload = {**outcome.payload, **({"say": failure.say} if failure.say else {})}
        return replace(
            outcome,
            payload=payload,
            suggestions=failure.chips,
            final_text="" if failure.question else None,
            question=failure.question,
            code=failure.code,
            field=failure.field,
        )

    def _failed(
        self,
        message: str,
        suggestion: str = "",
        recoverable: bool = True,
        arguments: Any = None,
        is_search: bool = False,
    ) -> ToolOutcome:
        self.errors += 1
        payload = {"error": True, "message": message, "recoverable": recoverable}
        if suggestion:
            payload["suggestion"] = suggestion
        return ToolOutcome(False, payload, arguments, is_search)


def _parse(arguments: str) -> Any:
    """Arguments as models send them, their texts cleaned; an empty text means no arguments.

    What is no number in JSON is refused, for neither a query nor the trace could keep it.

    Raises:
        ValueError: they are no JSON; TooMuch, where they are too long, too many, or nested too
            deeply.
    """
    if len(arguments) > LONGEST_ARGUMENTS:
        raise TooMuch(f"longer than {LONGEST_ARGUMENTS} characters")
    return clean_value(parse_json(arguments, most_values=MOST_VALUES)) if arguments.strip() else {}


def _first_field(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return ""
    return ".".join(str(step) for step in error.errors(include_url=False)[0]["loc"])


def _explain(error: ValueError) -> str:
    if isinstance(error, TooMuch):
        return f"The arguments are not valid JSON that can be read: {error}."
    if not isinstance(error, ValidationError):
        return "The arguments are not valid JSON."
    problems = (
        f"{'.'.join(str(step) for step in problem['loc']) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    )
    return "; ".join(problems)[:500]


def as_failure(error: ComandaError) -> ToolFailure:
    """What people are told on pages, said in a conversation."""
    told = _(error.message, **error.told(reader_language()))
    code = _CODES.get(error.code, error.code)
    return ToolFailure(told, say=told, code=code, field=error.field or "")


def denial() -> ToolFailure:
    """What this person's role may not do."""
    return ToolFailure(
        "This person's role does not allow that.",
        recoverable=False,
        suggestion="Say so, and that a manager can do it.",
        say=_("Your role in this group does not allow that. Ask a manager."),
        code="forbidden",
    )
