"""Filters of the queue that a person keeps under a name.

Revision: 20261129_1130
Follows: 20261129_1100
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.security import PERSONAL, protect

revision = "20261129_1130"
down_revision = "20261129_1100"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "queue_views",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column(
            "group_id", sa.Uuid(), sa.ForeignKey("groups.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column(
            "user_id", sa.Uuid(), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("arguments", JSONB(), nullable=False),
        sa.UniqueConstraint("group_id", "user_id", "name"),
    )
    protect("queue_views", PERSONAL)


def downgrade() -> None:
    op.drop_table("queue_views")
