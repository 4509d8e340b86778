"""The admins' inbox: what people said of replies, what was done about it, and what came of it.

An admin reads what was said and of which turn; of the conversation only the one question and
answer that its person has shared. Names are not listed, but this is not anonymous: the turn is
its person's, and its page says so to admins. Whoever gives feedback is told that before they
send it. Without the link the moments alone would tell in a small team, so nothing here may be
promised to be secret. Nothing here changes what people said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import ColumnElement, and_, delete, func, not_, select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.audit import record
from app.accounts.models import User
from app.assistant.feedback.feedback import lock_feedback
from app.assistant.models import FeedbackHandling, MessageFeedback, SavedSentence
from app.assistant.prompts.expectations import Expectation
from app.assistant.prompts.saved_cases import add_sentence, is_saved
from app.db import ScopedSession, utc_now
from app.errors import N_, Conflict, Forbidden, InvalidInput, NotFound

PAGE_FEEDBACK = 50
STATES = ("open", "handled")
LONGEST_WORDS = 200


@dataclass(frozen=True)
class ReceivedFeedback:
    """What an admin is told; of what was talked about only what was shared.

    `handled_at` is None for what is open, which is also what was changed after somebody had
    dealt with it. `sentences` are the ids of the test sentences that were made of it.
    """

    id: UUID
    rating: str
    reason: str
    comment: str
    turn_id: UUID | None
    message_id: UUID
    given_at: datetime
    shared_question: str | None = None
    shared_answer: str | None = None
    shared_language: str | None = None
    handled_by: str | None = None
    handled_at: datetime | None = None
    sentences: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What the page showed of a piece of feedback: as it was given when, and whether its words."""

    given_at: datetime
    shared: bool


class Withdrawn(Conflict):
    """What the page showed is not what its person says, or shares, now."""


@dataclass(frozen=True)
class Tally:
    """How much there is of each, in the whole group."""

    open: int = 0
    handled: int = 0
    up: int = 0
    down: int = 0


def received_feedback(
    session: ScopedSession,
    *,
    rating: str | None = None,
    reason: str | None = None,
    state: str | None = None,
    before: UUID | None = None,
    limit: int = PAGE_FEEDBACK,
) -> list[ReceivedFeedback]:
    """What the people of the group have said, the newest first, for its admins.

    `before` is the id of the last one of the page before this.

    Raises:
        Forbidden: whoever asks is no admin of the group.
    """
    _check_admin(session)
    conditions: list[ColumnElement[bool]] = []
    if rating is not None:
        conditions.append(MessageFeedback.rating == rating)
    if reason is not None:
        conditions.append(MessageFeedback.reason == reason)
    if state is not None:
        conditions.append(_is_handled() if state == "handled" else not_(_is_handled()))
    if before is not None:
        conditions.append(MessageFeedback.id < before)
    return _read(session, conditions, limit)


def load_feedback(session: ScopedSession, feedback_id: UUID) -> ReceivedFeedback:
    """One piece of the group's feedback.

    Raises:
        Forbidden: whoever asks is no admin. NotFound: the group has none of this id.
    """
    _check_admin(session)
    found = _read(session, [MessageFeedback.id == feedback_id], 1)
    if not found:
        raise NotFound("This feedback no longer exists, or you don't have access to it.")
    return found[0]


def tally_feedback(session: ScopedSession) -> Tally:
    """The counts above the inbox."""
    _check_admin(session)
    handled = _is_handled()
    row = session.execute(
        select(
            func.count().filter(not_(handled)),
            func.count().filter(handled),
            func.count().filter(MessageFeedback.rating == "up"),
            func.count().filter(MessageFeedback.rating == "down"),
        )
        .select_from(MessageFeedback)
        .outerjoin(FeedbackHandling, FeedbackHandling.feedback_id == MessageFeedback.id)
        .where(MessageFeedback.group_id == session.scope.group_id)
    ).one()
    return Tally(*row)


def handle_feedback(session: ScopedSession, feedback_id: UUID, given_at: datetime) -> None:
    """Note that it has been dealt with, as it was given then; again, it changes nothing.

    Raises:
        Forbidden, NotFound: as for `load_feedback`.
        Conflict: its person has changed it since then.
    """
    _hold(session, feedback_id)
    found = load_feedback(session, feedback_id)
    if found.given_at != given_at:
        raise Conflict(
            "This was changed in the meantime. Read it again before you mark it as handled."
        )
    if found.handled_at is not None:
        return
    now = {"handled_by": session.scope.user_id, "handled_at": utc_now()}
    place = {"feedback_id": feedback_id, "group_id": session.scope.group_id}
    session.execute(
        insert(FeedbackHandling)
        .values(**place, **now)
        .on_conflict_do_update(index_elements=["feedback_id"], set_=now)
    )
    record(session, "feedback.handle", str(feedback_id))
    session.commit()


