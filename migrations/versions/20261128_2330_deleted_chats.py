"""A chat that was deleted is removed with its words, an hour later.

Revision: 20261128_2330
Follows: 20261128_0010

Messages, turns, proposals and thumbs go with their thread. What was filed, added or sent from it
stays, and so do the figures of its turns, which hold no words. Answers that are kept for programs
which ask twice go after their day, whether their person comes back or not.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from migrations.security import definer

revision = "20261128_2330"
down_revision = "20261128_0010"
branch_labels = None
depends_on = None

INDEX = "ix_threads_deleted"


def upgrade() -> None:
    op.create_index(
        INDEX, "threads", ["deleted_at"], postgresql_where=text("deleted_at IS NOT NULL")
    )
    definer(
        "forget_deleted_chats(p_minutes integer, p_most integer)",
        "integer",
        """
        DELETE FROM keyed_answers WHERE created_at < clock_timestamp() - interval '24 hours';
        WITH gone AS (
          DELETE FROM threads WHERE id IN (
            SELECT id FROM threads
             WHERE deleted_at < clock_timestamp() - make_interval(mins => p_minutes)
             ORDER BY deleted_at LIMIT p_most FOR UPDATE SKIP LOCKED)
          RETURNING 1)
        SELECT count(*)::integer FROM gone;
        """,
    )


def downgrade() -> None:
    op.execute("DROP FUNCTION forget_deleted_chats")
    op.drop_index(INDEX, "threads")
