"""What people think of the replies they got: a thumb, and for a bad one the reason.

Revision: 20261120_2150
Follows: 20261120_2140
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import GROUP_OWNED, PERSONAL, ROLE, protect

revision = "20261120_2150"
down_revision = "20261120_2140"
branch_labels = None
depends_on = None

# Somebody rates their own replies only, and in the thread where they stand.
OWN_REPLY = (
    "EXISTS (SELECT 1 FROM messages m WHERE m.id = message_feedback.message_id"
    " AND m.thread_id = message_feedback.thread_id AND m.user_id = message_feedback.user_id"
    " AND m.group_id = message_feedback.group_id AND m.role = 'assistant')"
)


def upgrade() -> None:
    op.create_table(
        "message_feedback",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("turn_id", sa.Uuid(), nullable=True),
        sa.Column("rating", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "rating IN ('up', 'down')", name=op.f("ck_message_feedback_known_rating")
        ),
        sa.CheckConstraint(
            "reason IN ('', 'wrong', 'not_asked', 'outdated', 'unclear', 'other')",
            name=op.f("ck_message_feedback_known_reason"),
        ),
        sa.CheckConstraint(
            "char_length(comment) <= 500", name=op.f("ck_message_feedback_short_comment")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_message_feedback_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_message_feedback_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["messages.id"],
            name=op.f("fk_message_feedback_message_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"],
            ["threads.id"],
            name=op.f("fk_message_feedback_thread_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_message_feedback")),
        sa.UniqueConstraint(
            "message_id", "user_id", name=op.f("uq_message_feedback_message_id_user_id")
        ),
    )
    op.create_index(
        "ix_message_feedback_received", "message_feedback", ["group_id", "id"], unique=False
    )
    op.create_index(
        op.f("ix_message_feedback_thread_id"), "message_feedback", ["thread_id"], unique=False
    )
    protect(
        "message_feedback",
        f"({PERSONAL}) OR ({GROUP_OWNED} AND {ROLE} = 'admin')",
        write=f"{PERSONAL} AND {OWN_REPLY}",
    )


def downgrade() -> None:
    op.drop_table("message_feedback")
