"""A reason of feedback for what no document says, and what a team's own words mean.

Revision: 20261129_1400
Follows: 20261129_1130
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import GROUP_OWNED, ROLE, protect

revision = "20261129_1400"
down_revision = "20261129_1130"
branch_labels = None
depends_on = None

BEFORE = "'', 'wrong', 'not_asked', 'outdated', 'unclear', 'other'"


def upgrade() -> None:
    _allow(f"{BEFORE}, 'missing'")
    op.create_table(
        "team_words",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column(
            "group_id", sa.Uuid(), sa.ForeignKey("groups.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("means", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
        sa.UniqueConstraint("group_id", "said"),
    )
    protect("team_words", GROUP_OWNED, write=f"{GROUP_OWNED} AND {ROLE} = 'admin'")


def downgrade() -> None:
    op.drop_table("team_words")
    op.execute("UPDATE message_feedback SET reason = 'other' WHERE reason = 'missing'")
    _allow(BEFORE)


def _allow(reasons: str) -> None:
    name = op.f("ck_message_feedback_known_reason")
    op.drop_constraint(name, "message_feedback", type_="check")
    op.create_check_constraint(name, "message_feedback", f"reason IN ({reasons})")
