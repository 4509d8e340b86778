"""Forms: templates, drafts, submissions, contacts, and the files that go with them.

Revision: 20261122_1100
Follows: 20261122_1000
"""

from __future__ import annotations

from typing import Any

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


# The table that a column refers to, and what becomes of the row when that one goes.
OF_GROUP, OF_USER = ("groups", "CASCADE"), ("users", "CASCADE")
BY_USER = ("users", "SET NULL")
OF_TEMPLATE, OF_DRAFT = ("form_templates", "CASCADE"), ("form_drafts", "SET NULL")


def ids(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Uuid(), nullable=nullable) for name in names]


def texts(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def counts(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def documents(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, JSONB(), nullable=False) for name in names]


def moments(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.DateTime(timezone=True), nullable=nullable) for name in names]


def computed(name: str, type_: Any, rule: str) -> sa.Column[Any]:
    return sa.Column(name, type_, sa.Computed(rule, persisted=True), nullable=True)


def keys(table: str, *primary: str, **references: tuple[str, str]) -> list[sa.Constraint]:
    """The primary key (`id` where none is named), and what each of these columns refers to."""
    return [
        *(
            sa.ForeignKeyConstraint(
                [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete=gone
            )
            for column, (target, gone) in references.items()
        ),
        sa.PrimaryKeyConstraint(*(primary or ("id",)), name=op.f(f"pk_{table}")),
    ]


def unique(table: str, *columns: str, **more: Any) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=op.f(f"uq_{table}_{'_'.join(columns)}"), **more)


def one_of(table: str, column: str, *values: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=op.f(f"ck_{table}_{column}"))


def upgrade() -> None:
    op.execute(FORM_WORDS)
    create_contacts()
    create_files()
    create_templates()
    create_drafts()
    create_submissions()
    protect("form_templates", OWN_OR_SHARED, write=ADMIN)
    protect("form_template_versions", OWN_OR_SHARED, write=ADMIN, grant="SELECT, INSERT")
    protect("form_drafts", PERSONAL)
    protect("form_handovers", PERSONAL)
    # What was handed in stays as it is.
    protect("form_submissions", OWN_OR_EDITOR, write=PERSONAL, grant="SELECT, INSERT")
    protect("form_counters", GROUP_OWNED, grant="SELECT, INSERT, UPDATE")
    protect("contacts", GROUP_OWNED, write=f"{GROUP_OWNED} AND {EDITORS}")
    protect("files", OWN_OR_EDITOR, write=PERSONAL)


def create_contacts() -> None:
    op.create_table(
        "contacts",
        *ids("id", "group_id"),
        *texts("name", "job", "phone", "email"),
        computed("name_words", sa.Text(), "name_words(name, '')"),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        *moments("created_at", "updated_at"),
        *keys("contacts", group_id=OF_GROUP),
    )
    op.create_index("ix_contacts_group", "contacts", ["group_id", "is_active", "name"])


def create_files() -> None:
    op.create_table(
        "files",
        *ids("id", "group_id"),
        *ids("user_id", nullable=True),
        *texts("key", "name", "kind", "media_type"),
        sa.Column("size", sa.BigInteger(), nullable=False),
        *texts("sha256", "state", "owner_kind"),
        *ids("owner_id", nullable=True),
        *moments("created_at"),
        one_of("files", "state", "temporary", "kept"),
        *keys("files", group_id=OF_GROUP, user_id=BY_USER),
        unique("files", "key"),
    )
    op.create_index("ix_files_owner", "files", ["owner_id"])
    op.create_index("ix_files_temporary", "files", ["state", "created_at"])


