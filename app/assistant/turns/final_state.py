"""How a reply ends: its last state, the sources that it cites, what is said where it failed.

Before that come the question that the conversation waits with, and the chips that skills offer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from textwrap import shorten
from typing import Any

import structlog
from flask_babel import force_locale
from flask_babel import gettext as _
from sqlalchemy.exc import SQLAlchemyError

from app.assistant.models import Message
from app.assistant.proposals.consent import Question, load_asked
from app.assistant.proposals.proposals import latest_proposal
from app.assistant.threads.branches import path_up
from app.assistant.tools.parts import NoticePart, Suggestion
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import ToolContext
from app.assistant.turns.citations import cited_numbers
from app.assistant.turns.context import TurnContext
from app.assistant.turns.delivery import relay
from app.assistant.turns.loop import PartReady
from app.assistant.turns.outcome import TurnOutcome
from app.assistant.turns.writer import ReplyWriter
from app.db import ScopedSession
from app.text.markdown import join_paragraphs, paragraph_after

log = structlog.get_logger(__name__)
# What a yes would do is drawn again after so many messages, some screens of a phone.
NEAR_MESSAGES = 6
LONGEST_CHIP = 60


def settle(writer: ReplyWriter, language: str, started: float, outcome: TurnOutcome) -> TurnOutcome:
    """Write the reply's last state, with a notice where it did not end well; returns it timed."""
    _keep_cited(writer)
    if outcome.status in ("failed", "interrupted"):
        with force_locale(language):
            notice = NoticePart(kind="unavailable", text=_trouble(outcome.code, outcome.status))
        writer.parts.append(notice.model_dump(mode="json"))
    first = writer.first_token_at
    timed = replace(
        outcome,
        first_token_ms=None if first is None else round((first - started) * 1000),
        latency_ms=round((time.monotonic() - started) * 1000),
    )
    writer.finish(timed)
    return timed


def cut_notice() -> NoticePart:
    """What stands below a reply that has reached the greatest length, in the current language."""
    return NoticePart(
        kind="limit",
        text=_(
            "This answer has reached the maximum length and ends here. Ask about the "
            "part you need more of."
        ),
    )


def broken_off(writer: ReplyWriter) -> str:
    """With words on the page the reply is interrupted; without any it failed."""
    return "interrupted" if writer.text else "failed"


def _trouble(code: str, status: str) -> str:
    """What to tell a person whose reply could not be finished."""
    if status == "interrupted":
        return _("The answer was cut off here. Your question is saved; try again.")
    if code == "rate_limited":
        return _("The language model is busy. Your question is saved; try again in a minute.")
    if code == "refused":
        return _(
            "The language model does not accept our key or model name. Tell an "
            "admin; your question is saved."
        )
    if code == "declined":
        return _(
            "The language model did not accept this question. Your question is "
            "saved; try other words, or make it shorter."
        )
    if code == "malformed":
        return _(
            "The language model gave an answer that could not be read. Your question "
            "is saved; try again, and tell an admin if it keeps happening."
        )
    if code == "no_member":
        return _("You are no longer in this group, so the assistant does not answer you.")
    if code == "internal":
        return _("Something went wrong on our side. Your question is saved; try again.")
    return _("The language model cannot be reached. Your question is saved; try again.")


def _keep_cited(writer: ReplyWriter) -> None:
    """Leave out the sources that the reply does not cite; the numbers stay as they are."""
    cited = set(cited_numbers(writer.text))
    writer.ledger.citations[:] = [c for c in writer.ledger.citations if c.number in cited]


def find_suggestions(
    registry: Registry,
    transaction: Callable[[], AbstractContextManager[ScopedSession]],
    message: str,
    context: TurnContext,
    *,
    offered: Collection[str],
    used: Collection[str],
) -> tuple[Suggestion, ...]:
    """What the message wants besides, and the chips of skills whose tool was not used.

    Small talk, for which no tool ran, is offered nothing else. What cannot be had is left out.
    """
    rest, language = context.rest, context.language
    label = shorten(rest, LONGEST_CHIP, placeholder="…")
    following = (Suggestion(label=label, message=rest),) if rest else ()
    wanted = [
        source
        for tool, source in registry.suggestions.items()
        if used and tool in offered and tool not in used
    ]
    if not wanted:
        return following
    try:
        with transaction() as session:
            chips = (chip for source in wanted for chip in source(session, message, language))
            return (*following, *chips)
    except SQLAlchemyError as error:
        log.warning("nothing offered", error=type(error).__name__)
        return following


def ask_again(
    registry: Registry,
    context: ToolContext,
    message: Message,
    hinted: str | None,
    writer: ReplyWriter,
) -> str:
    """Let the reply end in what the conversation waits for, whatever a model said; its name.

    `hinted` is the question that the built-in assistant has ended in already, "" for none. What a
    yes would do is said with the question, whatever was said in between; the part that shows it is
    drawn again unless the reply before had it and asked the same.
    """
    if hinted == "":
        return ""
    with context.transaction() as session:
        question = _pending(registry, session, context)
        is_known = question is not None and _is_before_them(session, message, question)
    # What only collects a model asks itself, in its own words.
    if question is None or not question.about or (hinted and question.about != hinted):
        return hinted or ""
    if hinted and is_known:
        return hinted
    for part in () if is_known else question.parts:
        relay(PartReady(part), writer, registry, context.language)
    text = join_paragraphs(question.words, question.markdown)
    # A model that writes the same words may have hidden them, in a fence for example.
    if not (hinted and writer.text.endswith(text)):
        writer.add_text(paragraph_after(writer.text, text))
    return question.about


def lead_back(
    registry: Registry, context: ToolContext, message: Message, writer: ReplyWriter
) -> str:
    """Let a reply that says what was decided end in what the conversation waits for; its name.

    Whoever says no to what a skill proposed is asked by that reply already.
    """
    with context.transaction() as session:
        decided = latest_proposal(session, message.thread_id)
        question = _pending(registry, session, context, decided.tool if decided else "")
    if question is None:
        return ""
    for part in question.parts:
        relay(PartReady(part), writer, registry, context.language)
    text = join_paragraphs(question.words, question.markdown)
    writer.add_text(paragraph_after(writer.text, text))
    return question.about


def _pending(
    registry: Registry, session: ScopedSession, context: ToolContext, decided: str = ""
) -> Question | None:
    """What waits for an answer, of the skills that do not have the tool which was `decided`."""
    sources = (
        source
        for skill in registry.skills
        if decided not in {tool.name for tool in skill.tools}
        for source in skill.questions.values()
    )
    found = (source(session, context) for source in sources)
    return next((each for each in found if each is not None), None)


def _is_before_them(session: ScopedSession, message: Message, question: Question) -> bool:
    """Whether the reply before asked the same, and what a yes would do was drawn just before."""
    if load_asked(session, message) != question.about or message.parent_id is None:
        return False
    drawn = {part.type for part in question.parts}
    replies = path_up(session, message.parent_id, NEAR_MESSAGES)
    return any(
        reply.asked == question.about and drawn <= {part.get("type") for part in reply.parts}
        for reply in replies
    )


def asked_by_hints(hints: Mapping[str, Any], said: str) -> str:
    """The skill's question that the built-in assistant has ended in; no model is told of it."""
    words = hints.get("lead_back") or hints.get("reply") or ""
    return str(hints["asks"]) if "asks" in hints and said.endswith(str(words)) else ""
