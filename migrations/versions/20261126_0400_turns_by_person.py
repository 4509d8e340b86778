"""Few turns of one person run at once, and nobody's first waits for another's tenth.

Revision: 20261126_0400
Follows: 20261125_0400

A hundred turns of one person, each of whose steps ran wherever another's waited for the database,
kept everybody's first word waiting for half a minute.
"""

from __future__ import annotations

from alembic import op

from migrations.security import definer

revision = "20261126_0400"
down_revision = "20261125_0400"
branch_labels = None
depends_on = None

OLD = "claim_turns(p_runner text, p_lease_seconds double precision, p_most integer)"
# What a runner of the version before calls finds this one as well.
NEW = f"{OLD[:-1]}, p_of_one integer DEFAULT 2)"
RETURNS = (
    "TABLE (turn_id uuid, fence integer, attempts integer, group_id uuid, user_id uuid, role text)"
)
CLAIMABLE = """
    t.finished_at IS NULL
    AND (t.status = 'queued' OR (t.status = 'running' AND t.lease_until < clock_timestamp()))
"""
# A thread's turns follow each other.
FIRST_OF_ITS_THREAD = """
    NOT EXISTS (
      SELECT 1 FROM turns o
       WHERE o.thread_id = t.thread_id AND o.finished_at IS NULL AND o.id <> t.id
         AND (o.status = 'running' OR o.id < t.id))
"""
CLAIM = """
    UPDATE turns t
       SET status = 'running', fence = t.fence + 1, attempts = t.attempts + 1,
           runner_id = p_runner, started_at = coalesce(t.started_at, clock_timestamp()),
           lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
      FROM due WHERE t.id = due.id
    RETURNING t.id, t.fence, t.attempts, t.group_id, t.user_id
"""
CLAIMED = """
    SELECT c.id, c.fence, c.attempts, c.group_id, c.user_id, coalesce(m.role, '')
      FROM claimed c
      LEFT JOIN memberships m ON m.user_id = c.user_id AND m.group_id = c.group_id
"""


def upgrade() -> None:
    op.execute(f"DROP FUNCTION {OLD}")
    # Each person's first before anybody's second. What another runner claims at this moment is
    # locked and passed over; the conditions are there again because it may be claimed since.
    definer(
        NEW,
        RETURNS,
        f"""
        WITH running AS (
          SELECT r.user_id, count(*) AS turns FROM turns r
           WHERE r.finished_at IS NULL AND r.status = 'running'
             AND r.lease_until >= clock_timestamp()
           GROUP BY r.user_id
        ), waiting AS (
          SELECT t.id,
                 row_number() OVER (PARTITION BY t.user_id ORDER BY t.created_at, t.id)
                   + coalesce(running.turns, 0) AS place
            FROM turns t LEFT JOIN running ON running.user_id = t.user_id
           WHERE {CLAIMABLE} AND {FIRST_OF_ITS_THREAD}
        ), due AS (
          SELECT t.id FROM turns t JOIN waiting ON waiting.id = t.id
           WHERE waiting.place <= p_of_one AND {CLAIMABLE}
           ORDER BY waiting.place, t.created_at LIMIT p_most
           FOR UPDATE OF t SKIP LOCKED
        ), claimed AS ({CLAIM})
        {CLAIMED}
        """,
    )


def downgrade() -> None:
    op.execute(f"DROP FUNCTION {NEW.replace(' DEFAULT 2', '')}")
    definer(
        OLD,
        RETURNS,
        f"""
        WITH due AS (
          SELECT t.id FROM turns t WHERE {CLAIMABLE} AND {FIRST_OF_ITS_THREAD}
           ORDER BY t.created_at LIMIT p_most FOR UPDATE SKIP LOCKED
        ), claimed AS ({CLAIM})
        {CLAIMED}
        """,
    )
