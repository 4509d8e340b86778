"""How many expenses somebody has added in a day is found without going through all of theirs.

Revision: 20261128_0010
Follows: 20261127_1740
"""

from __future__ import annotations

from alembic import op

revision = "20261128_0010"
down_revision = "20261127_1740"
branch_labels = None
depends_on = None

NAME = "ix_expenses_added"


def upgrade() -> None:
    op.create_index(NAME, "expenses", ["group_id", "user_id", "created_at"])


def downgrade() -> None:
    op.drop_index(NAME, "expenses")
