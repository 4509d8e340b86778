"""search: a document may have another word for what is asked.

Revision: 20261127_1600
Follows: 20261127_0410
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "20261127_1600"
down_revision = "20261127_0410"
branch_labels = None
depends_on = None

FUNCTIONS = Path(__file__).with_suffix(".sql")


def upgrade() -> None:
    op.get_bind().exec_driver_sql(FUNCTIONS.read_text("utf-8"))


def downgrade() -> None:
    op.execute(
        "DROP FUNCTION search_scores(text, uuid, uuid, float8, float8, text[], text[], float8)"
    )
