"""Whether a sign-in is still there, and its person's role the same, asked with each transaction.

Revision: 20261129_1800
Follows: 20261129_1430
"""

from __future__ import annotations

from alembic import op

from migrations.security import definer

revision = "20261129_1800"
down_revision = "20261129_1430"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # To hold it is to hold the credentials: whoever sets a password locks these first.
    definer(
        "sign_in_holds(p_sign_in_id uuid, p_user_id uuid, p_group_id uuid, p_role text,"
        " p_hold boolean)",
        "boolean",
        """
        BEGIN
          IF p_hold THEN
            PERFORM 1 FROM credentials WHERE user_id = p_user_id FOR SHARE;
          END IF;
          RETURN EXISTS (
            SELECT 1 FROM sign_ins s
              JOIN users u ON u.id = s.user_id AND u.is_active
              JOIN memberships m ON m.user_id = s.user_id AND m.group_id = s.group_id
             WHERE s.id = p_sign_in_id AND s.user_id = p_user_id AND s.group_id = p_group_id
               AND m.role = p_role AND s.expires_at > clock_timestamp()
          );
        END
        """,
        language="plpgsql",
    )


def downgrade() -> None:
    op.execute("DROP FUNCTION sign_in_holds(uuid, uuid, uuid, text, boolean)")
