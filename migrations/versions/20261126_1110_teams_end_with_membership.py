"""Whoever is removed from a restaurant is on none of its teams any more.

Revision: 20261126_1110
Follows: 20261126_0400

Teams kept whoever had left the group, and gave them its requests again once they were asked back.
"""

from __future__ import annotations

from alembic import op

revision = "20261126_1110"
down_revision = "20261126_0400"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Nobody is removed between the two statements after this one.
    op.execute("LOCK TABLE memberships IN SHARE ROW EXCLUSIVE MODE")
    op.execute(
        "DELETE FROM service_team_members t WHERE NOT EXISTS (SELECT 1 FROM memberships m"
        " WHERE m.user_id = t.user_id AND m.group_id = t.group_id)"
    )
    op.create_foreign_key(
        op.f("fk_service_team_members_membership"),
        "service_team_members",
        "memberships",
        ["user_id", "group_id"],
        ["user_id", "group_id"],
        ondelete="CASCADE",
    )


def downgrade() -> None:
    op.drop_constraint(
        op.f("fk_service_team_members_membership"), "service_team_members", type_="foreignkey"
    )
