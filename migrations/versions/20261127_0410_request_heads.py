"""What a list shows of a request's type stands beside its fields, which it need not read.

Revision: 20261127_0410
Follows: 20261126_2000

The table is written anew for that, once.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261127_0410"
down_revision = "20261126_2000"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "service_requests",
        sa.Column("head", JSONB(), sa.Computed("form - 'fields'", persisted=True)),
    )


def downgrade() -> None:
    op.drop_column("service_requests", "head")
