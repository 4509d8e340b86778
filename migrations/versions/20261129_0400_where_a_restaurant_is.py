"""The country of a restaurant, and the number that is called in an emergency there.

Revision: 20261129_0400
Follows: 20261129_0300
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261129_0400"
down_revision = "20261129_0300"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name, usual in (("region", "US"), ("emergency_number", "911")):
        op.add_column("groups", sa.Column(name, sa.Text(), nullable=False, server_default=usual))


def downgrade() -> None:
    for name in ("emergency_number", "region"):
        op.drop_column("groups", name)
