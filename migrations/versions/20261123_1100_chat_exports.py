"""Exports of all of a person's chats: how far each is, and where its bytes lie.

Revision: 20261123_1100
Follows: 20261123_1000
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.security import PERSONAL, protect

revision = "20261123_1100"
down_revision = "20261123_1000"
branch_labels = None
depends_on = None

TABLE = "chat_exports"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("letterhead", JSONB(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status IN ('waiting', 'working', 'ready', 'failed')",
            name=op.f("ck_chat_exports_status"),
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_chat_exports_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_chat_exports_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chat_exports")),
        sa.UniqueConstraint("group_id", "user_id", name=op.f("uq_chat_exports_group_id_user_id")),
    )
    protect(TABLE, PERSONAL)


def downgrade() -> None:
    op.drop_table(TABLE)
