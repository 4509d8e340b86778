"""The doors look for temporary tables last, in houses whose doors were made before that.

A function that runs with its owner's rights finds a temporary table of its caller's before
the table that it means, unless its path names that schema, and names it last.

Revision: 20261120_2200
Follows: 20261120_2150
"""

from __future__ import annotations

from alembic import op

revision = "20261120_2200"
down_revision = "20261120_2150"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        DO $$
        DECLARE
          door regprocedure;
        BEGIN
          FOR door IN SELECT p.oid::regprocedure FROM pg_proc p
                       WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace
          LOOP
            EXECUTE 'ALTER FUNCTION ' || door || ' SET search_path = pg_catalog, public, pg_temp';
          END LOOP;
        END $$
        """
    )


def downgrade() -> None:
    """Nothing to take back: the doors are made like this by their own migrations."""
