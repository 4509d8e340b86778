"""Whoever sets a password ends the open invitations that were made with the one before.

Revision: 20261126_2000
Follows: 20261126_1600

Somebody else may have used a sign-in until then, and made themselves a way in.
"""

from __future__ import annotations

from alembic import op

revision = "20261126_2000"
down_revision = "20261126_1600"
branch_labels = None
depends_on = None

INVITATIONS = "DELETE FROM invitations WHERE invited_by = p_user_id AND accepted_at IS NULL;"


def upgrade() -> None:
    write_password(INVITATIONS)


def downgrade() -> None:
    write_password("")


def write_password(more: str) -> None:
    """Define what sets a password and ends all that came before it, and `more`."""
    op.execute(
        f"""
        CREATE OR REPLACE FUNCTION write_password(p_user_id uuid, p_password_hash text)
        RETURNS void
        LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $body$
        BEGIN
          INSERT INTO credentials AS c (user_id, password_hash, changed_at)
          VALUES (p_user_id, p_password_hash, clock_timestamp())
          ON CONFLICT (user_id) DO UPDATE
             SET password_hash = excluded.password_hash, changed_at = excluded.changed_at;
          DELETE FROM password_resets WHERE user_id = p_user_id;
          DELETE FROM sign_ins WHERE user_id = p_user_id;
          {more}
        END
        $body$
        """
    )
