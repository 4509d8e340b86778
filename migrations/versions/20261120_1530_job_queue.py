"""The queue of background jobs: procrastinate's own tables, used by the app's role.

Revision: 20261120_1530
Follows: 20261120_1520
"""

from __future__ import annotations

from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy import text

from migrations.security import app_role

revision = "20261120_1530"
down_revision = "20261120_1520"
branch_labels = None
depends_on = None

_OBJECTS = """
SELECT 'DROP ' || kind || ' IF EXISTS ' || name || ' CASCADE' FROM (
  SELECT 1 AS step, 'TABLE' AS kind, oid::regclass::text AS name FROM pg_class
   WHERE relname LIKE 'procrastinate\\_%' AND relkind = 'r'
  UNION ALL
  SELECT 2, 'FUNCTION', oid::regprocedure::text FROM pg_proc
   WHERE proname LIKE 'procrastinate\\_%'
  UNION ALL
  SELECT 3, 'TYPE', oid::regtype::text FROM pg_type
   WHERE typname LIKE 'procrastinate\\_%' AND typtype IN ('e', 'c') AND typrelid NOT IN
         (SELECT oid FROM pg_class WHERE relkind <> 'c')
) AS objects ORDER BY step
"""


def upgrade() -> None:
    # The schema has percent signs of its own, so it goes past SQLAlchemy's parameters.
    cursor = op.get_bind().connection.cursor()
    cursor.execute(SchemaManager.get_schema())
    role = app_role()
    cursor.execute(
        f"""
        DO $grant$
        DECLARE thing record;
        BEGIN
          FOR thing IN SELECT oid::regclass AS name, relkind FROM pg_class
                        WHERE relname LIKE 'procrastinate\\_%' AND relkind IN ('r', 'S') LOOP
            IF thing.relkind = 'r' THEN
              EXECUTE format(
                'GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO {role}', thing.name);
            ELSE
              EXECUTE format('GRANT USAGE ON SEQUENCE %s TO {role}', thing.name);
            END IF;
          END LOOP;
        END $grant$
        """
    )


def downgrade() -> None:
    bind = op.get_bind()
    for statement in bind.execute(text(_OBJECTS)).scalars().all():
        bind.execute(text(statement))
