"""One turn as it would be answered with some prompt rows, without leaving a trace.

It is the very turn that the chat runs: the same context, tools, provider and loop. Nothing
is stored or counted, transactions can only read, and what a writing tool proposes is shown
and never offered for confirmation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import structlog
from flask_babel import force_locale
from sqlalchemy import text

from app.accounts.group_settings import load_region_and_emergency_number
from app.assistant.models import Message, Prompt, Turn
from app.assistant.prompts.editor import estimate_tokens
from app.assistant.prompts.expectations import Expectation
from app.assistant.proposals.decisions import ask_whether_to_do_it
from app.assistant.providers.base import Provider, ProviderError
from app.assistant.threads.steps import TurnSteps
from app.assistant.tools.parts import ProposalPart
from app.assistant.tools.tool import CitationLedger, Draft, Offered, ToolContext, WriteTool
from app.assistant.tools.toolbox import Toolbox
from app.assistant.turns.context import build_context
from app.assistant.turns.crisis import is_crisis, support_in_crisis
from app.assistant.turns.final_state import cut_notice
from app.assistant.turns.loop import Finished, PartReady, Text, ToolFinished, run_turn, trace_entry
from app.assistant.turns.model_request import denied_tools, model_request, offered_tools
from app.db import Database, Scope, ScopedSession, new_id, utc_now
from app.extensions import Services

log = structlog.get_logger()


class Cancelled(Exception):
    """Nobody waits for this rehearsal any more."""


@dataclass(frozen=True)
class Sentence:
    """What is asked, in which language and place, and what is expected of the answer."""

    text: str
    language: str
    domain: str = "manual"
    action: str = ""
    expect: Expectation | None = None

    @property
    def request(self) -> dict[str, str]:
        return {"domain": self.domain, "action": self.action}


@dataclass
class Rehearsal:
    """How one sentence went; `error` is a provider's code, or empty."""

    answer: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    provider: str = ""
    error: str = ""
    milliseconds: int = 0
    first_words_ms: int | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    prompt_tokens: int = 0
    misses: list[tuple[str, str]] | None = None

    def hear(self, event: Any, began: float) -> None:
        """Take in one event of the turn."""
        if isinstance(event, Text):
            if self.first_words_ms is None:
                self.first_words_ms = since(began)
            self.answer += event.text
        elif isinstance(event, ToolFinished):
            self.calls.append(trace_entry(event))
        elif isinstance(event, PartReady):
            self.parts.append(event.part.model_dump(mode="json"))
        elif isinstance(event, Finished):
            self.tokens_in, self.tokens_out = event.tokens_in, event.tokens_out
            if event.is_cut:
                self.parts.append(cut_notice().model_dump(mode="json"))

    def judge(self, expect: Expectation | None) -> None:
        """Compare with what was expected, if anything was."""
        if expect is None:
            return
        reply = Message(content=self.answer, parts=self.parts, tool_trace=self.calls)
        missed = [("failed", self.error)] if self.error else []
        self.misses = missed + [(miss.kind, miss.what) for miss in expect.misses(reply)]


def rehearse(
    services: Services,
    provider: Provider,
    scope: Scope,
    sentence: Sentence,
    rows: Sequence[Prompt],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Rehearsal:
    """Answer `sentence` for `scope` as if the group's prompt rows were `rows`.

    Needs a request context, because replies contain links.

    Raises:
        Cancelled: `is_cancelled` said so.
    """
    result, began = Rehearsal(provider=provider.name), time.monotonic()
    try:
        with force_locale(sentence.language):
            _converse(services, provider, scope, sentence, rows, is_cancelled, result)
    except ProviderError as error:
        result.error = error.code
    except Cancelled:
        raise
    except Exception as error:
        log.exception("rehearsal failed", error=type(error).__name__)
        result.error = "internal"
    result.milliseconds = since(began)
    result.judge(sentence.expect)
    return result


def since(began: float) -> int:
    """Milliseconds since a moment of the monotonic clock."""
    return round((time.monotonic() - began) * 1000)


def _converse(
    services: Services,
    provider: Provider,
    scope: Scope,
    sentence: Sentence,
    rows: Sequence[Prompt],
    is_cancelled: Callable[[], bool],
    result: Rehearsal,
) -> None:
    if is_crisis(sentence.text):
        with services.database.transaction(scope) as session:
            result.answer = support_in_crisis(*load_region_and_emergency_number(session))
        return
    began = time.monotonic()
    deadline = began + services.settings.ai_turn_timeout_seconds
    transaction = partial(_looking_only, services.database, scope)
    turn, question = _unstored(scope, sentence)
    found = build_context(
        transaction,
        services.registry,
        turn,
        question,
        TurnSteps(question).before,
        hints=provider.uses_hints,
    )
    context = replace(found, prompts=tuple(rows))
    request = model_request(services.registry, context, sentence.request, scope.role)
    result.prompt_tokens = estimate_tokens(request.messages[0].text)
    toolbox = Toolbox(
        offered_tools(services.registry, context, scope.role),
        ToolContext(
            scope,
            context.language,
            transaction,
            CitationLedger(),
            context.profile,
            {"embedder": services.embedder},
            _show,
        ),
        services.registry.blocks,
        denied_tools(services.registry, context, scope.role),
    )
    with closing(run_turn(request, provider, toolbox)) as events:
        for event in events:
            result.hear(event, began)
            if is_cancelled():
                raise Cancelled
            if time.monotonic() > deadline:
                raise ProviderError("timeout")


@contextmanager
def _looking_only(database: Database, scope: Scope) -> Iterator[ScopedSession]:
    """A transaction in which the database itself refuses every write."""
    with database.transaction(scope) as session:
        session.execute(text("SET TRANSACTION READ ONLY"))
        yield session


def _unstored(scope: Scope, sentence: Sentence) -> tuple[Turn, Message]:
    """A question as the context wants it, which follows nothing and is never stored."""
    thread_id = new_id()
    question = Message(
        id=new_id(),
        group_id=scope.group_id,
        user_id=scope.user_id,
        thread_id=thread_id,
        parent_id=None,
        role="user",
        content=sentence.text,
        language=sentence.language,
    )
    owner = {"group_id": scope.group_id, "user_id": scope.user_id}
    turn = Turn(thread_id=thread_id, request=sentence.request, **owner)
    return turn, question


def _show(tool: WriteTool, draft: Draft) -> Offered:
    """The card of a proposal that exists nowhere, so that nobody can confirm it."""
    card = ProposalPart(
        proposal_id=new_id(),
        tool=tool.name,
        summary=dict(draft.summary),
        details={language: list(pairs) for language, pairs in draft.details.items()},
        state="pending",
        reason="",
        expires_at=utc_now(),
    )
    return Offered(card, draft, draft.asks or ask_whether_to_do_it())
