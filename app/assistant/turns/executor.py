"""One claimed turn, from its row in the database to a finished reply."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from flask_babel import force_locale
from flask_babel import gettext as _
from redis import RedisError
from sqlalchemy import bindparam, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.group_settings import load_region_and_emergency_number
from app.assistant.models import Message, Turn, own
from app.assistant.proposals.consent import hearing_of
from app.assistant.proposals.decisions import (
    NO_MODEL,
    ask_once_more,
    close_what_was_left,
    decide_in_words,
    is_still_open,
    offer_in,
    start_over,
    take_nothing,
    take_steps,
    tell_what_was_done,
    undo_in_words,
)
from app.assistant.providers.base import Provider, ProviderError
from app.assistant.threads.steps import TurnSteps
from app.assistant.tools.parts import Citation, Suggestion
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import CitationLedger, Profile, ToolContext
from app.assistant.tools.toolbox import Toolbox
from app.assistant.turns.context import NO_PROFILE, TurnContext, build_context
from app.assistant.turns.crisis import is_crisis, support_in_crisis
from app.assistant.turns.delivery import relay
from app.assistant.turns.denials import deny_claims
from app.assistant.turns.events import RESET, EventLog
from app.assistant.turns.final_state import (
    ask_again,
    asked_by_hints,
    broken_off,
    cut_notice,
    find_suggestions,
    lead_back,
    settle,
)
from app.assistant.turns.loop import Finished, PartReady, run_turn
from app.assistant.turns.model_request import denied_tools, model_request, offered_tools
from app.assistant.turns.outcome import TurnOutcome, steps_of
from app.assistant.turns.turn_limits import MAX_ATTEMPTS
from app.assistant.turns.writer import Claim, LeaseLost, ReplyWriter
from app.db import Scope
from app.errors import ConfigurationError
from app.extensions import Services
from app.nlu.emergency import read_emergency
from app.observability import metrics
from app.text.markdown import paragraph_after

# Who is told to have answered where nobody had to be asked.
FAST_PATH = "fast_path"
# Made once, because every turn begins with it.
_CLAIMED = (
    select(Turn, Message)
    .join(Message, Message.id == Turn.user_message_id)
    .where(
        Turn.id == bindparam("turn"),
        Turn.group_id == bindparam("group"),
        Turn.user_id == bindparam("person"),
    )
)
Later = Callable[[float, Callable[[], None]], object]
log = structlog.get_logger()


class TurnStopped(BaseException):
    """The person pressed stop (or the turn's time is over); raised inside the turn.

    A BaseException, so that no tool or provider takes it for one of its own failures.
    """


class TurnTimedOut(TurnStopped):
    """The whole-turn limit was reached."""


@dataclass(frozen=True)
class ClaimedTurn:
    """What claiming returned: the turn, its fence, and for whom it runs."""

    turn_id: UUID
    fence: int
    attempts: int
    scope: Scope


def execute_turn(
    services: Services,
    provider: Provider,
    claimed: ClaimedTurn,
    settling: Callable[[], None] = lambda: None,
    later: Later | None = None,
    standby: Provider | None = None,
    rest: Callable[[float], object] | None = None,
) -> str:
    """Answer a claimed turn to its end; returns the reply's status ("lost" for a lost lease).

    Whatever fails becomes a reply that says what to do next. `settling` is called once
    the reply is decided: from then on the turn must not be stopped any more. `later` calls
    something after some seconds, for words that wait to be sent; `rest` lets other turns go
    on while they do. `standby` takes the turn
    when the provider fails before its first word. Needs a request context, because replies
    contain links.
    """
    started = time.monotonic()
    turn, question = _load(services, claimed)
    writer = _writer(services, claimed, turn, later, rest)
    with structlog.contextvars.bound_contextvars(
        turn=str(claimed.turn_id),
        thread=str(turn.thread_id),
        request=turn.request.get("request_id", ""),
    ):
        try:
            answerers = [provider, standby] if standby else [provider]
            outcome = _answer(services, answerers, claimed, turn, question, writer)
            settling()
            outcome = _with_what_was_done(services.registry, writer, question, outcome)
            outcome = settle(writer, question.language, started, outcome)
        except LeaseLost:
            log.warning("lease lost", fence=claimed.fence)
            return "lost"
        log.info(
            "turn",
            status=outcome.status,
            provider=outcome.provider,
            attempts=claimed.attempts,
            tools=len(writer.trace),
            characters=len(writer.text),
            milliseconds=outcome.latency_ms,
        )
        metrics.count_turn(
            outcome.status,
            outcome.provider,
            degraded=outcome.degraded,
            latency_ms=outcome.latency_ms,
            first_token_ms=outcome.first_token_ms,
        )
        return outcome.status


def _with_what_was_done(
    registry: Registry, writer: ReplyWriter, question: Message, outcome: TurnOutcome
) -> TurnOutcome:
    """A reply that broke off shows what it did; one without a word has done that and no more.

    Whoever reads that it failed, or has stopped it, has been told of nothing else, but for what
    its words claim.
    """
    if outcome.status == "complete":
        return outcome
    had_words = bool(writer.text.strip())
    if had_words:
        with force_locale(question.language):
            deny_claims(registry, writer, question)
    else:
        take_nothing(writer)
    is_told = tell_what_was_done(writer, question.language) and not had_words
    if outcome.status == "stopped" or not is_told:
        return outcome
    return replace(outcome, status="complete", code="", finished=NO_MODEL)


def _load(services: Services, claimed: ClaimedTurn) -> tuple[Turn, Message]:
    scope = claimed.scope
    whose = {"turn": claimed.turn_id, "group": scope.group_id, "person": scope.user_id}
    with services.database.transaction(scope) as session:
        turn, question = session.execute(_CLAIMED, whose).one()
        return turn, question


def _writer(
    services: Services,
    claimed: ClaimedTurn,
    turn: Turn,
    later: Later | None,
    rest: Callable[[float], object] | None,
) -> ReplyWriter:
    claim = Claim(claimed.turn_id, turn.thread_id, turn.reply_message_id, claimed.fence)
    return ReplyWriter(
        claim,
        lambda: services.database.transaction(claimed.scope),
        EventLog(services.redis),
        CitationLedger(),
        later=later,
        rest=rest,
    )


def _answer(
    services: Services,
    answerers: Sequence[Provider],
    claimed: ClaimedTurn,
    turn: Turn,
    question: Message,
    writer: ReplyWriter,
) -> TurnOutcome:
    """Let the first that can answer; whatever fails is the outcome's status and code."""
    mode = "action" if turn.request.get("action") else "search"
    outcome = TurnOutcome(mode).by(answerers[0])
    try:
        with force_locale(question.language):
            finished = _begin(services, claimed, turn, question, writer)
            if finished is None:
                finished = _settle_without_model(services, claimed, writer, question)
                outcome = TurnOutcome("action", FAST_PATH) if finished else outcome
            waiting = [*answerers]
            while finished is None:
                provider = waiting.pop(0)
                outcome = outcome.by(provider, degraded=provider is not answerers[0])
                finished = _converse_unless_away(
                    services, provider, claimed, turn, question, writer, is_last=not waiting
                )
        return replace(outcome, finished=finished)
    except TurnTimedOut:
        return replace(outcome, status=broken_off(writer), code="timeout")
    except TurnStopped:
        return replace(outcome, status="stopped")
    except ProviderError as error:
        log.warning("provider failed", provider=outcome.provider, code=error.code)
        return replace(outcome, status=broken_off(writer), code=error.code)
    except ConfigurationError as error:
        # Its text is for the operator, and holds nothing that somebody wrote.
        log.error("turn failed", error=type(error).__name__, why=str(error))
        return replace(outcome, status=broken_off(writer), code="internal")
    except Exception as error:
        log.exception("turn failed", error=type(error).__name__)
        return replace(outcome, status=broken_off(writer), code="internal")


def _settle_without_model(
    services: Services, claimed: ClaimedTurn, writer: ReplyWriter, question: Message
) -> Finished | None:
    """What must not wait for a model, nor hang on one; None where one is to be asked."""
    if question.internal_content is None and is_crisis(question.content):
        before = select(Message.content).where(Message.id == question.parent_id)
        with writer.transaction() as session:
            asked = session.scalar(before.where(*own(session, Message)))
            place = load_region_and_emergency_number(session)
        is_answer = "?" in (asked or "")
        if is_crisis(question.content, is_answer=is_answer):
            writer.add_text(support_in_crisis(*place))
            return NO_MODEL
    registry = services.registry
    decided = decide_in_words(writer, registry, question)
    decided = decided or undo_in_words(writer, registry, question)
    if decided is None:
        return None
    steps = TurnSteps(question, writer.claim.reply_id)
    context = _tool_context(services, claimed, question, writer, steps)
    try:
        return replace(decided, asked=lead_back(registry, context, question, writer))
    except SQLAlchemyError as error:
        # What was decided stands, and is told already.
        log.warning("not led back", error=type(error).__name__)
        return decided


def _converse_unless_away(
    services: Services,
    provider: Provider,
    claimed: ClaimedTurn,
    turn: Turn,
    question: Message,
    writer: ReplyWriter,
    *,
    is_last: bool,
) -> Finished | None:
    """The turn by this provider; None where the next one should begin it from nothing.

    Raises:
        ProviderError: it failed, and nobody can take its place.
    """
    try:
        return _converse(services, provider, claimed, turn, question, writer)
    except ProviderError as error:
        if not writer.text.strip() and tell_what_was_done(writer, question.language):
            return NO_MODEL
        # Words that somebody has read are never taken back for others; and a model that
        # answers, but in no form that can be read, is an admin's to change.
        if is_last or writer.text.strip() or error.code == "malformed":
            raise
        log.warning("standing in", failed=provider.name, code=error.code)
    begun = bool(writer.text or writer.trace or writer.parts)
    if begun and not _start_over(services, claimed, turn, writer):
        tell_what_was_done(writer, question.language)
        return NO_MODEL
    return None


def _begin(
    services: Services, claimed: ClaimedTurn, turn: Turn, question: Message, writer: ReplyWriter
) -> Finished | None:
    """Tell readers that this reply is on its way, from nothing when it was taken over.

    What it proposed may have been confirmed before its runner died: then what was said
    stands, and the turn is over.
    """
    if turn.stop_requested or claimed.attempts > MAX_ATTEMPTS:
        _take_up(services, claimed, turn, writer)
    if turn.stop_requested:
        raise TurnStopped
    if claimed.attempts > MAX_ATTEMPTS:
        raise ProviderError("interrupted", "given up after too many tries")
    if claimed.scope.role == "":
        raise ProviderError("no_member", "no longer in the group")
    if claimed.attempts > 1 and not _start_over(services, claimed, turn, writer):
        _take_up(services, claimed, turn, writer)
        # Its runner may have died before it told of it.
        tell_what_was_done(writer, question.language)
        return NO_MODEL
    writer.publish("message", {"role": "assistant", "status": "streaming"})
    return None


def _start_over(services: Services, claimed: ClaimedTurn, turn: Turn, writer: ReplyWriter) -> bool:
    """Forget what was written so far, here and on the pages that show it.

    False, and nothing is forgotten, where the reply has done something.
    """
    with services.database.transaction(claimed.scope) as session:
        if not start_over(session, writer):
            return False
        writer.clear()
        session.execute(
            update(Message)
            .where(Message.id == turn.reply_message_id, *own(session, Message))
            .values(content="", parts=[], citations=[], tool_trace=[])
        )
    try:
        writer.publish(RESET, {})
    except RedisError as error:
        # Who reads along gets the whole reply when it is done; the answer need not fail.
        log.warning("start not told", error=type(error).__name__)
    return True


def _take_up(services: Services, claimed: ClaimedTurn, turn: Turn, writer: ReplyWriter) -> None:
    """Start from what a runner before this one had written."""
    with services.database.transaction(claimed.scope) as session:
        its_reply = (Message.id == turn.reply_message_id, *own(session, Message))
        reply = session.scalars(select(Message).where(*its_reply)).one()
    writer.text, writer.parts, writer.trace = reply.content, reply.parts, reply.tool_trace
    writer.ledger.citations = [Citation.model_validate(each) for each in reply.citations]
    writer.steps = steps_of(reply.tool_trace, services.registry.tools)


def _converse(
    services: Services,
    provider: Provider,
    claimed: ClaimedTurn,
    turn: Turn,
    question: Message,
    writer: ReplyWriter,
) -> Finished:
    transaction = partial(services.database.transaction, claimed.scope)
    steps = TurnSteps(question, turn.reply_message_id)
    context = build_context(
        transaction, services.registry, turn, question, steps.before, hints=provider.uses_hints
    )
    if provider.uses_hints and context.has_proposal:
        once_more = ask_once_more(writer, question, context.hints)
        if once_more is not None:
            return once_more
    toolbox = Toolbox(
        offered_tools(services.registry, context, claimed.scope.role),
        _tool_context(services, claimed, question, writer, steps, context.profile, context.memo),
        services.registry.blocks,
        denied_tools(services.registry, context, claimed.scope.role),
    )
    writer.is_a_models = not provider.uses_hints
    finished: Finished | None = None
    request = model_request(services.registry, context, turn.request, claimed.scope.role)
    rest = writer.rest or (lambda _seconds: None)
    still_asks = partial(is_still_open, writer)
    with closing(run_turn(request, provider, toolbox, rest=rest, still_asks=still_asks)) as events:
        for event in events:
            if isinstance(event, Finished):
                finished = event
            else:
                relay(event, writer, services.registry, context.language)
    assert finished is not None
    if finished.is_cut:
        relay(PartReady(cut_notice()), writer, services.registry, context.language)
    # Its card may have been confirmed by its button while the reply was written.
    is_told = bool(writer.text.strip()) or tell_what_was_done(writer, question.language)
    if not is_told and not writer.parts:
        # A model that wants nothing but tools to its last call still owes the person words.
        writer.add_text(_("I could not put an answer together. Ask again in other words."))
    deny_claims(services.registry, writer, question, finished.question)
    hinted = asked_by_hints(context.hints, writer.text) if provider.uses_hints else None
    if context.has_proposal:
        own = str(context.hints.get("reply") or "") if provider.uses_hints else ""
        is_own = bool(own) and writer.text.rstrip().endswith(own.rstrip())
        _set_aside(writer, question, is_asked=bool(finished.asked or hinted or is_own))
    chips = find_suggestions(
        services.registry,
        transaction,
        question.content.removesuffix(context.rest),
        context,
        offered=toolbox.tools,
        used={entry["tool"] for entry in writer.trace},
    )
    asked = finished.asked
    if not asked and not finished.is_cut:
        asked = ask_again(services.registry, toolbox.context, question, hinted, writer)
    return replace(finished, suggestions=_in_order(context, finished, chips), asked=asked)


def _in_order(
    context: TurnContext, finished: Finished, chips: tuple[Suggestion, ...]
) -> tuple[Suggestion, ...]:
    """What is wanted besides comes first: on a phone the last of several is out of sight."""
    return chips + finished.suggestions if context.rest else finished.suggestions + chips


def _set_aside(writer: ReplyWriter, question: Message, *, is_asked: bool) -> None:
    """Set aside what the person has gone on from, and say so unless the reply ends in a question
    that a skill or a tool asks.

    Whoever says "yes" to it later would think that it was done.
    """
    if not close_what_was_left(writer, question.created_at) or is_asked:
        return
    if not read_emergency(question.content, question.language):
        told = _(
            "My earlier proposal is set aside. Press “Bring it back” on its card to open it again."
        )
        writer.add_text(paragraph_after(writer.text, told))


def _tool_context(
    services: Services,
    claimed: ClaimedTurn,
    question: Message,
    writer: ReplyWriter,
    steps: TurnSteps,
    profile: Profile = NO_PROFILE,
    memo: dict[Any, Any] | None = None,
) -> ToolContext:
    hear = hearing_of(question, steps.before)
    return ToolContext(
        claimed.scope,
        question.language,
        partial(services.database.transaction, claimed.scope),
        writer.ledger,
        profile,
        {"embedder": services.embedder},
        partial(offer_in, writer, services.registry, hear),
        question.thread_id,
        question.id,
        writer.claim.reply_id,
        partial(take_steps, writer, services.registry, hear, steps),
        steps.now,
        {} if memo is None else memo,
    )


def claim_turns(services: Services, runner_id: str, most: int) -> list[ClaimedTurn]:
    """Take up to `most` waiting turns (or abandoned ones) for this runner, few of one person."""
    lease, of_one = services.settings.turn_lease_seconds, services.settings.turns_per_person
    with services.database.transaction() as session:
        rows = session.execute(
            select("*").select_from(func.claim_turns(runner_id, lease, most, of_one))
        ).all()
    return [
        ClaimedTurn(
            row.turn_id, row.fence, row.attempts, Scope(row.group_id, row.user_id, row.role)
        )
        for row in rows
    ]
