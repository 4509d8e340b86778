"""What a reply asked in the product's own words, as its last words: a yes answers that alone.

Revision: 20261123_1000
Follows: 20261123_0900
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261123_1000"
down_revision = "20261123_0900"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("asked", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("messages", "asked")
