"""Of an injury, an incident and a complaint the managers are told when their form is sent.

Revision: 20261129_0010
Follows: 20261128_2330
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261129_0010"
down_revision = "20261128_2330"
branch_labels = None
depends_on = None

URGENT = "('employee-injury-report', 'incident-report', 'guest-complaint')"


def upgrade() -> None:
    op.add_column(
        "form_templates",
        sa.Column("tells_managers", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.execute(f"UPDATE form_templates SET tells_managers = true WHERE slug IN {URGENT}")


def downgrade() -> None:
    op.drop_column("form_templates", "tells_managers")
