"""What people think of the replies they got: a thumb, and for a bad one the reason.

One row a person and reply, which can be changed and taken back. Admins of the group read
what was said and which turn it was said of, never the conversation: of that, one question
and its answer where the person shares them, as copies that go when they change their mind.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.assistant.models import Message, MessageFeedback
from app.assistant.threads.threads import load_message, load_thread
from app.db import ScopedSession, new_id, utc_now
from app.errors import InvalidInput, NotFound
from app.text.plain_text import clean_line

RATINGS = ("up", "down")
# What the documents do not say has a page of its own: it is the documents that are to be mended.
MISSING = "missing"
REASONS = ("wrong", "not_asked", "outdated", "unclear", MISSING, "other")
COMMENT_LIMIT = 500
# A reply that is not finished, or has failed, has nothing to be judged by.
RATEABLE = ("complete", "stopped", "interrupted")
NOT_SHARED: dict[str, str | None] = {
    "shared_question": None,
    "shared_answer": None,
    "shared_language": None,
}


def load_reply(
    session: ScopedSession, thread_id: UUID, message_id: UUID, *, lock: bool = False
) -> Message:
    """A finished reply in the person's own thread; with `lock`, nobody deletes that meanwhile.

    Raises:
        NotFound: there is none, it is not theirs, or there is nothing in it to judge.
    """
    load_thread(session, thread_id, lock=lock)
    message = load_message(session, thread_id, message_id)
    if not is_rateable(message):
        raise NotFound("This message does not exist, or it is not yours.")
    return message


def is_rateable(message: Message) -> bool:
    """True of the assistant's, once it has ended with something to judge: words, or a card."""
    has_ended = message.role == "assistant" and message.status in RATEABLE
    return has_ended and bool(message.content.strip() or message.parts)


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
    session: ScopedSession,
    reply: Message,
    rating: str,
    reason: str = "",
    comment: str = "",
    *,
    share: bool = False,
) -> None:
    """Keep what the person thinks of their reply, in place of what they thought before.

    A good one needs no reason; of a bad one, reason and comment may be left out. With
    `share`, the admins get a copy of this question and this answer; without, they have none.

    Raises:
        InvalidInput: an unknown rating or reason, or a comment of more than 500 characters.
    """
    said = clean_line(comment)
    if rating not in RATINGS or reason not in ("", *REASONS):
        raise InvalidInput("Choose one of the options.", field="reason")
    if len(said) > COMMENT_LIMIT:
        raise InvalidInput(
            "That is %(length)s characters; a comment can have %(limit)s.",
            field="comment",
            length=str(len(said)),
            limit=str(COMMENT_LIMIT),
        )
    is_bad = rating == "down"
    lock_feedback(session, reply.id)
    now = utc_now()
    thought = {
        "rating": rating,
        "reason": reason if is_bad else "",
        "comment": said if is_bad else "",
        "updated_at": now,
        **(_copied(session, reply) if is_bad and share else NOT_SHARED),
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


def lock_feedback(session: ScopedSession, message_id: UUID) -> None:
    """Until the transaction ends, nobody else says anything of this reply, or deals with it."""
    name = f"feedback {message_id}"
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


def _copied(session: ScopedSession, reply: Message) -> dict[str, str | None]:
    """The reply and the question it answers, as an admin will read them."""
    if reply.parent_id is None:
        return NOT_SHARED
    question = load_message(session, reply.thread_id, reply.parent_id)
    return {
        "shared_question": question.content,
        "shared_answer": reply.content,
        "shared_language": question.language,
    }


def take_back_copies(session: ScopedSession, thread_id: UUID) -> None:
    """Take from the admins the questions and answers of a conversation. Never commits."""
    session.execute(
        update(MessageFeedback)
        .where(
            MessageFeedback.thread_id == thread_id,
            MessageFeedback.group_id == session.scope.group_id,
            MessageFeedback.user_id == session.scope.user_id,
            MessageFeedback.shared_answer.is_not(None),
        )
        .values(updated_at=utc_now(), **NOT_SHARED)
    )


def withdraw_feedback(session: ScopedSession, reply: Message) -> None:
    """Forget what the person thought of their reply."""
    lock_feedback(session, reply.id)
    session.execute(
        delete(MessageFeedback).where(
            MessageFeedback.message_id == reply.id,
            MessageFeedback.group_id == session.scope.group_id,
            MessageFeedback.user_id == session.scope.user_id,
        )
    )
    session.commit()
