"""What an import read is kept section by section too, so that a page reads the one that it shows.

Revision: 20261126_1600
Follows: 20261126_1120

What was read before stays packed as it is: a page of an older import looks there.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import GROUP_OWNED, ROLE, protect

revision = "20261126_1600"
down_revision = "20261126_1120"
branch_labels = None
depends_on = None

EDITOR = f"{GROUP_OWNED} AND {ROLE} IN ('manager', 'admin')"


def upgrade() -> None:
    op.create_table(
        "library_import_sections",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("document", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        # They are forgotten with what else was read.
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["library_import_files.import_id"],
            name=op.f("fk_library_import_sections_import_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_library_import_sections_group_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "import_id", "document", "place", name=op.f("pk_library_import_sections")
        ),
    )
    protect("library_import_sections", EDITOR)


def downgrade() -> None:
    op.drop_table("library_import_sections")
