"""What keeps a library of ten thousand sections quick to read: its order, its words, old addresses.

Revision: 20261122_0910
Follows: 20261122_0900
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261122_0910"
down_revision = "20261122_0900"
branch_labels = None
depends_on = None


NAMED = {
    "manual_sections": ("title_words", ("title_en", "title_es")),
    "products": ("name_words", ("name_en", "name_es")),
}


def upgrade() -> None:
    op.execute(
        "CREATE FUNCTION name_words(first text, second text) RETURNS text"
        " LANGUAGE sql IMMUTABLE PARALLEL SAFE"
        " RETURN ' ' || regexp_replace("
        "fold_text(first || ' ' || second), '[^[:alnum:]]+', ' ', 'g') || ' '"
    )
    op.create_index(
        "ix_manual_sections_reading_order",
        "manual_sections",
        ["group_id", "parent_id", "position", "slug"],
    )
    # The primary key serves no prefix where the database's collation is not C.
    op.create_index(
        "ix_lexeme_statistics_beginning",
        "lexeme_statistics",
        ["group_id", "language", "lexeme"],
        postgresql_ops={"lexeme": "text_pattern_ops"},
    )
    # The words of names, folded once: folding ten thousand at each letter typed takes too long.
    for table, (column, names) in NAMED.items():
        words = sa.Computed(f"name_words({names[0]}, {names[1]})", persisted=True)
        op.add_column(table, sa.Column(column, sa.Text(), words, nullable=False))
    # By which an old address still leads to its section.
    op.add_column(
        "library_revisions",
        sa.Column("slug", sa.Text(), sa.Computed("snapshot ->> 'slug'", persisted=True)),
    )
    op.create_index("ix_library_revisions_group_id_slug", "library_revisions", ["group_id", "slug"])


def downgrade() -> None:
    op.drop_index("ix_library_revisions_group_id_slug", table_name="library_revisions")
    op.drop_column("library_revisions", "slug")
    for table, (column, _names) in NAMED.items():
        op.drop_column(table, column)
    op.execute("DROP FUNCTION name_words(text, text)")
    op.drop_index("ix_lexeme_statistics_beginning", table_name="lexeme_statistics")
    op.drop_index("ix_manual_sections_reading_order", table_name="manual_sections")
