"""Looking at the queue of turns from outside, and handing turns over without waiting.

Revision: 20261120_2130
Follows: 20261120_2100
"""

from __future__ import annotations

from alembic import op

from migrations.security import definer

revision = "20261120_2130"
down_revision = "20261120_2100"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Numbers only, of all groups together: what a probe and a chart need. A message that
    # waits for the answer before it has not waited for a runner until that one is done.
    definer(
        "turn_queue()",
        "TABLE (waiting bigint, oldest_seconds double precision, running bigint)",
        """
        WITH unfinished AS (
          SELECT t.status, t.lease_until, t.created_at, t.thread_id,
                 (t.status = 'queued' OR t.lease_until < clock_timestamp())
                 AND NOT EXISTS (
                   SELECT 1 FROM turns o
                    WHERE o.thread_id = t.thread_id AND o.finished_at IS NULL AND o.id <> t.id
                      AND (o.status = 'running' OR o.id < t.id)) AS waits
            FROM turns t WHERE t.finished_at IS NULL
        ), since AS (
          SELECT u.waits,
                 CASE WHEN NOT u.waits THEN NULL
                      WHEN u.status = 'running' THEN u.lease_until
                      ELSE greatest(u.created_at,
                                    (SELECT max(o.finished_at) FROM turns o
                                      WHERE o.thread_id = u.thread_id))
                 END AS waits_since,
                 u.status = 'running' AND NOT u.waits AS runs
            FROM unfinished u
        )
        SELECT count(*) FILTER (WHERE waits),
               coalesce(extract(epoch FROM clock_timestamp() - min(waits_since)), 0)::float8,
               count(*) FILTER (WHERE runs)
          FROM since
        """,
    )
    # A runner that ends gives its turns back: the lease is over now and not in seconds. The
    # fence goes up when another one claims them, so that the first stays unheard.
    definer(
        "release_turns(p_runner text, p_turns uuid[])",
        "bigint",
        """
        WITH released AS (
          UPDATE turns t SET lease_until = clock_timestamp()
           WHERE t.id = ANY (p_turns) AND t.runner_id = p_runner AND t.status = 'running'
          RETURNING t.id
        )
        SELECT count(*) FROM released
        """,
    )


def downgrade() -> None:
    for door in ("turn_queue", "release_turns"):
        op.execute(f"DROP FUNCTION {door}")
