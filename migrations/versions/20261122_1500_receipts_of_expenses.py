"""Receipts: who may see an expense may see its receipt, and managers look after both.

Revision: 20261122_1500
Follows: 20261122_1400
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import GROUP_OWNED, PERSONAL, ROLE, USER_OWNED

revision = "20261122_1500"
down_revision = "20261122_1400"
branch_labels = None
depends_on = None

EDITORS = f"{ROLE} IN ('manager', 'admin')"
OWN_OR_EDITOR = f"{GROUP_OWNED} AND ({USER_OWNED} OR {EDITORS})"
# What is seen of the expenses there is what their own policy lets through.
OF_A_SEEN_EXPENSE = (
    f"{GROUP_OWNED} AND owner_kind = 'expense'"
    " AND EXISTS (SELECT FROM expenses e WHERE e.file_id = files.id)"
)
RECEIPT_OF_AN_EDITOR = f"{GROUP_OWNED} AND owner_kind = 'expense' AND {EDITORS}"


def upgrade() -> None:
    op.create_index(
        "ix_expenses_file",
        "expenses",
        ["file_id"],
        postgresql_where=sa.text("file_id IS NOT NULL"),
    )
    _let_read(f"({OWN_OR_EDITOR}) OR ({OF_A_SEEN_EXPENSE})")
    _let_change(f"({PERSONAL}) OR ({RECEIPT_OF_AN_EDITOR})")


def downgrade() -> None:
    _let_read(OWN_OR_EDITOR)
    _let_change(PERSONAL)
    op.drop_index("ix_expenses_file", table_name="expenses")


def _let_read(rule: str) -> None:
    op.execute(f"ALTER POLICY reading ON files USING ({rule})")


def _let_change(rule: str) -> None:
    op.execute(f"ALTER POLICY changing ON files USING ({rule}) WITH CHECK ({rule})")
