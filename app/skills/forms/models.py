"""Form templates and their versions, drafts, submissions, contacts, and what is handed over."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Computed, ForeignKey, Index, UniqueConstraint, false, text
from sqlalchemy.dialects.postgresql import ARRAY, TEXT, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonList, JsonObject, new_id, utc_now
from app.text.bilingual import in_language

_TEXTS = "title_en, title_es, description_en, description_es"
TEMPLATE_STATES = ("draft", "published", "archived")
UPDATE_FORM = "update_form"
# What the assistant beside a form may use; a template without them has none beside it.
FORM_TOOLS = (UPDATE_FORM,)


class FormTemplate(Base):
    """A form as the group has it now; without a group it is shared by all of them.

    `fields` are read by `fields.definitions.read_fields`. What was submitted is drawn with the
    version that it was submitted on (`FormTemplateVersion`).
    """

    __tablename__ = "form_templates"
    __table_args__ = (
        UniqueConstraint("group_id", "slug", postgresql_nulls_not_distinct=True),
        Index("ix_form_templates_search", "search_en", postgresql_using="gin"),
        Index("ix_form_templates_search_es", "search_es", postgresql_using="gin"),
        CheckConstraint("status IN ('draft', 'published', 'archived')", name="status"),
    )
    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 (SQLAlchemy's own name)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID | None] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    slug: Mapped[str]
    title_en: Mapped[str] = mapped_column(default="")
    title_es: Mapped[str] = mapped_column(default="")
    description_en: Mapped[str] = mapped_column(default="")
    description_es: Mapped[str] = mapped_column(default="")
    # What people call it, and what it is for in their words, parted by commas.
    words_en: Mapped[str] = mapped_column(default="", server_default="")
    words_es: Mapped[str] = mapped_column(default="", server_default="")
    icon: Mapped[str] = mapped_column(default="form")
    fields: Mapped[JsonList] = mapped_column(default=list)
    ai_tools: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=lambda: [*FORM_TOOLS])
    # Whether managers are told of each one that is sent.
    tells_managers: Mapped[bool] = mapped_column(default=False, server_default=false())
    status: Mapped[str] = mapped_column(default="draft")
    version: Mapped[int] = mapped_column(default=1)
    # Titles and descriptions of both languages, folded and stemmed; kept by the database.
    search_en: Mapped[str | None] = mapped_column(
        TSVECTOR, Computed(f"form_words('en', {_TEXTS})", persisted=True), deferred=True
    )
    search_es: Mapped[str | None] = mapped_column(
        TSVECTOR, Computed(f"form_words('es', {_TEXTS})", persisted=True), deferred=True
    )
    # What its fields and their options are called, in both languages; kept by the database.
    asked: Mapped[str | None] = mapped_column(
        TEXT, Computed("form_asked(fields)", persisted=True), deferred=True
    )
    edited_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    @property
    def has_assistant(self) -> bool:
        """Whether an assistant stands beside it that fills in what one tells."""
        return bool(set(FORM_TOOLS) & set(self.ai_tools))

    def title(self, language: str) -> str:
        """The title in `language`, else in the one there is."""
        return in_language(language, self.title_en, self.title_es)

    def description(self, language: str) -> str:
        """The description in `language`, else in the one there is."""
        return in_language(language, self.description_en, self.description_es)


class FormTemplateVersion(Base):
    """A template as it was from one save to the next; its author and time are that save's."""

    __tablename__ = "form_template_versions"
    __table_args__ = (UniqueConstraint("template_id", "version"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID | None] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    template_id: Mapped[UUID] = mapped_column(ForeignKey("form_templates.id", ondelete="CASCADE"))
    version: Mapped[int]
    # slug, titles, descriptions, words, icon, fields, ai_tools, tells_managers and status, by
    # those names; what is younger than a version is not in it.
    content: Mapped[JsonObject]
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class FormDraft(Base):
    """A form that somebody is filling in.

    `typed` is what the form holds, right or wrong, by field name: nothing that was typed is
    ever lost. `origins` tells of each field where its value came from: {by: typed or said,
    words?, confidence?, message?, before?, at}. `field_versions` counts each field's changes, so
    that of two tabs the later one wins field by field. `thread_id` is the conversation beside it.
    """

    __tablename__ = "form_drafts"
    __table_args__ = (
        Index("ix_form_drafts_open", "group_id", "user_id", "updated_at"),
        CheckConstraint("status IN ('open', 'submitted', 'discarded')", name="status"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    template_id: Mapped[UUID] = mapped_column(ForeignKey("form_templates.id", ondelete="CASCADE"))
    template_version: Mapped[int]
    typed: Mapped[JsonObject] = mapped_column(default=dict)
    origins: Mapped[JsonObject] = mapped_column(default=dict)
    field_versions: Mapped[JsonObject] = mapped_column(default=dict)
    thread_id: Mapped[UUID] = mapped_column(default=new_id, unique=True)
    # What the person said in the chat that led here, word by word.
    context: Mapped[str] = mapped_column(default="")
    status: Mapped[str] = mapped_column(default="open")
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)


class FormHandover(Base):
    """What somebody said in the chat, on its way to a form: for them alone, once, soon."""

    __tablename__ = "form_handovers"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    template_id: Mapped[UUID] = mapped_column(ForeignKey("form_templates.id", ondelete="CASCADE"))
    context: Mapped[str]
    language: Mapped[str]
    expires_at: Mapped[datetime]
    # The draft that it has become.
    draft_id: Mapped[UUID | None] = mapped_column(ForeignKey("form_drafts.id", ondelete="SET NULL"))
    used_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class FormSubmission(Base):
    """A form that was handed in; it is never changed again.

    `number` counts the group's submissions of a year without gaps: F-2026-000012.
    """

    __tablename__ = "form_submissions"
    __table_args__ = (
        UniqueConstraint("group_id", "year", "number"),
        UniqueConstraint("draft_id"),
        Index("ix_form_submissions_list", "group_id", "template_id", "submitted_at"),
        Index("ix_form_submissions_own", "group_id", "user_id", "submitted_at"),
    )
    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 (SQLAlchemy's own name)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    # Reports outlive the accounts of those who wrote them.
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    submitter: Mapped[str]
    draft_id: Mapped[UUID | None] = mapped_column(ForeignKey("form_drafts.id", ondelete="SET NULL"))
    template_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("form_templates.id", ondelete="SET NULL")
    )
    template_version: Mapped[int]
    # slug, titles and fields as they were, so that it can be drawn whatever becomes of them.
    form: Mapped[JsonObject]
    # The same without the fields, which may be large; kept by the database.
    head: Mapped[JsonObject | None] = mapped_column(
        Computed("form - 'fields'", persisted=True), deferred=True
    )
    values: Mapped[JsonObject]
    # Number, submitter, titles and the texts of the values, without case and accents, as far as
    # they are not far too long; for searching only: nobody loads it.
    folded: Mapped[str | None] = mapped_column(
        Computed('submission_words(year, number, submitter, form, "values")', persisted=True),
        deferred=True,
    )
    year: Mapped[int]
    number: Mapped[int]
    language: Mapped[str]
    submitted_at: Mapped[datetime] = mapped_column(default=utc_now)

    @property
    def reference(self) -> str:
        """What people call it by: F-2026-000012."""
        return f"F-{self.year}-{self.number:06}"


class FormCounter(Base):
    """The last number that a group's submissions of a year have."""

    __tablename__ = "form_counters"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    year: Mapped[int] = mapped_column(primary_key=True)
    last: Mapped[int] = mapped_column(server_default=text("0"))


class Contact(Base):
    """Somebody whom forms may name: staff, with or without an account, and others."""

    __tablename__ = "contacts"
    __table_args__ = (Index("ix_contacts_group", "group_id", "is_active", "name"),)
    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 (SQLAlchemy's own name)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    name: Mapped[str]
    job: Mapped[str] = mapped_column(default="")
    phone: Mapped[str] = mapped_column(default="")
    email: Mapped[str] = mapped_column(default="")
    # The words of the name, folded, with a blank around each; kept by the database.
    name_words: Mapped[str | None] = mapped_column(
        Computed("name_words(name, '')", persisted=True), deferred=True
    )
    is_active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
