"""Proposals that wait for a confirmation, and conversations that branch.

Messages become a tree: each names the one it follows, and a thread the last one of the
branch that is shown. What was there before is one branch, in the order of its ids.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.security import PERSONAL, protect

revision = "20261120_2100"
down_revision = "20261120_1530"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    create_proposals()
    grow_branches()


def create_proposals() -> None:
    op.create_table(
        "proposals",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("arguments", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("summary", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("details", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("decided_at", MOMENT, nullable=True),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("receipt", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("undo_until", MOMENT, nullable=True),
        sa.Column("undone_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_proposals_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_proposals_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_proposals_thread_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["messages.id"],
            name=op.f("fk_proposals_message_id"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "state IN ('pending', 'confirmed', 'declined', 'expired', 'superseded')",
            name=op.f("ck_proposals_state"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_proposals")),
    )
    op.create_index("ix_proposals_thread", "proposals", ["thread_id", "id"], unique=False)
    op.create_index("ix_proposals_message", "proposals", ["message_id"], unique=False)
    # A thread asks one thing at a time.
    op.create_index(
        "uq_proposals_pending_thread",
        "proposals",
        ["thread_id"],
        unique=True,
        postgresql_where=sa.text("state = 'pending'"),
    )
    # Nobody takes back that something was proposed: rows are changed, never removed.
    protect("proposals", PERSONAL, grant="SELECT, INSERT, UPDATE")


def grow_branches() -> None:
    op.add_column("messages", sa.Column("parent_id", sa.Uuid(), nullable=True))
    op.add_column("threads", sa.Column("head_id", sa.Uuid(), nullable=True))
    op.execute(
        """
        UPDATE messages m SET parent_id = o.before
          FROM (SELECT id, lag(id) OVER (PARTITION BY thread_id ORDER BY id) AS before
                  FROM messages) o
         WHERE o.id = m.id AND o.before IS NOT NULL
        """
    )
    op.execute(
        """
        UPDATE threads t SET head_id =
          (SELECT m.id FROM messages m WHERE m.thread_id = t.id ORDER BY m.id DESC LIMIT 1)
        """
    )
    op.create_index("ix_messages_parent", "messages", ["parent_id"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_messages_parent", table_name="messages")
    op.drop_column("threads", "head_id")
    op.drop_column("messages", "parent_id")
    op.drop_index(
        "uq_proposals_pending_thread",
        table_name="proposals",
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.drop_index("ix_proposals_message", table_name="proposals")
    op.drop_index("ix_proposals_thread", table_name="proposals")
    op.drop_table("proposals")
