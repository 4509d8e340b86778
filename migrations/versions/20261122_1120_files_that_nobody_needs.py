"""Files: an upload is known again by its key, and what nobody needs is let go of.

Revision: 20261122_1120
Follows: 20261122_1100
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import definer

revision = "20261122_1120"
down_revision = "20261122_1100"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("files", sa.Column("upload_key", sa.Text(), nullable=True))
    op.create_unique_constraint(
        op.f("uq_files_user_id_upload_key"), "files", ["user_id", "upload_key"]
    )
    # A draft that is still being filled in needs its files, for a month from its last change.
    definer(
        "forget_abandoned_files(p_hours integer)",
        "SETOF text",
        """
        DELETE FROM files AS f
         WHERE f.state = 'temporary'
           AND f.created_at < clock_timestamp() - make_interval(hours => p_hours)
           AND NOT EXISTS (
             SELECT FROM form_drafts d
              WHERE d.id = f.owner_id AND f.owner_kind = 'form_draft' AND d.status = 'open'
                AND d.updated_at > clock_timestamp() - make_interval(days => 30))
        RETURNING f.key
        """,
    )
    definer(
        "known_files(p_keys text[])",
        "SETOF text",
        "SELECT key FROM files WHERE key = ANY (p_keys)",
    )


def downgrade() -> None:
    op.execute("DROP FUNCTION known_files(text[])")
    op.execute("DROP FUNCTION forget_abandoned_files(integer)")
    op.drop_constraint(op.f("uq_files_user_id_upload_key"), "files", type_="unique")
    op.drop_column("files", "upload_key")
