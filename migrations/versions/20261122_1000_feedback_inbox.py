"""What people share of a bad answer, what was done about it, and messages that are found fast.

Revision: 20261122_1000
Follows: 20261122_0930

Messages keep their folded text beside them: folding while searching took a second for two
thousand chats. The table is written anew for that, about ten seconds for 100,000 messages.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import GROUP_OWNED, ROLE, protect

revision = "20261122_1000"
down_revision = "20261122_0930"
branch_labels = None
depends_on = None

SHARED = ("shared_question", "shared_answer", "shared_language")
# An admin changes nothing that people have said: what is done about it has rows of its own,
# and only beside feedback of the same house.
ADMIN = f"{GROUP_OWNED} AND {ROLE} = 'admin'"
OF_THIS_HOUSE = (
    "EXISTS (SELECT 1 FROM message_feedback f WHERE f.id = feedback_handling.feedback_id"
    " AND f.group_id = feedback_handling.group_id)"
)


def upgrade() -> None:
    for name in SHARED:
        op.add_column("message_feedback", sa.Column(name, sa.Text(), nullable=True))
    op.create_check_constraint(
        op.f("ck_message_feedback_shared_whole"),
        "message_feedback",
        f"num_nulls({', '.join(SHARED)}) IN (0, {len(SHARED)})",
    )
    op.create_table(
        "feedback_handling",
        sa.Column("feedback_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("handled_by", sa.Uuid(), nullable=True),
        sa.Column("handled_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["feedback_id"],
            ["message_feedback.id"],
            name=op.f("fk_feedback_handling_feedback_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_feedback_handling_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["handled_by"],
            ["users.id"],
            name=op.f("fk_feedback_handling_handled_by"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("feedback_id", name=op.f("pk_feedback_handling")),
    )
    op.add_column(
        "messages",
        sa.Column("folded", sa.Text(), sa.Computed("fold_text(content)", persisted=True)),
    )
    protect("feedback_handling", ADMIN, write=f"{ADMIN} AND {OF_THIS_HOUSE}")


def downgrade() -> None:
    op.drop_column("messages", "folded")
    op.drop_table("feedback_handling")
    op.drop_constraint(op.f("ck_message_feedback_shared_whole"), "message_feedback")
    for name in SHARED:
        op.drop_column("message_feedback", name)
