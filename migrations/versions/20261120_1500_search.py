"""search: documents, vectors, and postings for BM25 that follow the documents.

The lexical leg ranks by BM25, which needs word counts per document and per group. The
triggers here keep them with the documents in the same transaction, set by set. A group's
counts have one writer at a time (an advisory lock); readers never wait.

Revision: 20261120_1500
Follows: 20261120_1400
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects import postgresql

from migrations.security import GROUP, USER, app_role, definer, protect

revision = "20261120_1500"
down_revision = "20261120_1400"
branch_labels = None
depends_on = None

SHARED_OR_OWN = f"group_id = {GROUP} AND (owner_id IS NULL OR owner_id = {USER})"
# A document never changes hands: what is not listed here is fixed when it is made.
CHANGEABLE = "serves, title, headings, text, metadata, is_published, content_hash, updated_at"
REVECTORED = "dimensions, content_hash, embedding, created_at"

FUNCTIONS = Path(__file__).with_suffix(".sql")


def upgrade() -> None:
    _create_documents()
    _create_embeddings()
    _create_postings()
    _create_functions()
    _create_triggers()
    protect(
        "search_documents", SHARED_OR_OWN, grant=f"SELECT, INSERT, DELETE, UPDATE ({CHANGEABLE})"
    )
    protect("embeddings", SHARED_OR_OWN, grant=f"SELECT, INSERT, DELETE, UPDATE ({REVECTORED})")
    protect("postings", SHARED_OR_OWN, grant="SELECT")
    protect("lexeme_statistics", f"group_id = {GROUP}", grant="SELECT")
    protect("language_statistics", f"group_id = {GROUP}", grant="SELECT")
    op.execute(f"GRANT EXECUTE ON FUNCTION lock_search_groups(uuid[]) TO {app_role()}")


def downgrade() -> None:
    for table in ("embeddings", "search_documents", "postings"):
        op.drop_table(table)
    op.drop_table("lexeme_statistics")
    op.drop_table("language_statistics")
    for function in (
        "note_added_documents()",
        "note_changed_documents()",
        "note_removed_documents()",
        "post_documents(bigint[])",
        "unpost_documents(bigint[])",
        "lock_search_groups(uuid[])",
        "search_scores(text, uuid, uuid, float8, float8)",
        "search_terms(text)",
        "search_words(text)",
        "word_stem(text, text)",
        "is_stop_word(text)",
        "fold_text(text)",
    ):
        op.execute(f"DROP FUNCTION {function}")


def _create_documents() -> None:
    op.create_table(
        "search_documents",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("doc_no", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("source_type", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("chunk_no", sa.Integer(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("serves", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("headings", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=True),
        sa.Column("is_published", sa.Boolean(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "language IN ('en', 'es', 'mul')", name=op.f("ck_search_documents_language")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_search_documents_group_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_documents")),
        sa.UniqueConstraint("doc_no", name=op.f("uq_search_documents_doc_no")),
        sa.UniqueConstraint(
            "group_id",
            "source_type",
            "source_id",
            "language",
            "chunk_no",
            name="uq_search_documents_chunk",
        ),
    )


def _create_embeddings() -> None:
    op.create_table(
        "embeddings",
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.SmallInteger(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=True),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("embedding", HALFVEC(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["search_documents.id"],
            name=op.f("fk_embeddings_document_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_embeddings_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document_id", "model", name=op.f("pk_embeddings")),
    )
    # A vector of 3,072 halves fits in a page. Kept in the row, it is read without a detour,
    # and the planner sees what reading all of them costs.
    op.execute("ALTER TABLE embeddings SET (toast_tuple_target = 8160)")


def _create_postings() -> None:
    op.create_table(
        "postings",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("lexeme", sa.Text(), nullable=False),
        sa.Column("doc_no", sa.BigInteger(), nullable=False),
        sa.Column("frequency", sa.SmallInteger(), nullable=False),
        sa.Column("length", sa.SmallInteger(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint(
            "group_id",
            "language",
            "lexeme",
            "doc_no",
            name=op.f("pk_postings"),
            postgresql_include=["frequency", "length", "owner_id"],
        ),
    )
    op.create_index("ix_postings_doc_no", "postings", ["doc_no"])
    # Scoring reads the index alone, which works where vacuum has passed.
    op.execute("ALTER TABLE postings SET (autovacuum_vacuum_insert_scale_factor = 0.02)")
    op.create_table(
        "lexeme_statistics",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("lexeme", sa.Text(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "group_id", "language", "lexeme", name=op.f("pk_lexeme_statistics")
        ),
    )
    op.create_table(
        "language_statistics",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("total_length", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("group_id", "language", name=op.f("pk_language_statistics")),
    )


def _create_functions() -> None:
    # Without parameters: what stands between dollars is not for the driver to read.
    connection = op.get_bind().execution_options(no_parameters=True)
    connection.exec_driver_sql(FUNCTIONS.read_text("utf-8"))


def _create_triggers() -> None:
    definer(
        "note_added_documents()",
        "trigger",
        """
        BEGIN
            PERFORM lock_search_groups((SELECT array_agg(DISTINCT group_id) FROM added));
            PERFORM post_documents((SELECT array_agg(doc_no) FROM added));
            RETURN NULL;
        END
        """,
        language="plpgsql",
    )
    definer(
        "note_removed_documents()",
        "trigger",
        """
        BEGIN
            PERFORM lock_search_groups((SELECT array_agg(DISTINCT group_id) FROM removed));
            PERFORM unpost_documents((SELECT array_agg(doc_no) FROM removed));
            RETURN NULL;
        END
        """,
        language="plpgsql",
    )
    definer(
        "note_changed_documents()",
        "trigger",
        """
        DECLARE
            numbers bigint[];
        BEGIN
            SELECT array_agg(doc_no) INTO numbers
            FROM earlier JOIN later USING (doc_no)
            WHERE (earlier.language, earlier.title, earlier.headings, earlier.text)
                IS DISTINCT FROM (later.language, later.title, later.headings, later.text);
            IF numbers IS NOT NULL THEN
                PERFORM lock_search_groups((SELECT array_agg(DISTINCT group_id) FROM later));
                PERFORM unpost_documents(numbers);
                PERFORM post_documents(numbers);
            END IF;
            RETURN NULL;
        END
        """,
        language="plpgsql",
    )
    for event, function, tables in (
        ("INSERT", "note_added_documents", "NEW TABLE AS added"),
        ("DELETE", "note_removed_documents", "OLD TABLE AS removed"),
        ("UPDATE", "note_changed_documents", "OLD TABLE AS earlier NEW TABLE AS later"),
    ):
        op.execute(
            f"CREATE TRIGGER {function} AFTER {event} ON search_documents"
            f" REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION {function}()"
        )
