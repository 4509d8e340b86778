"""Why the built-in assistant did what it did is kept with the facts of a turn.

Revision: 20261123_1400
Follows: 20261123_1300
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261123_1400"
down_revision = "20261123_1300"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turn_facts", sa.Column("explanation", JSONB))


def downgrade() -> None:
    op.drop_column("turn_facts", "explanation")
