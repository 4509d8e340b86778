"""Types of service requests, teams, requests with what happened to them, and the settings."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    Computed,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonList, JsonObject, new_id, utc_now
from app.text.bilingual import in_language

PRIORITIES = ("low", "normal", "high", "urgent")
STATUSES = ("new", "in_progress", "waiting", "resolved", "closed")
OPEN_STATUSES = ("new", "in_progress", "waiting")
UPDATE_KINDS = ("answer", "resolution", "reply", "note", "status", "assignment", "priority")
# What the numbers of requests are made of, and whose they are.
MEASURED = (
    "type_id", "status", "due_at", "responded_at", "resolved_at", "closed_at", "user_id", "team_id",
    "is_ai_resolution_attempted", "is_ai_resolution_successful",
)  # fmt: skip
_PRIORITY = "priority IN ('low', 'normal', 'high', 'urgent')"


class RequestTeam(Base):
    """People who look after some types of requests."""

    __tablename__ = "service_teams"
    __table_args__ = (UniqueConstraint("group_id", "slug"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    slug: Mapped[str]
    name_en: Mapped[str] = mapped_column(default="")
    name_es: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    def name(self, language: str) -> str:
        """Its name in `language`, else in the one there is."""
        return in_language(language, self.name_en, self.name_es)


class TeamMember(Base):
    """Somebody who is given the requests of a team."""

    __tablename__ = "service_team_members"
    __table_args__ = (
        # Whoever is removed from the group is on no team of it when they are asked back.
        ForeignKeyConstraint(
            ["user_id", "group_id"],
            ["memberships.user_id", "memberships.group_id"],
            name="fk_service_team_members_membership",
            ondelete="CASCADE",
        ),
    )

    team_id: Mapped[UUID] = mapped_column(
        ForeignKey("service_teams.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))


class RequestType(Base):
    """A kind of request, or a category of such kinds, which nobody can submit.

    `fields` are read by `definitions.read_request_fields`, `questions` by `read_questions`;
    `words` are what people call it, by language. `version` counts the saves that changed what
    a request of this type is made of; each is kept in `RequestTypeVersion`.
    """

    __tablename__ = "service_request_types"
    __table_args__ = (
        UniqueConstraint("group_id", "slug"),
        Index("ix_service_request_types_tree", "group_id", "parent_id", "sort_order"),
        CheckConstraint(_PRIORITY, name="priority"),
        CheckConstraint("sla_hours BETWEEN 1 AND 8760", name="sla_hours"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    parent_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("service_request_types.id", ondelete="RESTRICT")
    )
    slug: Mapped[str]
    name_en: Mapped[str] = mapped_column(default="")
    name_es: Mapped[str] = mapped_column(default="")
    description_en: Mapped[str] = mapped_column(default="")
    description_es: Mapped[str] = mapped_column(default="")
    icon: Mapped[str] = mapped_column(default="ticket")
    is_submittable: Mapped[bool] = mapped_column(default=True)
    # An archived one cannot be begun any more; what was begun or submitted goes on.
    is_active: Mapped[bool] = mapped_column(default=True)
    team_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("service_teams.id", ondelete="SET NULL")
    )
    priority: Mapped[str] = mapped_column(default="normal")
    sla_hours: Mapped[int] = mapped_column(default=24)
    # Asked for step by step: its type is chosen, its priority and three questions are asked.
    is_guided: Mapped[bool] = mapped_column(default=False, server_default=false())
    words: Mapped[JsonObject] = mapped_column(default=dict)
    fields: Mapped[JsonList] = mapped_column(default=list)
    questions: Mapped[JsonList] = mapped_column(default=list)
    sort_order: Mapped[int] = mapped_column(default=0)
    version: Mapped[int] = mapped_column(default=1)
    edited_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    def name(self, language: str) -> str:
        """Its name in `language`, else in the one there is."""
        return in_language(language, self.name_en, self.name_es)

    def description(self, language: str) -> str:
        """Its description in `language`, else in the one there is."""
        return in_language(language, self.description_en, self.description_es)


class RequestTypeVersion(Base):
    """A type as it was from one save to the next; its author and time are that save's."""

    __tablename__ = "service_request_type_versions"
    __table_args__ = (UniqueConstraint("type_id", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    type_id: Mapped[UUID] = mapped_column(
        ForeignKey("service_request_types.id", ondelete="CASCADE")
    )
    version: Mapped[int]
    # Names, descriptions, icon, words, fields and questions, by those names.
    content: Mapped[JsonObject]
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ServiceRequest(Base):
    """What somebody asked for, as it was submitted, and how far it has come.

    `number` counts the group's requests of a year without gaps: SR-2026-000123. `begun_at` is
    the message that it was begun with, which can be submitted once. `form` is what the type
    was then: its names, icon, category path and fields; `values` and `origins` are by field_id.
    """

    __tablename__ = "service_requests"
    # What the database computes is not sent back after each write.
    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 (SQLAlchemy's own name)
    __table_args__ = (
        UniqueConstraint("group_id", "year", "number"),
        UniqueConstraint("thread_id", "begun_at"),
        Index("ix_service_requests_queue", "group_id", "status", "due_at"),
        Index("ix_service_requests_own", "group_id", "user_id", "submitted_at"),
        Index("ix_service_requests_assigned", "group_id", "assignee_id", "status"),
        # Those that are due first, of all and of the open ones, in the order of the queue.
        Index("ix_service_requests_due", "group_id", "due_at", "id"),
        Index(
            "ix_service_requests_open",
            "group_id",
            "due_at",
            "id",
            postgresql_where=text("status IN ('new', 'in_progress', 'waiting')"),
        ),
        # All that their numbers, and the policy, look at: the wide rows are not read for those.
        Index(
            "ix_service_requests_submitted",
            "group_id",
            "submitted_at",
            postgresql_include=MEASURED,
        ),
        CheckConstraint(_PRIORITY, name="priority"),
        CheckConstraint(
            "status IN ('new', 'in_progress', 'waiting', 'resolved', 'closed')", name="status"
        ),
        CheckConstraint("ai_resolution_confidence_score BETWEEN 0 AND 100", name="confidence"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    # Requests outlive the accounts of those who made them.
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    requester: Mapped[str]
    thread_id: Mapped[UUID | None] = mapped_column(ForeignKey("threads.id", ondelete="SET NULL"))
    begun_at: Mapped[UUID]
    type_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("service_request_types.id", ondelete="SET NULL")
    )
    type_version: Mapped[int]
    form: Mapped[JsonObject]
    # The same without the fields, which may be large; kept by the database.
    head: Mapped[JsonObject | None] = mapped_column(
        Computed("form - 'fields'", persisted=True), deferred=True
    )
    values: Mapped[JsonObject]
    origins: Mapped[JsonObject] = mapped_column(default=dict)
    title: Mapped[str]
    # Title and requester without case and accents, for searching only: nobody loads it.
    folded: Mapped[str | None] = mapped_column(
        Computed("fold_text(title || ' ' || requester)", persisted=True), deferred=True
    )
    priority: Mapped[str]
    status: Mapped[str] = mapped_column(default="new")
    language: Mapped[str]
    team_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("service_teams.id", ondelete="SET NULL")
    )
    assignee_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    year: Mapped[int]
    number: Mapped[int]
    is_ai_resolution_attempted: Mapped[bool] = mapped_column(default=False)
    is_ai_resolution_successful: Mapped[bool] = mapped_column(default=False)
    ai_resolution_confidence_score: Mapped[int | None]
    due_at: Mapped[datetime]
    submitted_at: Mapped[datetime] = mapped_column(default=utc_now)
    # When somebody of the group first did anything about it.
    responded_at: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
    # Counts its changes, so that of two who change it at once the later one is told.
    version: Mapped[int] = mapped_column(default=1)

    @property
    def reference(self) -> str:
        """What people call it by: SR-2026-000123."""
        return f"SR-{self.year}-{self.number:06}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_STATUSES


class RequestUpdate(Base):
    """Something that was said or done about a request, in its order.

    `kind` is answer (a clarifying `question` and its answer in `body`), resolution (what the
    assistant proposed), reply (between requester and team), note (for the team alone:
    `is_internal`), or a change of status, assignment or priority from `before` to `after`.
    """

    __tablename__ = "service_request_updates"
    __table_args__ = (
        Index("ix_service_request_updates_request", "request_id", "id"),
        CheckConstraint(
            "kind IN ('answer', 'resolution', 'reply', 'note', 'status', 'assignment', 'priority')",
            name="kind",
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    request_id: Mapped[UUID] = mapped_column(ForeignKey("service_requests.id", ondelete="CASCADE"))
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    author: Mapped[str] = mapped_column(default="")
    kind: Mapped[str]
    is_internal: Mapped[bool] = mapped_column(default=False)
    question: Mapped[str] = mapped_column(default="")
    body: Mapped[str] = mapped_column(default="")
    before: Mapped[str] = mapped_column(default="")
    after: Mapped[str] = mapped_column(default="")
    # Of a reply that was sent twice, the same one.
    message_key: Mapped[str | None] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class QueueView(Base):
    """Filters of the queue that somebody keeps under a name, as the arguments of its address."""

    __tablename__ = "queue_views"
    __table_args__ = (UniqueConstraint("group_id", "user_id", "name"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    arguments: Mapped[JsonObject]


class RequestCounter(Base):
    """The last number that a group's requests of a year have."""

    __tablename__ = "service_request_counters"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    year: Mapped[int] = mapped_column(primary_key=True)
    last: Mapped[int] = mapped_column(server_default=text("0"))


class RequestSettings(Base):
    """Whether the assistant tries to solve requests of a group, and how sure it must be."""

    __tablename__ = "service_request_settings"
    __table_args__ = (
        CheckConstraint("resolution_threshold BETWEEN 0 AND 100", name="resolution_threshold"),
    )

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    is_resolution_on: Mapped[bool] = mapped_column(default=True)
    resolution_threshold: Mapped[int] = mapped_column(default=70)
    version: Mapped[int] = mapped_column(default=1)
    edited_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
