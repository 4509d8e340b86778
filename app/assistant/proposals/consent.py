"""What a person's words consent to: what a finished reply had shown them before they wrote.

A model may call any tool in any order, and so may whoever has put instructions into a text that
it reads. What a tool writes at once, or settles in a conversation because somebody said so, is
therefore checked here against the message and what came before it, and against nothing else: no
result of the turn that answers the message is ever part of what the message consents to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from flask_babel import gettext as _
from sqlalchemy import or_, select

from app.assistant.models import AGENT, Message, Turn, own
from app.assistant.proposals.told_turns import is_place_told, is_told, load_told
from app.assistant.threads.steps import Step, StepLoader
from app.assistant.tools.parts import Part
from app.db import ScopedSession
from app.errors import Conflict
from app.nlu.control import Answer, last_line, read_answer
from app.text.bilingual import in_both
from app.text.markdown import escape_markdown

# Of a reply in these states its person has seen the words that are stored.
_SEEN = ("complete", "stopped", "interrupted")
# So many lines of colleagues may stand between a reply and what answers it.
MOST_BETWEEN = 20


@dataclass(frozen=True)
class Heard:
    """A message, and what its person had before them when they wrote it.

    `asked` names what the reply that the message follows has asked in the product's own words, as
    its last words; no model writes it. `shown` is the text of that reply, which a model may have
    written. Both are empty where there is none, where it had not ended by then, and where somebody
    else has written since: then `last_reply` is its text still. `before` are the steps of the
    conversation up to the message, oldest first; `step` is the one that the message itself is, if
    it was posted by a widget. `answers_nothing` is known of a message that begins its conversation,
    without turns that a program has told beside it, and of one that follows a reply which says that
    something was done and no more: of any other nobody knows what it may be the answer to, nor of
    one behind which, or in the place of which, others were written, what has come of those.
    `is_elsewhere` is known of a message beside which a program has told a conversation that may
    be another than ends here: what it calls "the request" may be another one, too. `said_at` is
    when it was sent.
    """

    words: str
    language: str
    asked: str = ""
    shown: str = ""
    before: Sequence[Step] = ()
    step: Step | None = None
    last_reply: str = ""
    answers_nothing: bool = False
    is_elsewhere: bool = False
    said_at: datetime | None = None

    @property
    def answer(self) -> Answer | None:
        """Whether the whole message is a plain yes or no to what was shown.

        What was posted with a widget answers that widget alone, whatever its words are.
        """
        return None if self.step is not None else read_answer(self.words, self.question)

    @property
    def question(self) -> str:
        """The last line of what was shown."""
        return last_line(self.shown)

    def agrees_to(self, about: str) -> bool:
        """Whether the message is a plain yes to the question of this name."""
        return self.answer == "yes" and self.asked == about


@dataclass(frozen=True)
class Question:
    """A question in the product's own plain words, with which a reply ends; `about` names it.

    One without a name only collects: a yes to it consents to nothing. Else the name says all that
    a yes would consent to: of what is written or settled, a digest. Where that is no card, `words`
    and `parts` are what must stand before the question, drawn from the same state as the digest: a
    reply that ends in the question has them, whatever a model did.
    """

    text: str
    about: str = ""
    words: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def markdown(self) -> str:
        """The question as a reply holds it: of the names and values in it nothing is hidden."""
        return escape_markdown(self.text)


# How the names of questions about proposals begin.
PROPOSAL = "proposal "


def about_proposal(proposal_id: UUID) -> str:
    """The name of the question whether a proposal shall be carried out."""
    return f"{PROPOSAL}{proposal_id}"


# Checks a step that a tool wants to take because its person said so.
# Raises ToolFailure: what was heard does not consent to it.
StepConsent = Callable[[ScopedSession, Step, Heard], None]


# The message that is being answered, with what its person was shown before; loaded when asked.
Hear = Callable[[ScopedSession], Heard]


def hearing_of(question: Message, load_before: StepLoader) -> Hear:
    """How a turn asks what it has heard: loaded once, because nothing of it changes any more.

    `load_before` loads the steps up to the message, without its own.
    """
    known: list[Heard] = []

    def hear(session: ScopedSession) -> Heard:
        if not known:
            known.append(_load_heard(session, question, load_before(session)))
        return known[0]

    return hear


def load_asked(session: ScopedSession, question: Message) -> str:
    """What the reply before a message asked in the product's own words; "" where nothing."""
    return _seen_before(session, question).asked


def load_question(session: ScopedSession, question: Message) -> tuple[str, str]:
    """The same, and the words in which it was asked."""
    seen = _seen_before(session, question)
    return seen.asked, last_line(seen.shown) if seen.asked else ""


def load_done(session: ScopedSession, question: Message) -> UUID | None:
    """The proposal that the reply right before a message shows as done; None where it shows none.

    Whether it is done is to be looked up: its button may have been pressed since.
    """
    if not _seen_before(session, question).shown or question.parent_id is None:
        return None
    reply = session.get(Message, question.parent_id)
    shown = [
        part["proposal_id"] for part in (reply.parts if reply else ()) if "proposal_id" in part
    ]
    return UUID(shown[-1]) if shown else None


