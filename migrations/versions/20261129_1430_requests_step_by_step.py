"""Whether a type of request is asked for step by step, with its priority and three questions.

Revision: 20261129_1430
Follows: 20261129_1400
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261129_1430"
down_revision = "20261129_1400"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "service_request_types",
        sa.Column("is_guided", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    op.drop_column("service_request_types", "is_guided")
