"""Threads, their messages, the turns that answer them, and the prompts behind it all."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    Computed,
    ForeignKey,
    Index,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonList, JsonObject, ScopedSession, new_id, utc_now

# Who of the group writes into somebody's conversation, as `role`; and what such a message's
# `internal_content` is of, beside the request, its reference and the author.
AGENT, AGENT_REPLY = "agent", "agent_reply"
# The states of a reply that is still being written.
UNFINISHED = ("queued", "streaming")


class Thread(Base):
    """One conversation of one person. It is also the draft of whatever they do in it."""

    __tablename__ = "threads"
    __table_args__ = (
        Index("ix_threads_owner_recent", "group_id", "user_id", "last_message_at"),
        Index("ix_threads_deleted", "deleted_at", postgresql_where=text("deleted_at IS NOT NULL")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(default="")
    context_type: Mapped[str] = mapped_column(default="manual")
    # The last message of the branch that is shown; see app.assistant.threads.branches.
    head_id: Mapped[UUID | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    last_message_at: Mapped[datetime] = mapped_column(default=utc_now)
    deleted_at: Mapped[datetime | None]


class Message(Base):
    """What somebody said. An assistant's message is written while it is being said.

    `role` is user, assistant, or agent: a colleague who replies to a request of its person.

    `status` is queued, streaming, complete, stopped, interrupted or failed. `event_cursor` is
    the id of the last event whose text is already part of `content`, so that a reader
    of a snapshot knows where the live stream goes on.
    """

    __tablename__ = "messages"
    __table_args__ = (
        UniqueConstraint("thread_id", "message_key"),
        Index("ix_messages_thread_recent", "thread_id", "id"),
        Index("ix_messages_parent", "parent_id"),
        Index(
            "ix_messages_steps",
            "user_id",
            "thread_id",
            postgresql_where=text("internal_content IS NOT NULL"),
        ),
    )
    # What the database computes is not sent back after each write.
    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 (SQLAlchemy's own name)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    thread_id: Mapped[UUID] = mapped_column(ForeignKey("threads.id", ondelete="CASCADE"))
    # The message this one follows; a question asked again otherwise has siblings.
    parent_id: Mapped[UUID | None]
    turn_id: Mapped[UUID | None] = mapped_column(index=True)
    role: Mapped[str]
    status: Mapped[str] = mapped_column(default="complete")
    content: Mapped[str] = mapped_column(default="")
    # Without case and accents, for searching only: nobody loads it.
    folded: Mapped[str | None] = mapped_column(
        Computed("fold_text(content)", persisted=True), deferred=True
    )
    internal_content: Mapped[JsonObject | None]
    message_key: Mapped[str | None]
    language: Mapped[str] = mapped_column(default="en")
    mode: Mapped[str] = mapped_column(default="search")
    parts: Mapped[JsonList] = mapped_column(default=list)
    citations: Mapped[JsonList] = mapped_column(default=list)
    suggestions: Mapped[JsonList] = mapped_column(default=list)
    # What a finished reply asked in the product's own words, as its last words (consent.py).
    asked: Mapped[str | None]
    actions: Mapped[JsonList] = mapped_column(default=list)
    tool_trace: Mapped[JsonList] = mapped_column(default=list)
    degraded: Mapped[bool] = mapped_column(default=False)
    provider: Mapped[str] = mapped_column(default="")
    model: Mapped[str] = mapped_column(default="")
    tokens_in: Mapped[int] = mapped_column(default=0)
    tokens_out: Mapped[int] = mapped_column(default=0)
    first_token_ms: Mapped[int | None]
    latency_ms: Mapped[int | None]
    event_cursor: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Turn(Base):
    """One message to be answered; claimed, leased and fenced (see assistant.runner).

    `status` is queued, running, done, failed or stopped. Whoever writes for a turn
    names the `fence` it claimed; a runner that lost its lease finds a higher one.
    """

    __tablename__ = "turns"
    __table_args__ = (
        Index("ix_turns_waiting", "created_at", postgresql_where=text("finished_at IS NULL")),
        # A thread answers one message at a time.
        Index(
            "uq_turns_running_thread",
            "thread_id",
            unique=True,
            postgresql_where=text("status = 'running'"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    thread_id: Mapped[UUID] = mapped_column(
        ForeignKey("threads.id", ondelete="CASCADE"), index=True
    )
    user_message_id: Mapped[UUID] = mapped_column(
        ForeignKey("messages.id", ondelete="CASCADE"), index=True
    )
    reply_message_id: Mapped[UUID] = mapped_column(
        ForeignKey("messages.id", ondelete="CASCADE"), index=True
    )
    request: Mapped[JsonObject] = mapped_column(default=dict)
    status: Mapped[str] = mapped_column(default="queued")
    fence: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    runner_id: Mapped[str] = mapped_column(default="")
    lease_until: Mapped[datetime | None]
    stop_requested: Mapped[bool] = mapped_column(default=False)
    error_code: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


def own(
    session: ScopedSession, model: type[Thread | Message | Turn | Proposal | ChatExport]
) -> tuple[ColumnElement[bool], ...]:
    """What every query of somebody's conversations asks for: their rows, in their group."""
    return (model.group_id == session.scope.group_id, model.user_id == session.scope.user_id)


