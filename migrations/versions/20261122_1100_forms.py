"""Forms: templates, drafts, submissions, contacts, and the files that go with them.

Revision: 20261122_1100
Follows: 20261122_1000
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from migrations.security import GROUP_OWNED, PERSONAL, ROLE, USER_OWNED, protect

revision = "20261122_1100"
down_revision = "20261122_1000"
branch_labels = None
depends_on = None

# The words of a template, folded and stemmed for either language. What is said in the language
# that is asked in weighs more, a title more than a description.
FORM_WORDS = """
CREATE FUNCTION form_stems(value text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT to_tsvector('pg_catalog.simple',
        coalesce(string_agg(word_stem('mul', word), ' ' ORDER BY place), ''))
    FROM search_words(value);
END;

CREATE FUNCTION form_words(
    language text, title_en text, title_es text, description_en text, description_es text
) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN setweight(form_stems(title_en), CASE language WHEN 'en' THEN 'A'::"char" ELSE 'C' END)
    || setweight(form_stems(description_en), CASE language WHEN 'en' THEN 'B'::"char" ELSE 'D' END)
    || setweight(form_stems(title_es), CASE language WHEN 'es' THEN 'A'::"char" ELSE 'C' END)
    || setweight(form_stems(description_es), CASE language WHEN 'es' THEN 'B'::"char" ELSE 'D' END);
"""

EDITORS = f"{ROLE} IN ('manager', 'admin')"
# Shared forms belong to nobody: everybody reads them, only a migration or a seed writes them.
OWN_OR_SHARED = f"({GROUP_OWNED} OR group_id IS NULL)"
ADMIN = f"{GROUP_OWNED} AND {ROLE} = 'admin'"
OWN_OR_EDITOR = f"{GROUP_OWNED} AND ({USER_OWNED} OR {EDITORS})"


def upgrade() -> None:
    op.execute(FORM_WORDS)
    op.create_table(
        "contacts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column(
            "name_words",
            sa.Text(),
            sa.Computed("name_words(name, '')", persisted=True),
            nullable=True,
        ),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_contacts_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contacts")),
    )
    op.create_index(
        "ix_contacts_group", "contacts", ["group_id", "is_active", "name"], unique=False
    )
    op.create_table(
        "files",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("owner_kind", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state IN ('temporary', 'kept')", name=op.f("ck_files_state")),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_files_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_files_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
        sa.UniqueConstraint("key", name=op.f("uq_files_key")),
    )
    op.create_index("ix_files_owner", "files", ["owner_id"], unique=False)
    op.create_index("ix_files_temporary", "files", ["state", "created_at"], unique=False)
    op.create_table(
        "form_counters",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_form_counters_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "year", name=op.f("pk_form_counters")),
    )
    op.create_table(
        "form_templates",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("title_en", sa.Text(), nullable=False),
        sa.Column("title_es", sa.Text(), nullable=False),
        sa.Column("description_en", sa.Text(), nullable=False),
        sa.Column("description_es", sa.Text(), nullable=False),
        sa.Column("icon", sa.Text(), nullable=False),
        sa.Column("fields", JSONB(), nullable=False),
        sa.Column("ai_tools", ARRAY(sa.Text()), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column(
            "search_en",
            TSVECTOR(),
            sa.Computed(
                "form_words('en', title_en, title_es, description_en, description_es)",
                persisted=True,
            ),
            nullable=True,
        ),
        sa.Column(
            "search_es",
            TSVECTOR(),
            sa.Computed(
                "form_words('es', title_en, title_es, description_en, description_es)",
                persisted=True,
            ),
            nullable=True,
        ),
        sa.Column("edited_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status IN ('draft', 'published', 'archived')", name=op.f("ck_form_templates_status")
        ),
        sa.ForeignKeyConstraint(
            ["edited_by"],
            ["users.id"],
            name=op.f("fk_form_templates_edited_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_form_templates_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_form_templates")),
        sa.UniqueConstraint(
            "group_id",
            "slug",
            name=op.f("uq_form_templates_group_id_slug"),
            postgresql_nulls_not_distinct=True,
        ),
    )
    op.create_index(
        "ix_form_templates_search",
        "form_templates",
        ["search_en"],
        unique=False,
        postgresql_using="gin",
    )
    op.create_index(
        "ix_form_templates_search_es",
        "form_templates",
        ["search_es"],
        unique=False,
        postgresql_using="gin",
    )
    op.create_table(
        "form_drafts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("template_id", sa.Uuid(), nullable=False),
        sa.Column("template_version", sa.Integer(), nullable=False),
        sa.Column("typed", JSONB(), nullable=False),
        sa.Column("origins", JSONB(), nullable=False),
        sa.Column("field_versions", JSONB(), nullable=False),
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status IN ('open', 'submitted', 'discarded')", name=op.f("ck_form_drafts_status")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_form_drafts_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["template_id"],
            ["form_templates.id"],
            name=op.f("fk_form_drafts_template_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_form_drafts_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_form_drafts")),
        sa.UniqueConstraint("thread_id", name=op.f("uq_form_drafts_thread_id")),
    )
    op.create_index(
        "ix_form_drafts_open", "form_drafts", ["group_id", "user_id", "updated_at"], unique=False
    )
    op.create_table(
        "form_template_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("template_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", JSONB(), nullable=False),
        sa.Column("author_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["users.id"],
            name=op.f("fk_form_template_versions_author_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_form_template_versions_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["template_id"],
            ["form_templates.id"],
            name=op.f("fk_form_template_versions_template_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_form_template_versions")),
        sa.UniqueConstraint(
            "template_id", "version", name=op.f("uq_form_template_versions_template_id_version")
        ),
    )
    op.create_table(
        "form_handovers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("template_id", sa.Uuid(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("draft_id", sa.Uuid(), nullable=True),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["draft_id"],
            ["form_drafts.id"],
            name=op.f("fk_form_handovers_draft_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_form_handovers_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["template_id"],
            ["form_templates.id"],
            name=op.f("fk_form_handovers_template_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_form_handovers_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_form_handovers")),
    )
    op.create_table(
        "form_submissions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("submitter", sa.Text(), nullable=False),
        sa.Column("draft_id", sa.Uuid(), nullable=True),
        sa.Column("template_id", sa.Uuid(), nullable=True),
        sa.Column("template_version", sa.Integer(), nullable=False),
        sa.Column("form", JSONB(), nullable=False),
        sa.Column("values", JSONB(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["draft_id"],
            ["form_drafts.id"],
            name=op.f("fk_form_submissions_draft_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_form_submissions_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["template_id"],
            ["form_templates.id"],
            name=op.f("fk_form_submissions_template_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_form_submissions_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_form_submissions")),
        sa.UniqueConstraint("draft_id", name=op.f("uq_form_submissions_draft_id")),
        sa.UniqueConstraint(
            "group_id", "year", "number", name=op.f("uq_form_submissions_group_id_year_number")
        ),
    )
    op.create_index(
        "ix_form_submissions_list",
        "form_submissions",
        ["group_id", "template_id", "submitted_at"],
        unique=False,
    )
    op.create_index(
        "ix_form_submissions_own",
        "form_submissions",
        ["group_id", "user_id", "submitted_at"],
        unique=False,
    )
    protect("form_templates", OWN_OR_SHARED, write=ADMIN)
    protect("form_template_versions", OWN_OR_SHARED, write=ADMIN, grant="SELECT, INSERT")
    protect("form_drafts", PERSONAL)
    protect("form_handovers", PERSONAL)
    # What was handed in stays as it is.
    protect("form_submissions", OWN_OR_EDITOR, write=PERSONAL, grant="SELECT, INSERT")
    protect("form_counters", GROUP_OWNED, grant="SELECT, INSERT, UPDATE")
    protect("contacts", GROUP_OWNED, write=f"{GROUP_OWNED} AND {EDITORS}")
    protect("files", OWN_OR_EDITOR, write=PERSONAL)


def downgrade() -> None:
    for table in (
        "files", "contacts", "form_counters", "form_submissions", "form_handovers", "form_drafts",
        "form_template_versions", "form_templates",
    ):  # fmt: skip
        op.drop_table(table)
    op.execute("DROP FUNCTION form_words(text, text, text, text, text)")
    op.execute("DROP FUNCTION form_stems(text)")
