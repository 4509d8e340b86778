"""What can be searched: documents, their vectors, and the postings of their words.

Postings and both statistics tables are kept by triggers on `search_documents` (see the
migration that makes them); the app's role may only read them. They have no foreign keys:
the triggers remove what a deleted document leaves, and a check per word would be slow.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Identity,
    Index,
    PrimaryKeyConstraint,
    SmallInteger,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonObject, new_id, utc_now


class SearchDocument(Base):
    """One chunk of something a group can search.

    `language` is that of the text (en, es, or mul for bilingual text); `serves` are the
    languages whose readers should find it: a text without a translation serves both.
    `source_type` is the citation context (manual, training, dishes, …); `headings` is the
    chunk's place in its source, outermost first.
    """

    __tablename__ = "search_documents"
    __table_args__ = (
        CheckConstraint("language IN ('en', 'es', 'mul')", name="language"),
        UniqueConstraint(
            "group_id",
            "source_type",
            "source_id",
            "language",
            "chunk_no",
            name="uq_search_documents_chunk",
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    # A short number for the postings, which hold one row per word and document.
    doc_no: Mapped[int] = mapped_column(BigInteger, Identity(), unique=True)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    source_type: Mapped[str]
    source_id: Mapped[UUID]
    chunk_no: Mapped[int] = mapped_column(default=0)
    language: Mapped[str]
    serves: Mapped[list[str]] = mapped_column(ARRAY(TEXT))
    title: Mapped[str] = mapped_column(default="")
    headings: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    text: Mapped[str]
    details: Mapped[JsonObject] = mapped_column("metadata", default=dict)
    owner_id: Mapped[UUID | None]  # a user or an athlete; null means shared
    is_published: Mapped[bool] = mapped_column(default=True)
    content_hash: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)


class Embedding(Base):
    """The vector of a document by one model; several models live side by side.

    A `content_hash` that is not the document's marks a vector of an earlier text, which
    serves until the document is embedded again.
    """

    __tablename__ = "embeddings"

    document_id: Mapped[UUID] = mapped_column(
        ForeignKey("search_documents.id", ondelete="CASCADE"), primary_key=True
    )
    model: Mapped[str] = mapped_column(primary_key=True)
    dimensions: Mapped[int] = mapped_column(SmallInteger)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    owner_id: Mapped[UUID | None]
    content_hash: Mapped[str]
    embedding: Mapped[list[float]] = mapped_column(HALFVEC())
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Posting(Base):
    """A word of a document: how often it stands there, and how long the document is.

    `frequency` and `length` count a word of the title three times and one of the
    headings twice. The index carries everything that scoring reads.
    """

    __tablename__ = "postings"
    __table_args__ = (
        PrimaryKeyConstraint(
            "group_id",
            "language",
            "lexeme",
            "doc_no",
            postgresql_include=["frequency", "length", "owner_id"],
        ),
        Index("ix_postings_doc_no", "doc_no"),
    )

    group_id: Mapped[UUID]
    language: Mapped[str]
    lexeme: Mapped[str]
    doc_no: Mapped[int] = mapped_column(BigInteger)
    frequency: Mapped[int] = mapped_column(SmallInteger)
    length: Mapped[int] = mapped_column(SmallInteger)
    owner_id: Mapped[UUID | None]


class LexemeStatistics(Base):
    """In how many documents of a group, in one language, a lexeme stands."""

    __tablename__ = "lexeme_statistics"
    __table_args__ = (
        Index(
            "ix_lexeme_statistics_beginning",
            "group_id",
            "language",
            "lexeme",
            postgresql_ops={"lexeme": "text_pattern_ops"},
        ),
    )

    group_id: Mapped[UUID] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    lexeme: Mapped[str] = mapped_column(primary_key=True)
    documents: Mapped[int]


class LanguageStatistics(Base):
    """How many documents with words a group has in one language, and their total length."""

    __tablename__ = "language_statistics"

    group_id: Mapped[UUID] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    documents: Mapped[int] = mapped_column(BigInteger)
    total_length: Mapped[int] = mapped_column(BigInteger)


class TeamWord(Base):
    """What a team says for something that its documents call otherwise; see team_words.py.

    `said` is folded: the words by which it is recognised.
    """

    __tablename__ = "team_words"
    __table_args__ = (UniqueConstraint("group_id", "said"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    said: Mapped[str]
    means: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
