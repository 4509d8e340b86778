"""Where a turn meets the thread's proposal: a plain yes or no decides it, other words close it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from flask_babel import force_locale
from flask_babel import gettext as _
from redis.exceptions import RedisError
from sqlalchemy import ColumnElement, Select, and_, or_, select

from app.assistant.models import Message, Proposal, own
from app.assistant.proposals.consent import (
    PROPOSAL,
    Hear,
    Question,
    about_proposal,
    check_steps,
    had_ended,
    load_done,
    load_question,
    shows_it_last,
    told_as_done,
)
from app.assistant.proposals.proposals import (
    call_off,
    confirm,
    decided_by,
    decline,
    latest_proposal,
    lock_thread,
    offer,
    open_in,
    pending_of,
    proposal_part,
    receipt_of,
    receipt_part,
    set_aside,
    state_at,
    undo,
    withdraw,
)
from app.assistant.threads.branches import IN_SIGHT, leads_to
from app.assistant.threads.steps import TurnSteps, forget_steps, keep_steps, load_taken
from app.assistant.tools.parts import Part
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import Draft, Offered, Texts, ToolFailure, WriteTool
from app.assistant.turns.loop import Finished
from app.assistant.turns.writer import ReplyWriter
from app.db import ScopedSession, utc_now
from app.errors import ComandaError, Conflict
from app.nlu.control import CANCEL, UNDO, Answer, listed_act, may_agree, may_be_answer, read_answer
from app.nlu.emergency import read_emergency
from app.text.bilingual import in_both, reader_language
from app.text.markdown import escape_markdown, join_paragraphs

# Tells pages to look at the cards that still offer something.
CHANGED = "proposals"
NO_MODEL = Finished((), 0, 0, 0)
log = structlog.get_logger()
# "Cancel it" names nothing.
_MOST_OF_CANCELLING = 2  # words


def offer_in(
    writer: ReplyWriter, registry: Registry, hear: Hear, tool: WriteTool, draft: Draft
) -> Offered:
    """Store a draft as the proposal of the reply that is being written, or do it at once.

    What the reply had proposed before with the same tool becomes part of it, where the tool
    can join the two. What the conversation had proposed about anything else is set aside.

    Raises:
        ToolFailure: the reply asks about something else already; one card is one yes.
    """
    claim = writer.claim
    with writer.transaction() as session:
        # The thread before the turn, as whoever changes a message takes them: else each could
        # wait for the other.
        lock_thread(session, claim.thread_id)
        writer.lock_turn(session)
        before = open_in(session, claim.thread_id)
        if before is not None and not _is_about_same(registry, before, tool, draft):
            if before.message_id == claim.reply_id:
                raise _one_at_a_time(before)
            set_aside(session, claim.thread_id)
        elif before is not None and (before.message_id, before.tool) == (claim.reply_id, tool.name):
            arguments = tool.arguments.model_validate(before.arguments)
            draft = tool.join(session, arguments, draft) or draft
        if draft.at_once and not _may_be_done_at_once(session, claim.reply_id, hear, tool, draft):
            draft = replace(draft, at_once=False)
        proposal = offer(session, tool, draft, thread_id=claim.thread_id, message_id=claim.reply_id)
        card: Part = proposal_part(proposal)
        if draft.at_once:
            card = receipt_part(confirm(session, registry, proposal.id))
    writer.publish(CHANGED, {})
    return Offered(card, draft, draft.asks or ask_whether_to_do_it())


def _is_about_same(registry: Registry, before: Proposal, tool: WriteTool, draft: Draft) -> bool:
    """Whether a draft is about what was proposed before, and so takes its place."""
    known = registry.tools.get(before.tool)
    if not isinstance(known, WriteTool):
        return False
    subject = known.subject(known.arguments.model_validate(before.arguments))
    return subject == tool.subject(draft.arguments) and bool(subject or known is tool)


def _one_at_a_time(before: Proposal) -> ToolFailure:
    said = _(
        "One thing at a time: I ask only about what the card shows. What else I was about to "
        "propose is left out; ask for it again afterwards."
    )
    asks = ask_whether_to_do_it()[reader_language()]
    return ToolFailure(
        "This reply proposes something else already, and its person can only say yes to one.",
        say=said,
        code="conflict",
        question=Question(asks, about_proposal(before.id), said),
    )


def ask_whether_to_do_it() -> Texts:
    """The question of a proposal that has none of its own."""
    return in_both(lambda _language: _("Should I do this?"))


def _may_be_done_at_once(
    session: ScopedSession, reply_id: UUID, hear: Hear, tool: WriteTool, draft: Draft
) -> bool:
    """Whether the message itself was the word for this write, and has let nothing be done yet."""
    if not tool.is_consented(session, draft.arguments, hear(session)):
        return False
    # Neither a second call nor the same question asked again writes twice unseen, or what was
    # declined.
    return not _was_offered_for(session, reply_id)


def take_steps(
    writer: ReplyWriter,
    registry: Registry,
    hear: Hear,
    known: TurnSteps,
    steps: Sequence[Mapping[str, Any]],
) -> None:
    """Keep steps with the reply that is being written; pages look at their cards again.

    `known` is what the tool that takes them has read of the conversation.

    Raises:
        ToolFailure, Conflict: their person has not consented to one of them, or something was
            done meanwhile; none is kept.
    """
    claim = writer.claim
    with writer.transaction() as session:
        lock_thread(session, claim.thread_id)
        writer.lock_turn(session)
        if known.have_changed(session):
            raise _done_meanwhile()
        taken = load_taken(session, claim.reply_id)
        check_steps(session, registry.consents, hear(session), taken, steps)
        keep_steps(session, claim.reply_id, steps)
    writer.publish(CHANGED, {})


def _done_meanwhile() -> ToolFailure:
    return ToolFailure(
        "Something was done in this conversation while this tool ran; nothing was taken.",
        suggestion="Read what the conversation holds now before anything else.",
        say=_(
            "Something else was done here at the same time, so I changed nothing. "
            "Look at what is above, and say it again if you still want it."
        ),
        code="conflict",
    )


def decide_in_words(writer: ReplyWriter, registry: Registry, question: Message) -> Finished | None:
    """Let a plain yes or no decide the pending proposal; None where there is nothing to decide.

    A turn that is run again (its runner died, somebody pressed Retry) finds what its
    question has decided, and tells it again without doing it again.
    """
    # What somebody posts with a widget answers that widget and nothing else.
    if question.internal_content is not None or not may_be_answer(question.content):
        return None
    tool = ""
    try:
        with writer.transaction() as session:
            asked, asked_in = load_question(session, question)
            answer = read_answer(question.content, asked_in)
            if answer is None:
                return None
            # The thread before the turn, as in `offer_in`: a "yes" takes both.
            lock_thread(session, writer.claim.thread_id)
            writer.lock_turn(session)
            proposal = _meant(session, question)
            if proposal is None or _is_for_its_skill(registry, proposal, answer, question):
                return None
            tool = proposal.tool
            if asked and asked != about_proposal(proposal.id):
                return None
            _require_shown(session, proposal, question, asked)
            decided = _decide(session, registry, proposal.id, answer, question.id)
    except ComandaError as error:
        log.info("proposal not decided", code=error.code)
        if _mends(registry, tool, error):
            return None
        _tell(writer, _(error.message, **error.params))
        return NO_MODEL
    if decided.undone_at is not None:
        # The answer is made again, after what it did was taken back.
        words = _("This has since been undone. Check the list before you ask for it again.")
        _tell(writer, words, receipt_part(decided))
    elif decided.state == "confirmed":
        _tell(writer, receipt_of(decided).summary[question.language], receipt_part(decided))
    else:
        # Its reply may have done something else.
        _tell(writer, _("All right. What the card showed was not done. What should be different?"))
    return NO_MODEL


def undo_in_words(writer: ReplyWriter, registry: Registry, question: Message) -> Finished | None:
    """Take back what the reply right before shows as done, where the message says that alone.

    Who cancels what is done, or says no to it, is told how. None elsewhere: what was done before
    something else was said may not be what is meant.
    """
    words = question.content
    if question.internal_content is not None or not may_be_answer(words):
        return None
    act = listed_act(words)
    if act not in (UNDO, CANCEL) and read_answer(words) != "no":
        return None
    undone, is_old = None, False
    try:
        with writer.transaction() as session:
            lock_thread(session, writer.claim.thread_id)
            writer.lock_turn(session)
            done = _done_just_before(session, question)
            if done is None:
                return None
            if act == UNDO and done.undo_until is not None:
                # What came of it since (a manager has restored it, for example) nobody undoes.
                is_old = done.undone_at is not None and done.undone_at < question.created_at
                undone = undo(session, registry, done.id)
            elif done.undone_at is not None or not shows_it_last(
                session, done.message_id, question
            ):
                return None
            elif done.undo_until is None and len(words.split()) > _MOST_OF_CANCELLING:
                # "Cancel the request" is for its skill.
                return None
    except ComandaError as error:
        _tell(writer, _(error.message, **error.params))
        return NO_MODEL
    if undone is not None:
        told = _("This was undone before, so I changed nothing.") if is_old else _("I undid that.")
        _tell(writer, told, receipt_part(undone))
    elif done.undo_until is not None and done.undo_until > utc_now():
        # With its receipt: what is taken back is what the reply right before shows.
        _tell(writer, told_as_done(True), receipt_part(done))
    else:
        _tell(writer, told_as_done(False), receipt_part(done))
    return NO_MODEL


def _done_just_before(session: ScopedSession, question: Message) -> Proposal | None:
    """What the reply right before a message shows as done."""
    shown, done = load_done(session, question), latest_proposal(session, question.thread_id)
    if done is None or shown != done.id or done.state != "confirmed":
        return None
    # An answer that is made again finds what was done since its message.
    is_since = done.decided_at is None or done.decided_at > question.created_at
    return None if is_since else done


def ask_once_more(
    writer: ReplyWriter, question: Message, hints: Mapping[str, Any]
) -> Finished | None:
    """Ask for a plain yes to what is open, where the message is likely one and says more.

    None where it is none, or where a skill goes on with it. What is open stays so. It is asked
    once: whoever then says something else has gone on.
    """
    is_taken = hints.get("goes_on") or ("reply" in hints and "reply_for" not in hints)
    if is_taken or question.internal_content is not None:
        return None
    with writer.transaction() as session:
        asked, asked_in = load_question(session, question)
        if not asked or not may_agree(question.content, asked_in):
            return None
        proposal = _meant(session, question)
        if proposal is None or state_at(proposal, utc_now()) != "pending":
            return None
        if asked != about_proposal(proposal.id) or question.parent_id != proposal.message_id:
            return None
    if read_emergency(question.content, question.language):
        return None
    writer.add_text(join_paragraphs(_("Just to be sure, answer yes or no:"), asked_in))
    return replace(NO_MODEL, asked=asked)


def _require_shown(
    session: ScopedSession, proposal: Proposal, question: Message, asked: str
) -> None:
    """Nobody says yes to what they had not seen, or to what they were not asked just now.

    Raises:
        Conflict
    """
    if proposal.created_at > question.created_at:
        raise Conflict("My proposal has changed since then. Look at it and answer again.")
    if not had_ended(session, proposal.message_id, question.created_at):
        raise Conflict("You wrote this before my answer was complete. Look at it and answer again.")
    if not asked:
        raise Conflict("Use the buttons on the card, so I know what you mean.")


def _is_for_its_skill(
    registry: Registry, proposal: Proposal, answer: Answer, question: Message
) -> bool:
    tool = registry.tools.get(proposal.tool)
    is_open = proposal.state == "pending"
    return (
        is_open
        and answer == "no"
        and isinstance(tool, WriteTool)
        and tool.reads_itself(question.content)
    )


def _mends(registry: Registry, name: str, error: ComandaError) -> bool:
    tool = registry.tools.get(name)
    return isinstance(tool, WriteTool) and tool.mends(error)


def _decide(
    session: ScopedSession, registry: Registry, proposal_id: UUID, answer: Answer, by: UUID
) -> Proposal:
    known = decided_by(session, by)
    if known is not None:
        return known
    if answer == "yes":
        return confirm(session, registry, proposal_id, by)
    return decline(session, proposal_id, by)


def _meant(session: ScopedSession, question: Message) -> Proposal | None:
    """The proposal that a yes or no is about; None where nothing was asked."""
    decided = decided_by(session, question.id)
    if decided is not None:
        return decided
    latest = latest_proposal(session, question.thread_id)
    if latest is None or not leads_to(session, latest.message_id, question.parent_id, IN_SIGHT):
        return None
    # One that has run out is still what somebody answers to who comes back to it.
    state = state_at(latest, utc_now())
    answers_it = state == "expired" and latest.message_id == question.parent_id
    return latest if state == "pending" or answers_it else None


def _tell(writer: ReplyWriter, words: str, receipt: Part | None = None) -> None:
    # Before the words, at which somebody may stop the reply: what was done has its receipt.
    if receipt is not None:
        writer.parts.append(receipt.model_dump(mode="json"))
    # In one line, whose names and values are people's.
    writer.add_text(escape_markdown(words))
    if receipt is not None:
        writer.save()
        writer.publish("part", {"index": len(writer.parts) - 1})
    writer.publish(CHANGED, {})


def close_what_was_left(writer: ReplyWriter, asked_at: datetime) -> bool:
    """Set aside a proposal that was open when the person went on to something else.

    Returns whether there was one.
    """
    with writer.transaction() as session:
        writer.lock_turn(session)
        closed = set_aside(session, writer.claim.thread_id, asked_at)
    if closed:
        writer.publish(CHANGED, {})
    return bool(closed)


def take_nothing(writer: ReplyWriter) -> None:
    """Let a reply that ends without a word have proposed and taken nothing, unless it did it."""
    with writer.transaction() as session:
        if not _has_done_something(session, writer):
            call_off(session, writer.claim.reply_id)
            forget_steps(session, writer.claim.reply_id)
    with suppress(RedisError):
        # Pages look again when the reply's end is told, or when they are opened.
        writer.publish(CHANGED, {})


def is_still_open(writer: ReplyWriter, question: Question) -> bool:
    """Whether a question of the reply that is being written waits for its answer yet.

    A proposal may have been confirmed, or declined, by its button since it was shown.
    """
    if not question.about.startswith(PROPOSAL):
        return True
    with writer.transaction() as session:
        waiting = pending_of(session, writer.claim.reply_id)
    return waiting is not None and about_proposal(waiting.id) == question.about


def start_over(session: ScopedSession, writer: ReplyWriter) -> bool:
    """Forget what a reply had proposed and taken; False, and nothing is, where it did something."""
    if _has_done_something(session, writer):
        return False
    withdraw(session, writer.claim.reply_id)
    forget_steps(session, writer.claim.reply_id)
    return True


def _has_done_something(session: ScopedSession, writer: ReplyWriter) -> bool:
    """Whether something that this reply proposed has been confirmed; the thread is locked.

    What somebody confirms at this moment is done before, or refused after.
    """
    lock_thread(session, writer.claim.thread_id)
    writer.lock_turn(session)
    done = _done_by(session, Proposal.message_id == writer.claim.reply_id)
    return session.scalar(done.limit(1)) is not None


def tell_what_was_done(writer: ReplyWriter, language: str) -> bool:
    """Let a reply that broke off end in what it has done; False where it did nothing.

    Whoever began it anew would do it again. What it shows and says of it stands, and a card that
    waits is shown with it.
    """
    own_reply = Proposal.message_id == writer.claim.reply_id
    question = select(Message.parent_id).where(Message.id == writer.claim.reply_id)
    is_its_yes = Proposal.decided_by == question.scalar_subquery()
    with writer.transaction() as session:
        done = session.scalars(_done_by(session, or_(own_reply, is_its_yes))).all()
        waiting = pending_of(session, writer.claim.reply_id)
    shown = {str(part.get("proposal_id")) for part in writer.parts}
    missing: list[Part] = [receipt_part(each) for each in done if str(each.id) not in shown]
    if waiting is not None and str(waiting.id) not in shown:
        missing.append(proposal_part(waiting))
    writer.parts.extend(part.model_dump(mode="json") for part in missing)
    if done and not writer.text.strip():
        kept = [receipt_of(each).summary[language] for each in done if each.undone_at is None]
        with force_locale(language):
            said = " ".join(kept) or _(
                "This has since been undone. Check the list before you ask for it again."
            )
        writer.add_text(escape_markdown(said))
    return bool(done)


def _was_offered_for(session: ScopedSession, reply_id: UUID) -> bool:
    """Whether this reply has done something, or another one to the same question proposed some."""
    question = select(Message.parent_id).where(Message.id == reply_id, *own(session, Message))
    replies = select(Message.id).where(
        Message.parent_id == question.scalar_subquery(),
        *own(session, Message),
    )
    is_own = Proposal.message_id == reply_id
    offered = select(Proposal.id).where(
        *own(session, Proposal),
        Proposal.message_id.in_(replies),
        or_(Proposal.state == "confirmed", and_(~is_own, Proposal.state != "superseded")),
    )
    return session.scalar(offered.limit(1)) is not None


def _done_by(session: ScopedSession, *which: ColumnElement[bool]) -> Select[Proposal]:
    return (
        select(Proposal)
        .where(*own(session, Proposal), Proposal.state == "confirmed", *which)
        .order_by(Proposal.created_at)
    )
