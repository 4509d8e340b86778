"""How a reply ends: its last state, the sources that it cites, what is said where it failed.

Before that come the question that the conversation waits with, and the chips that skills offer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import structlog
from flask_babel import force_locale
from flask_babel import gettext as _
from sqlalchemy.exc import SQLAlchemyError

from app.assistant.models import Message
from app.assistant.proposals.consent import Question, load_asked
from app.assistant.proposals.proposals import (
    is_anything_done,
    latest_proposal,
    tools_done_by,
)
from app.assistant.threads.branches import path_up
from app.assistant.threads.steps import load_taken
from app.assistant.tools.parts import NoticePart, Suggestion
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import ReadTool, ThreadTool, Tool, ToolContext, WriteTool
from app.assistant.turns.citations import cited_numbers
from app.assistant.turns.delivery import relay
from app.assistant.turns.loop import PartReady
from app.assistant.turns.outcome import TurnOutcome
from app.assistant.turns.writer import ReplyWriter
from app.config import LANGUAGES
from app.db import ScopedSession
from app.nlu.claims import claimed_kinds, says_done, says_sent
from app.text.markdown import join_paragraphs, paragraph_after

log = structlog.get_logger(__name__)
# Kinds of claims about what others have of it; beside them it may be told in whatever words.
_FOR_OTHERS = {"filed", "told", "cancelled", "taken_back"}
# What a tap on a widget may have settled.
_BY_WIDGET = {"noted", "added", "cancelled", "deleted"}
# What a yes would do is drawn again after so many messages, some screens of a phone.
NEAR_MESSAGES = 6


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


def deny_claims(
    registry: Registry, writer: ReplyWriter, message: Message, question: str = ""
) -> None:
    """Where a model says that it did something, and has called no tool that does, say so.

    Its person would believe it, and has only the receipt that is missing to go by. What they
    have settled with a widget needs no tool: it is kept, or cancelled, and gone out to nobody. The
    reply ends in its `question` all the same: what they say next is read as the answer to its last
    line.
    """
    if not writer.is_a_models:
        return
    claimed = frozenset().union(*(claimed_kinds(writer.text, each) for each in LANGUAGES))
    ran = [(registry.tools[each["tool"]], each) for each in writer.trace if each["ok"]]
    used = [tool for tool, _entry in ran]
    if not claimed and not _says_done(writer.text, used):
        return
    with writer.transaction() as session:
        has_taken = bool(load_taken(session, writer.claim.reply_id))
        was_done = is_anything_done(session, writer.claim.reply_id)
        done = tools_done_by(session, writer.claim.reply_id)
    true_of = [
        tool
        for tool, entry in ran
        # What only proposes has done nothing yet: its card waits.
        if not isinstance(tool, WriteTool)
        and entry.get("took", True)
        and (has_taken or tool.conversation)
    ]
    # A card that was confirmed by its button while the reply was written is a receipt, too.
    done += [each["tool"] for each in writer.parts if each["type"] == "receipt"]
    true_of += [registry.tools[name] for name in done if name in registry.tools]
    so = {kind for tool in true_of for kind in tool.makes_true}
    is_for_others = bool(so & _FOR_OTHERS)
    if message.internal_content is not None:
        so |= _BY_WIDGET
    # Of what was done, the listed words tell what else was not; what was only kept was not sent.
    if so and claimed <= so and (is_for_others or not says_sent(writer.text)):
        return
    if so or any(isinstance(tool, WriteTool | ThreadTool) for tool in used):
        denied = _(
            "Not all of this has been done. What is filed, sent or added always has a card of its"
            " own."
        )
    elif was_done:
        # Who did it again would do it twice.
        denied = _(
            "Nothing new was saved or sent with this answer. The receipt for what "
            "was done before is above."
        )
    elif _has_looked_up(used):
        # It may be true of what was done elsewhere: who did it again would do it twice.
        denied = _("Nothing new was saved or sent with this answer: I only looked it up.")
    else:
        denied = _(
            "Nothing was saved or sent with this answer. If you still need it done, tell me again."
        )
    writer.add_text(paragraph_after(writer.text, denied))
    if question:
        writer.add_text(paragraph_after(writer.text, question))


def _says_done(text: str, used: Sequence[Tool]) -> bool:
    """Whether a reply claims something in words that are not listed.

    A card that waits says itself that nothing is done before it is confirmed.
    """
    if any(isinstance(tool, WriteTool) for tool in used):
        return False
    return says_done(text, has_looked_up=_has_looked_up(used))


def _has_looked_up(used: Sequence[Tool]) -> bool:
    """Whether the reply may tell of what it found; a form's tool fills in fields."""
    return any(isinstance(tool, ReadTool) and not tool.conversation for tool in used)


def find_suggestions(
    registry: Registry,
    transaction: Callable[[], AbstractContextManager[ScopedSession]],
    message: str,
    language: str,
    *,
    offered: Collection[str],
    used: Collection[str],
) -> tuple[Suggestion, ...]:
    """The chips of the skills whose tool could have been used and was not.

    Small talk, for which no tool ran, is offered nothing. What cannot be had is left out.
    """
    wanted = [
        source
        for tool, source in registry.suggestions.items()
        if used and tool in offered and tool not in used
    ]
    if not wanted:
        return ()
    try:
        with transaction() as session:
            return tuple(chip for source in wanted for chip in source(session, message, language))
    except SQLAlchemyError as error:
        log.warning("nothing offered", error=type(error).__name__)
        return ()


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
