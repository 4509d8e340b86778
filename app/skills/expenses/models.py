"""Expenses, their sums by month, and what a group says of its ledger."""

from __future__ import annotations

import datetime as dt
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import (
    CHAR,
    CheckConstraint,
    Computed,
    Date,
    ForeignKey,
    Index,
    Numeric,
    desc,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonList, new_id, utc_now

LARGEST_AMOUNT = Decimal(1_000_000)
LONGEST_ITEM = 200
LONGEST_NOTE = 1_000
_KEPT = text("deleted_at IS NULL")


class Expense(Base):
    """What somebody paid for the group. A deleted one stays for 30 days, for taking it back.

    `category` is the slug of one of the group's (`app.skills.expenses.services.settings`).
    `version` counts its changes, so that nobody writes over what they have not seen.
    """

    __tablename__ = "expenses"
    __table_args__ = (
        Index(
            "ix_expenses_group",
            "group_id",
            desc("date"),
            desc("id"),
            postgresql_where=_KEPT,
        ),
        Index(
            "ix_expenses_person",
            "group_id",
            "user_id",
            desc("date"),
            desc("id"),
            postgresql_where=_KEPT,
        ),
        Index(
            "ix_expenses_deleted",
            "group_id",
            "deleted_at",
            postgresql_where=text("deleted_at IS NOT NULL"),
        ),
        # Who has added how many in a day is asked before each.
        Index("ix_expenses_added", "group_id", "user_id", "created_at"),
        # Whose receipt a file is, is asked for each file that a page shows.
        Index("ix_expenses_file", "file_id", postgresql_where=text("file_id IS NOT NULL")),
        CheckConstraint(f"amount > 0 AND amount <= {LARGEST_AMOUNT}", name="amount"),
        CheckConstraint(f"length(item) BETWEEN 1 AND {LONGEST_ITEM}", name="item"),
    )

    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 (SQLAlchemy's own name)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    item: Mapped[str]
    amount: Mapped[Decimal] = mapped_column(Numeric(12, 2))
    currency: Mapped[str] = mapped_column(CHAR(3))
    date: Mapped[dt.date] = mapped_column(Date)
    category: Mapped[str]
    note: Mapped[str] = mapped_column(default="")
    file_id: Mapped[UUID | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"))
    # What it is called, folded, with a space around each word; kept by the database.
    words: Mapped[str | None] = mapped_column(
        Computed("name_words(item, note)", persisted=True), deferred=True
    )
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
    deleted_at: Mapped[datetime | None]
    deleted_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))


class ExpenseMonth(Base):
    """The sum of a person's expenses in a month, by category and currency.

    The database keeps it as expenses come, change and go; months of a long range are read
    from here, so that ten years of them are summed up as fast as one.
    """

    __tablename__ = "expense_months"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    month: Mapped[dt.date] = mapped_column(Date, primary_key=True)  # its first day
    category: Mapped[str] = mapped_column(primary_key=True)
    currency: Mapped[str] = mapped_column(CHAR(3), primary_key=True)
    count: Mapped[int]
    total: Mapped[Decimal] = mapped_column(Numeric(14, 2))


class ExpenseSettings(Base):
    """What a group says of its ledger; until it says anything, the product's defaults count.

    `currencies` are those that may be written beside the group's own. `categories` have
    {slug, name_en, name_es, words_en, words_es, is_active}, in the order they are offered in.
    """

    __tablename__ = "expense_settings"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    currencies: Mapped[list[str]] = mapped_column(ARRAY(TEXT))
    categories: Mapped[JsonList]
    version: Mapped[int] = mapped_column(default=1)
    edited_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)
