"""What the library was before each change, imports of whole files, and saved test sentences.

Revision: 20261122_0900
Follows: 20261120_2200
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.security import GROUP_OWNED, ROLE, protect

revision = "20261122_0900"
down_revision = "20261120_2200"
branch_labels = None
depends_on = None

EDITOR = f"{GROUP_OWNED} AND {ROLE} IN ('manager', 'admin')"
VERSIONED = ("manual_sections", "products")


def upgrade() -> None:
    for table in VERSIONED:
        op.add_column(table, sa.Column("version", sa.Integer(), server_default="1", nullable=False))
        op.alter_column(table, "version", server_default=None)
    create_imports()
    create_revisions()
    create_saved_sentences()


def create_imports() -> None:
    op.create_table(
        "library_imports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("options", postgresql.JSONB(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("plan", postgresql.JSONB(), nullable=False),
        sa.Column("problems", postgresql.JSONB(), nullable=False),
        sa.Column("report", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "target IN ('sop', 'policy', 'training', 'recipe',"
            " 'dishes', 'wines', 'cocktails', 'recipes', 'beer_liquor')",
            name=op.f("ck_library_imports_known_target"),
        ),
        sa.CheckConstraint(
            "language IN ('en', 'es', 'mul')", name=op.f("ck_library_imports_known_language")
        ),
        sa.CheckConstraint(
            "status IN ('waiting', 'reading', 'ready', 'applying', 'applied', 'failed',"
            " 'cancelled', 'undoing', 'undone')",
            name=op.f("ck_library_imports_known_status"),
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_library_imports_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_library_imports_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_library_imports")),
    )
    op.create_index("ix_library_imports_group_id_id", "library_imports", ["group_id", "id"])
    op.create_table(
        "library_import_files",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("reading", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["library_imports.id"],
            name=op.f("fk_library_import_files_import_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_library_import_files_group_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", name=op.f("pk_library_import_files")),
    )
    for table in ("library_imports", "library_import_files"):
        protect(table, EDITOR)


def create_revisions() -> None:
    op.create_table(
        "library_revisions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("entity", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("snapshot", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("author_id", sa.Uuid(), nullable=True),
        sa.Column("import_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "entity IN ('section', 'product')", name=op.f("ck_library_revisions_known_entity")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_library_revisions_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["users.id"],
            name=op.f("fk_library_revisions_author_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["library_imports.id"],
            name=op.f("fk_library_revisions_import_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_library_revisions")),
        sa.UniqueConstraint(
            "entity_id", "version", name=op.f("uq_library_revisions_entity_id_version")
        ),
    )
    op.create_index("ix_library_revisions_import_id", "library_revisions", ["import_id"])
    protect("library_revisions", GROUP_OWNED, write=EDITOR)


def create_saved_sentences() -> None:
    op.create_table(
        "saved_sentences",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("expect", postgresql.JSONB(), nullable=False),
        sa.Column("feedback_id", sa.Uuid(), nullable=True),
        sa.Column("author_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("language IN ('en', 'es')", name=op.f("ck_saved_sentences_language")),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_saved_sentences_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["feedback_id"],
            ["message_feedback.id"],
            name=op.f("fk_saved_sentences_feedback_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["users.id"],
            name=op.f("fk_saved_sentences_author_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_sentences")),
        sa.UniqueConstraint(
            "group_id", "text", "language", name=op.f("uq_saved_sentences_group_id_text_language")
        ),
    )
    protect("saved_sentences", f"{GROUP_OWNED} AND {ROLE} = 'admin'")


def downgrade() -> None:
    op.drop_table("saved_sentences")
    op.drop_table("library_revisions")
    op.drop_table("library_import_files")
    op.drop_table("library_imports")
    for table in VERSIONED:
        op.drop_column(table, "version")
