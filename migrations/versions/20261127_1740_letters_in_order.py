"""Letters that let somebody in go before those that tell something.

Revision: 20261127_1740
Follows: 20261127_1600

However many of the others wait, in whichever restaurant.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import redefine

revision = "20261127_1740"
down_revision = "20261127_1600"
branch_labels = None
depends_on = None

CLAIM = """
DELETE FROM outgoing_mail WHERE to_address = '';
WITH due AS (
  SELECT o.id FROM outgoing_mail o
   WHERE o.sent_at IS NULL AND o.handed_over_at IS NULL
     AND o.next_try_at <= clock_timestamp()
   ORDER BY {order}o.next_try_at LIMIT p_most
   FOR UPDATE SKIP LOCKED
)
UPDATE outgoing_mail o
   SET attempts = o.attempts + 1,
       next_try_at = clock_timestamp() + interval '2 minutes'
  FROM due WHERE o.id = due.id
RETURNING o.id, o.to_address, o.subject, o.body, o.attempts
"""
RETURNED = "TABLE (id uuid, to_address text, subject text, body text, attempts integer)"


def upgrade() -> None:
    op.add_column(
        "outgoing_mail",
        sa.Column("is_awaited", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    _claim("o.is_awaited DESC, ")
    _index("is_awaited DESC, next_try_at")


def downgrade() -> None:
    _claim("")
    _index("next_try_at")
    op.drop_column("outgoing_mail", "is_awaited")


def _claim(order: str) -> None:
    redefine("claim_mail(p_most integer)", RETURNED, "sql", CLAIM.format(order=order))


def _index(columns: str) -> None:
    op.drop_index("ix_outgoing_mail_waiting", "outgoing_mail")
    op.create_index(
        "ix_outgoing_mail_waiting",
        "outgoing_mail",
        [sa.text(columns)],
        postgresql_where=sa.text("sent_at IS NULL"),
    )