class MessageFeedback(Base):
    """What somebody thinks of a reply they got; see app.assistant.feedback.feedback."""

    __tablename__ = "message_feedback"
    __table_args__ = (
        UniqueConstraint("message_id", "user_id"),
        Index("ix_message_feedback_received", "group_id", "id"),
        CheckConstraint("rating IN ('up', 'down')", name="known_rating"),
        CheckConstraint(
            "reason IN ('', 'wrong', 'not_asked', 'outdated', 'unclear', 'other', 'missing')",
            name="known_reason",
        ),
        CheckConstraint("char_length(comment) <= 500", name="short_comment"),
        CheckConstraint(
            "num_nulls(shared_question, shared_answer, shared_language) IN (0, 3)",
            name="shared_whole",
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    message_id: Mapped[UUID] = mapped_column(ForeignKey("messages.id", ondelete="CASCADE"))
    thread_id: Mapped[UUID] = mapped_column(
        ForeignKey("threads.id", ondelete="CASCADE"), index=True
    )
    # Kept here, because an admin who looks for what went wrong may not read the message.
    turn_id: Mapped[UUID | None]
    rating: Mapped[str]
    reason: Mapped[str] = mapped_column(default="")
    comment: Mapped[str] = mapped_column(default="")
    # Copies that the person has let the admins have; null as long as they have not.
    shared_question: Mapped[str | None]
    shared_answer: Mapped[str | None]
    shared_language: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)


class FeedbackHandling(Base):
    """That an admin has dealt with a piece of feedback; what was said stays untouched.

    It holds for the feedback as it was then: what is changed afterwards is open again.
    """

    __tablename__ = "feedback_handling"

    feedback_id: Mapped[UUID] = mapped_column(
        ForeignKey("message_feedback.id", ondelete="CASCADE"), primary_key=True
    )
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    handled_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    handled_at: Mapped[datetime] = mapped_column(default=utc_now)


class Proposal(Base):
    """A write that waits for its person's word, with the exact arguments that were shown.

    `state` is pending, confirmed, declined, expired or superseded; `reason` says of a
    declined one whether it was cancelled or set aside by going on to something else.
    `summary` and `details` are by language; `receipt` is what the executed write returned.
    """

    __tablename__ = "proposals"
    __table_args__ = (
        Index("ix_proposals_thread", "thread_id", "id"),
        Index("ix_proposals_message", "message_id"),
        # A thread asks one thing at a time.
        Index(
            "uq_proposals_pending_thread",
            "thread_id",
            unique=True,
            postgresql_where=text("state = 'pending'"),
        ),
        CheckConstraint(
            "state IN ('pending', 'confirmed', 'declined', 'expired', 'superseded')", name="state"
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    thread_id: Mapped[UUID] = mapped_column(ForeignKey("threads.id", ondelete="CASCADE"))
    message_id: Mapped[UUID] = mapped_column(ForeignKey("messages.id", ondelete="CASCADE"))
    tool: Mapped[str]
    arguments: Mapped[JsonObject]
    digest: Mapped[str]
    summary: Mapped[JsonObject]
    details: Mapped[JsonObject]
    state: Mapped[str] = mapped_column(default="pending")
    reason: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime]
    decided_at: Mapped[datetime | None]
    # The message that decided it, where it was words and not a button.
    decided_by: Mapped[UUID | None]
    receipt: Mapped[JsonObject | None]
    undo_until: Mapped[datetime | None]
    undone_at: Mapped[datetime | None]


class Prompt(Base):
    """A row of the system prompt, edited by admins in the browser."""

    __tablename__ = "ai_prompts"
    __table_args__ = (UniqueConstraint("group_id", "slug"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    slug: Mapped[str]
    category: Mapped[str]  # system, domain, action or skill
    domain: Mapped[str | None]  # required unless the category is system
    prompt_en: Mapped[str]
    prompt_es: Mapped[str]
    sort_order: Mapped[int] = mapped_column(default=0)
    is_active: Mapped[bool] = mapped_column(default=True)
    version: Mapped[int] = mapped_column(default=1)
    edited_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)
    # The safety of answers depends on it: it cannot be switched off.
    is_required: Mapped[bool] = mapped_column(default=False)
    # Of the seeded text that the group has seen last; see app.assistant.prompts.system_prompt.
    seed_digest: Mapped[str | None]


class PromptRevision(Base):
    """A version of a prompt row before a later one; its author and time are that version's."""

    __tablename__ = "ai_prompt_revisions"
    __table_args__ = (UniqueConstraint("prompt_id", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    prompt_id: Mapped[UUID] = mapped_column(ForeignKey("ai_prompts.id", ondelete="CASCADE"))
    version: Mapped[int]
    prompt_en: Mapped[str]
    prompt_es: Mapped[str]
    sort_order: Mapped[int]
    is_active: Mapped[bool]
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class SavedSentence(Base):
    """A sentence that admins try again whenever they have changed a prompt.

    `expect` is what its answer must be, as `flask ask --batch` takes it (app.assistant.
    expectations); empty means that a person looks.
    """

    __tablename__ = "saved_sentences"
    __table_args__ = (UniqueConstraint("group_id", "text", "language"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    text: Mapped[str]
    language: Mapped[str]
    expect: Mapped[JsonObject] = mapped_column(default=dict)
    feedback_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("message_feedback.id", ondelete="SET NULL")
    )
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ChatExport(Base):
    """One person's export of a group's chats: how far it is, and where its bytes lie."""

    __tablename__ = "chat_exports"
    __table_args__ = (
        UniqueConstraint("group_id", "user_id"),
        CheckConstraint("status IN ('waiting', 'working', 'ready', 'failed')", name="status"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    status: Mapped[str] = mapped_column(default="waiting")
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    key: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger, default=0)
    letterhead: Mapped[JsonObject]  # of `Letterhead`: what its files say of where they come from
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)