def create_templates() -> None:
    said = "title_en, title_es, description_en, description_es"
    op.create_table(
        "form_templates",
        *ids("id"),
        *ids("group_id", nullable=True),
        *texts("slug", "title_en", "title_es", "description_en", "description_es", "icon"),
        *documents("fields"),
        sa.Column("ai_tools", ARRAY(sa.Text()), nullable=False),
        *texts("status"),
        *counts("version"),
        computed("search_en", TSVECTOR(), f"form_words('en', {said})"),
        computed("search_es", TSVECTOR(), f"form_words('es', {said})"),
        *ids("edited_by", nullable=True),
        *moments("created_at", "updated_at"),
        one_of("form_templates", "status", "draft", "published", "archived"),
        *keys("form_templates", edited_by=BY_USER, group_id=OF_GROUP),
        unique("form_templates", "group_id", "slug", postgresql_nulls_not_distinct=True),
    )
    for index, column in (
        ("ix_form_templates_search", "search_en"),
        ("ix_form_templates_search_es", "search_es"),
    ):
        op.create_index(index, "form_templates", [column], postgresql_using="gin")
    op.create_table(
        "form_template_versions",
        *ids("id"),
        *ids("group_id", nullable=True),
        *ids("template_id"),
        *counts("version"),
        *documents("content"),
        *ids("author_id", nullable=True),
        *moments("created_at"),
        *keys(
            "form_template_versions", author_id=BY_USER, group_id=OF_GROUP, template_id=OF_TEMPLATE
        ),
        unique("form_template_versions", "template_id", "version"),
    )


def create_drafts() -> None:
    op.create_table(
        "form_drafts",
        *ids("id", "group_id", "user_id", "template_id"),
        *counts("template_version"),
        *documents("typed", "origins", "field_versions"),
        *ids("thread_id"),
        *texts("context", "status"),
        *counts("version"),
        *moments("created_at", "updated_at"),
        one_of("form_drafts", "status", "open", "submitted", "discarded"),
        *keys("form_drafts", group_id=OF_GROUP, template_id=OF_TEMPLATE, user_id=OF_USER),
        unique("form_drafts", "thread_id"),
    )
    op.create_index("ix_form_drafts_open", "form_drafts", ["group_id", "user_id", "updated_at"])
    op.create_table(
        "form_handovers",
        *ids("id", "group_id", "user_id", "template_id"),
        *texts("context", "language"),
        *moments("expires_at"),
        *ids("draft_id", nullable=True),
        *moments("used_at", nullable=True),
        *moments("created_at"),
        *keys(
            "form_handovers",
            draft_id=OF_DRAFT,
            group_id=OF_GROUP,
            template_id=OF_TEMPLATE,
            user_id=OF_USER,
        ),
    )


def create_submissions() -> None:
    op.create_table(
        "form_counters",
        *ids("group_id"),
        *counts("year"),
        sa.Column("last", sa.Integer(), server_default=sa.text("0"), nullable=False),
        *keys("form_counters", "group_id", "year", group_id=OF_GROUP),
    )
    op.create_table(
        "form_submissions",
        *ids("id", "group_id"),
        *ids("user_id", nullable=True),
        *texts("submitter"),
        *ids("draft_id", "template_id", nullable=True),
        *counts("template_version"),
        *documents("form", "values"),
        *counts("year", "number"),
        *texts("language"),
        *moments("submitted_at"),
        # Reports outlive the accounts of those who wrote them, and the forms that they were.
        *keys(
            "form_submissions",
            draft_id=OF_DRAFT,
            group_id=OF_GROUP,
            template_id=("form_templates", "SET NULL"),
            user_id=BY_USER,
        ),
        unique("form_submissions", "draft_id"),
        unique("form_submissions", "group_id", "year", "number"),
    )
    for index, column in (
        ("ix_form_submissions_list", "template_id"),
        ("ix_form_submissions_own", "user_id"),
    ):
        op.create_index(index, "form_submissions", ["group_id", column, "submitted_at"])


def downgrade() -> None:
    for table in (
        "files", "contacts", "form_counters", "form_submissions", "form_handovers", "form_drafts",
        "form_template_versions", "form_templates",
    ):  # fmt: skip
        op.drop_table(table)
    op.execute("DROP FUNCTION form_words(text, text, text, text, text)")
    op.execute("DROP FUNCTION form_stems(text)")