def _hold(session: ScopedSession, feedback_id: UUID) -> None:
    """Nobody changes what they said while it is noted that it has been dealt with."""
    message_id = session.scalar(
        select(MessageFeedback.message_id).where(
            MessageFeedback.id == feedback_id, MessageFeedback.group_id == session.scope.group_id
        )
    )
    if message_id is not None:
        lock_feedback(session, message_id)


def reopen_feedback(session: ScopedSession, feedback_id: UUID) -> None:
    """Take back that it has been dealt with.

    Raises:
        Forbidden, NotFound: as for `load_feedback`.
    """
    if load_feedback(session, feedback_id).handled_at is None:
        return
    session.execute(
        delete(FeedbackHandling).where(
            FeedbackHandling.feedback_id == feedback_id,
            FeedbackHandling.group_id == session.scope.group_id,
        )
    )
    record(session, "feedback.reopen", str(feedback_id))
    session.commit()


def make_sentence(
    session: ScopedSession,
    feedback_id: UUID,
    *,
    seen: Seen,
    text: str,
    language: str,
    tools: Sequence[str] = (),
    phrases: str = "",
    known_tools: Sequence[str] = (),
) -> bool:
    """Make a test sentence of it; False when the group has the same sentence already.

    `phrases` is what its answer must say, a phrase a line.

    Raises:
        InvalidInput: there is no text, no such language or tool, or a phrase is too long.
        Forbidden, NotFound: as for `load_feedback`.
        Withdrawn: its person has changed it, or shares it no more.
        Conflict: there are as many sentences as there may be.
    """
    _hold(session, feedback_id)
    found = load_feedback(session, feedback_id)
    if found.given_at != seen.given_at or (seen.shared and found.shared_question is None):
        raise Withdrawn(
            N_("This was changed in the meantime. Read it again; none of it was saved.")
        )
    if not set(tools) <= set(known_tools):
        raise InvalidInput("Choose one of the options.", field="tools")
    expect = _expected(tools, phrases)
    try:
        if is_saved(session, text, language):
            return False
        add_sentence(session, text, language, expect, feedback_id=feedback_id)
    except InvalidInput as error:
        field = "text" if error.field == "message" else error.field
        raise InvalidInput(error.message, field=field, **error.params) from None
    return True


def _expected(tools: Sequence[str], typed: str) -> dict[str, Any]:
    """What its answer must be, as `flask ask --batch` takes it; nothing that says nothing."""
    phrases = [phrase for line in typed.splitlines() if (phrase := " ".join(line.split()))]
    if any(len(phrase) > LONGEST_WORDS for phrase in phrases):
        raise InvalidInput(
            "A phrase can have up to %(limit)s characters.",
            field="phrases",
            limit=str(LONGEST_WORDS),
        )
    said = {"tools": list(tools), "contains": phrases}
    expect = {key: values for key, values in said.items() if values}
    try:
        Expectation.model_validate(expect)
    except ValidationError:
        raise InvalidInput("Choose one of the options.", field="phrases") from None
    return expect


def _check_admin(session: ScopedSession) -> None:
    if session.scope.role != "admin":
        raise Forbidden("Your role in this group does not allow that. Ask a manager.")


def _is_handled() -> ColumnElement[bool]:
    """Dealt with as it stands: what its person changed afterwards has to be read again."""
    return and_(
        FeedbackHandling.handled_at.is_not(None),
        FeedbackHandling.handled_at >= MessageFeedback.updated_at,
    ).is_(True)


def _read(
    session: ScopedSession, conditions: Sequence[ColumnElement[bool]], limit: int
) -> list[ReceivedFeedback]:
    rows = session.execute(
        select(MessageFeedback, FeedbackHandling.handled_at, User.name, _is_handled())
        .outerjoin(FeedbackHandling, FeedbackHandling.feedback_id == MessageFeedback.id)
        .outerjoin(User, User.id == FeedbackHandling.handled_by)
        .where(MessageFeedback.group_id == session.scope.group_id, *conditions)
        .order_by(MessageFeedback.id.desc())
        .limit(limit)
    ).all()
    sentences = _sentences_of(session, [row[0].id for row in rows])
    return [
        ReceivedFeedback(
            id=said.id,
            rating=said.rating,
            reason=said.reason,
            comment=said.comment,
            turn_id=said.turn_id,
            message_id=said.message_id,
            given_at=said.updated_at,
            shared_question=said.shared_question,
            shared_answer=said.shared_answer,
            shared_language=said.shared_language,
            handled_by=name if is_handled else None,
            handled_at=moment if is_handled else None,
            sentences=tuple(sentences.get(said.id, ())),
        )
        for said, moment, name, is_handled in rows
    ]


def _sentences_of(session: ScopedSession, ids: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    found: dict[UUID, list[UUID]] = {}
    rows = session.execute(
        select(SavedSentence.feedback_id, SavedSentence.id).where(
            SavedSentence.group_id == session.scope.group_id, SavedSentence.feedback_id.in_(ids)
        )
    )
    for feedback_id, sentence_id in rows:
        if feedback_id is not None:
            found.setdefault(feedback_id, []).append(sentence_id)
    return found