def shows_it_last(session: ScopedSession, offered_in: UUID, question: Message) -> bool:
    """Whether the reply right before a message shows as done what was proposed, and no more.

    That is one that says so, the answer to whoever tried to cancel it, and the card itself
    (`offered_in`) whose button was pressed, or that a yes was said to before the message was
    changed.
    """
    if question.parent_id is None:
        return False
    if question.parent_id == offered_in:
        return True
    seen = _seen_before(session, question)
    told = [in_both(partial(told_as_done, can)).values() for can in (True, False)]
    return seen.answers_nothing or seen.shown.strip() in chain(*told)


def told_as_done(can_be_undone: bool, _language: str = "") -> str:
    """What somebody is told who says no to what is done."""
    if can_be_undone:
        return _("This is done. To undo it, say “undo that”.")
    return _("This is done, and I can't undo it.")


def _load_heard(session: ScopedSession, question: Message, before: Sequence[Step]) -> Heard:
    seen = _seen_before(session, question)
    answers_nothing = seen.answers_nothing and not _was_changed_or_followed(session, question)
    return Heard(
        question.content,
        question.language,
        seen.asked,
        seen.shown,
        tuple(before),
        question.internal_content,
        seen.last_reply,
        answers_nothing,
        seen.is_elsewhere,
        question.created_at,
    )


def _was_changed_or_followed(session: ScopedSession, question: Message) -> bool:
    """Whether its person has changed another message to this one, or has written more since."""
    others = select(Message.id).where(
        Message.thread_id == question.thread_id,
        Message.role == question.role,
        Message.id != question.id,
        or_(
            Message.parent_id.is_not_distinct_from(question.parent_id),
            Message.created_at > question.created_at,
        ),
        *own(session, Message),
    )
    return session.scalar(others.limit(1)) is not None


def had_ended(session: ScopedSession, reply_id: UUID, moment: datetime) -> bool:
    """Whether a reply was whole, and thereby delivered, by then."""
    ended = select(Turn.id).where(
        Turn.reply_message_id == reply_id, Turn.finished_at <= moment, *own(session, Turn)
    )
    return session.scalar(ended.limit(1)) is not None


class _Seen(NamedTuple):
    """See `Heard`."""

    asked: str = ""
    shown: str = ""
    last_reply: str = ""
    answers_nothing: bool = False
    is_elsewhere: bool = False


def _seen_before(session: ScopedSession, question: Message) -> _Seen:
    """What the reply before a message asked, and its text.

    A program that tells the turns itself has shown those, and nothing else: where they do not end
    with the reply that stands here, its person may have answered something that is not known.
    """
    seen = _read_above(session, question)
    told = load_told(session, question)
    if told is None:
        return seen
    # Where nothing was shown, nothing can be consented to either.
    reply = session.get(Message, question.parent_id) if seen.shown else None
    if reply is not None and is_told(session, told, reply):
        is_elsewhere = not is_place_told(session, told, reply)
        return seen._replace(answers_nothing=False, is_elsewhere=is_elsewhere)
    return _Seen(last_reply=seen.last_reply, is_elsewhere=question.parent_id is not None)


def _read_above(session: ScopedSession, question: Message) -> _Seen:
    """What stands before a message in its conversation."""
    if question.parent_id is None:
        return _Seen(answers_nothing=True)
    above: UUID | None = question.parent_id
    for between in range(MOST_BETWEEN):
        if above is None:
            break
        reply = session.scalar(select(Message).where(Message.id == above, *own(session, Message)))
        if reply is None or reply.status not in _SEEN:
            break
        if reply.role == "assistant":
            if not had_ended(session, above, question.created_at):
                break
            # What a colleague wrote into the conversation since is no question of the assistant's.
            if between:
                return _Seen(last_reply=reply.content)
            is_done = reply.status == "complete" and _says_what_was_done(reply)
            return _Seen(reply.asked or "", reply.content, reply.content, is_done)
        if reply.role != AGENT:
            break
        above = reply.parent_id
    return _Seen()


def _says_what_was_done(reply: Message) -> bool:
    """Whether a reply is the sentence of its receipt, and nothing beside it."""
    done = (part["summary"].values() for part in reply.parts if part.get("type") == "receipt")
    return not reply.asked and reply.content.strip() in chain.from_iterable(done)


def check_steps(
    session: ScopedSession,
    rules: Mapping[str, StepConsent | None],
    heard: Heard,
    taken: Sequence[Step],
    steps: Sequence[Mapping[str, Any]],
) -> None:
    """Check the steps that a tool wants to add to those that its reply has `taken`.

    `rules` are those of all skills, by type of step; None for steps that need nobody's word. A
    message counts once: it answers no two questions.

    Raises:
        ToolFailure: the person has not consented to one of them.
        Conflict: one of them was taken in this reply already.
        LookupError: no skill says what one of them needs.
    """
    used = {str(step.get("type")) for step in taken}
    for step in steps:
        kind = str(step.get("type"))
        rule = rules[kind]
        if rule is None:
            continue
        if kind in used:
            raise Conflict(
                "One message answers one question. Answer the next one once it is asked."
            )
        rule(session, step, heard)
        used.add(kind)
