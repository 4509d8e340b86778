"""Expenses, their sums by month, and a group's settings of its ledger.

Revision: 20261122_1400
Follows: 20261122_1120
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from migrations.security import GROUP_OWNED, PERSONAL, ROLE, USER_OWNED, definer, protect

revision = "20261122_1400"
down_revision = "20261122_1120"
branch_labels = None
depends_on = None

EDITORS = f"{ROLE} IN ('manager', 'admin')"
OWN_OR_EDITOR = f"{GROUP_OWNED} AND ({USER_OWNED} OR {EDITORS})"
# A month's sums before or after a change; what is deleted counts in neither.
SUMS = """
    SELECT group_id, user_id, date_trunc('month', date)::date AS month, category, currency,
           {sign}1 AS count, {sign}amount AS total
      FROM {rows} WHERE deleted_at IS NULL
"""
# In the order of their keys, so that two statements never wait for each other.
ADD_UP = """
    BEGIN
      INSERT INTO expense_months AS known
             (group_id, user_id, month, category, currency, count, total)
      SELECT group_id, user_id, month, category, currency, sum(count), sum(total)
        FROM ({sums}) AS changes
       GROUP BY group_id, user_id, month, category, currency
      HAVING sum(count) <> 0 OR sum(total) <> 0
       ORDER BY group_id, user_id, month, category, currency
      ON CONFLICT (group_id, user_id, month, category, currency) DO UPDATE
         SET count = known.count + excluded.count, total = known.total + excluded.total;
      RETURN NULL;
    END
"""
BEFORE, AFTER = SUMS.format(sign="-", rows="before"), SUMS.format(sign="", rows="after")
TRIGGERS = {
    "insert": ("REFERENCING NEW TABLE AS after", AFTER),
    "update": (
        "REFERENCING OLD TABLE AS before NEW TABLE AS after",
        f"{BEFORE} UNION ALL {AFTER}",
    ),
    "delete": ("REFERENCING OLD TABLE AS before", BEFORE),
}


def upgrade() -> None:
    _create_expenses()
    _create_months()
    _create_settings()
    _create_keyed_answers()


def downgrade() -> None:
    op.drop_table("keyed_answers")
    op.drop_table("expense_settings")
    op.drop_table("expenses")
    for change in TRIGGERS:
        op.execute(f"DROP FUNCTION add_up_expenses_on_{change}")
    op.drop_table("expense_months")


def _owner(table: str, column: str, ondelete: str = "CASCADE") -> sa.ForeignKeyConstraint:
    known = {"group_id": "groups.id", "file_id": "files.id"}
    return sa.ForeignKeyConstraint(
        [column],
        [known.get(column, "users.id")],
        name=op.f(f"fk_{table}_{column}"),
        ondelete=ondelete,
    )


def _create_expenses() -> None:
    op.create_table(
        "expenses",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("amount", sa.Numeric(12, 2), nullable=False),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("date", sa.Date(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("file_id", sa.Uuid(), nullable=True),
        sa.Column(
            "words", sa.Text(), sa.Computed("name_words(item, note)", persisted=True), nullable=True
        ),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_by", sa.Uuid(), nullable=True),
        sa.CheckConstraint("amount > 0 AND amount <= 1000000", name=op.f("ck_expenses_amount")),
        sa.CheckConstraint("length(item) BETWEEN 1 AND 200", name=op.f("ck_expenses_item")),
        _owner("expenses", "group_id"),
        _owner("expenses", "user_id"),
        _owner("expenses", "file_id", "SET NULL"),
        _owner("expenses", "deleted_by", "SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_expenses")),
    )
    kept = sa.text("deleted_at IS NULL")
    latest = [sa.text("date DESC"), sa.text("id DESC")]
    op.create_index("ix_expenses_group", "expenses", ["group_id", *latest], postgresql_where=kept)
    op.create_index(
        "ix_expenses_person", "expenses", ["group_id", "user_id", *latest], postgresql_where=kept
    )
    op.create_index(
        "ix_expenses_deleted",
        "expenses",
        ["group_id", "deleted_at"],
        postgresql_where=sa.text("deleted_at IS NOT NULL"),
    )
    protect("expenses", OWN_OR_EDITOR)


def _create_months() -> None:
    op.create_table(
        "expense_months",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("total", sa.Numeric(14, 2), nullable=False),
        _owner("expense_months", "group_id"),
        _owner("expense_months", "user_id"),
        sa.PrimaryKeyConstraint(
            "group_id", "user_id", "month", "category", "currency", name=op.f("pk_expense_months")
        ),
    )
    protect("expense_months", OWN_OR_EDITOR, grant="SELECT")
    for change, (tables, sums) in TRIGGERS.items():
        definer(
            f"add_up_expenses_on_{change}()",
            "trigger",
            ADD_UP.format(sums=sums),
            language="plpgsql",
        )
        op.execute(
            f"CREATE TRIGGER add_up_on_{change} AFTER {change.upper()} ON expenses {tables}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION add_up_expenses_on_{change}()"
        )


def _create_settings() -> None:
    op.create_table(
        "expense_settings",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("currencies", ARRAY(sa.Text()), nullable=False),
        sa.Column("categories", JSONB(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("edited_by", sa.Uuid(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        _owner("expense_settings", "group_id"),
        _owner("expense_settings", "edited_by", "SET NULL"),
        sa.PrimaryKeyConstraint("group_id", name=op.f("pk_expense_settings")),
    )
    admin = f"{GROUP_OWNED} AND {ROLE} = 'admin'"
    protect("expense_settings", GROUP_OWNED, write=admin, grant="SELECT, INSERT, UPDATE")


def _create_keyed_answers() -> None:
    op.create_table(
        "keyed_answers",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", JSONB(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _owner("keyed_answers", "user_id"),
        _owner("keyed_answers", "group_id"),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_keyed_answers")),
    )
    protect("keyed_answers", PERSONAL)
