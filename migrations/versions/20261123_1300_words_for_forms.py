"""Forms are found by the words that people use for them, which admins write down.

Revision: 20261123_1300
Follows: 20261123_1200
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261123_1300"
down_revision = "20261123_1200"
branch_labels = None
depends_on = None

COLUMNS = ("words_en", "words_es")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("form_templates", sa.Column(name, sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    for name in COLUMNS:
        op.drop_column("form_templates", name)
