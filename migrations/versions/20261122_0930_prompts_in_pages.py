"""Which prompt rows an answer's safety depends on, and which seed a house has seen.

Revision: 20261122_0930
Follows: 20261122_0910
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261122_0930"
down_revision = "20261122_0910"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The next seeding fills both; until then nothing is required and nothing is offered.
    op.add_column(
        "ai_prompts",
        sa.Column("is_required", sa.Boolean(), server_default="false", nullable=False),
    )
    op.alter_column("ai_prompts", "is_required", server_default=None)
    op.add_column("ai_prompts", sa.Column("seed_digest", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("ai_prompts", "seed_digest")
    op.drop_column("ai_prompts", "is_required")
