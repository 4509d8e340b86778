"""What people think of the replies they got: a thumb, and for a bad one the reason.

One row a person and reply, which can be changed and taken back. Admins of the house read
what was said and which turn it was said of, never the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from app.assistant.models import Message, MessageFeedback
from app.assistant.threads import load_message, load_thread
from app.db import ScopedSession, new_id, utc_now
from app.errors import Forbidden, InvalidInput, NotFound

RATINGS = ("up", "down")
REASONS = ("wrong", "not_asked", "outdated", "unclear", "other")
COMMENT_LIMIT = 500
# A reply that is not finished, or has failed, has nothing to be judged by.
RATEABLE = ("complete", "stopped", "interrupted")
PAGE_FEEDBACK = 50


@dataclass(frozen=True)
class ReceivedFeedback:
    """What an admin is told: not by whom, and not what was talked about."""

    id: UUID
    rating: str
    reason: str
    comment: str
    turn_id: UUID | None
    message_id: UUID
    given_at: datetime


def load_reply(session: ScopedSession, thread_id: UUID, message_id: UUID) -> Message:
    """A finished reply in the person's own thread.

    Raises:
        NotFound: there is none, it is not theirs, or it is not one that can be judged.
    """
    load_thread(session, thread_id)
    message = load_message(session, thread_id, message_id)
    if message.role != "assistant" or message.status not in RATEABLE:
        raise NotFound("This message does not exist, or it is not yours.")
    return message


def feedback_on(session: ScopedSession, messages: Iterable[Message]) -> dict[UUID, MessageFeedback]:
    """What the person has said about these messages, by the message's id."""
    replies = [message.id for message in messages if message.role == "assistant"]
    if not replies:
        return {}
    given = session.scalars(
        select(MessageFeedback).where(
            MessageFeedback.message_id.in_(replies),
            MessageFeedback.group_id == session.scope.group_id,
            MessageFeedback.user_id == session.scope.user_id,
        )
    )
    return {feedback.message_id: feedback for feedback in given}


def rate_reply(
    session: ScopedSession, reply: Message, rating: str, reason: str = "", comment: str = ""
) -> None:
    """Keep what the person thinks of their reply, in place of what they thought before.

    A good one needs no reason; of a bad one, reason and comment may be left out.

    Raises:
        InvalidInput: an unknown rating or reason, or a comment of more than 500 characters.
    """
    said = " ".join(comment.replace("\0", "").split())
    if rating not in RATINGS or reason not in ("", *REASONS):
        raise InvalidInput("Choose one of what is offered.", field="reason")
    if len(said) > COMMENT_LIMIT:
        raise InvalidInput(
            "That is %(length)s characters; a remark can have %(limit)s.",
            field="comment",
            length=str(len(said)),
            limit=str(COMMENT_LIMIT),
        )
    is_bad = rating == "down"
    now = utc_now()
    thought = {
        "rating": rating,
        "reason": reason if is_bad else "",
        "comment": said if is_bad else "",
        "updated_at": now,
    }
    place = {
        "id": new_id(),
        "group_id": session.scope.group_id,
        "user_id": session.scope.user_id,
        "message_id": reply.id,
        "thread_id": reply.thread_id,
        "turn_id": reply.turn_id,
        "created_at": now,
    }
    session.execute(
        insert(MessageFeedback)
        .values(**place, **thought)
        .on_conflict_do_update(index_elements=["message_id", "user_id"], set_=thought)
    )
    session.commit()


def withdraw_feedback(session: ScopedSession, reply: Message) -> None:
    """Forget what the person thought of their reply."""
    session.execute(
        delete(MessageFeedback).where(
            MessageFeedback.message_id == reply.id,
            MessageFeedback.group_id == session.scope.group_id,
            MessageFeedback.user_id == session.scope.user_id,
        )
    )
    session.commit()


def received_feedback(
    session: ScopedSession,
    *,
    rating: str | None = None,
    reason: str | None = None,
    before: UUID | None = None,
    limit: int = PAGE_FEEDBACK,
) -> list[ReceivedFeedback]:
    """What the people of the house have said, the newest first, for its admins.

    `before` is the id of the last one of the page before this.

    Raises:
        Forbidden: whoever asks is no admin of the group.
    """
    if session.scope.role != "admin":
        raise Forbidden("Your role in this group does not allow that. Ask a manager.")
    query = (
        select(MessageFeedback)
        .where(MessageFeedback.group_id == session.scope.group_id)
        .order_by(MessageFeedback.id.desc())
        .limit(limit)
    )
    if rating is not None:
        query = query.where(MessageFeedback.rating == rating)
    if reason is not None:
        query = query.where(MessageFeedback.reason == reason)
    if before is not None:
        query = query.where(MessageFeedback.id < before)
    return [
        ReceivedFeedback(
            each.id,
            each.rating,
            each.reason,
            each.comment,
            each.turn_id,
            each.message_id,
            each.updated_at,
        )
        for each in session.scalars(query)
    ]
