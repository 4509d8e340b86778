"""What the expense tools are called with."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from app.assistant.tools.tool import Arguments
from app.skills.expenses.models import LONGEST_ITEM, LONGEST_NOTE
from app.text.money import parse_amount

MOST_ROWS = 20


def _read_amount(value: Any) -> Decimal:
    """A number, or a text as people write sums; bounds are the ledger's to check."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError("must be a number")
    amount = parse_amount(value) if isinstance(value, str) else Decimal(str(value))
    if not amount.is_finite():
        raise ValueError("must be a finite number")
    in_cents = amount.quantize(Decimal("0.01")) if abs(amount) < Decimal(10) ** 15 else amount
    # What is meant to be the same has one form, and so one digest; the rest is refused later.
    return in_cents if in_cents == amount else amount


Amount = Annotated[
    Decimal,
    BeforeValidator(_read_amount),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000, "multipleOf": 0.01}
    ),
]
Currency = Annotated[
    str,
    BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value),
    Field(pattern="^[A-Z]{3}$", description="ISO code, only where a currency was said."),
]
Item = Annotated[
    str, Field(min_length=1, max_length=LONGEST_ITEM, description="What it was for, in short.")
]
Day = Annotated[dt.date, Field(description="YYYY-MM-DD; today where nothing is said.")]
Slug = Annotated[str, Field(max_length=60, description="A category of the ledger, by its name.")]
Note = Annotated[str, Field(max_length=LONGEST_NOTE)]
Which = Annotated[
    str,
    Field(
        min_length=1,
        max_length=300,
        description="Which one is meant, in the person's words: the taxi one, the last one.",
    ),
]


class ExpenseArguments(Arguments):
    item: Item
    amount: Amount
    currency: Currency | None = None
    date: Day | None = None
    category: Slug | None = None
    note: Note | None = None


class AddArguments(ExpenseArguments):
    more: list[ExpenseArguments] = Field(
        default_factory=list,
        max_length=MOST_ROWS - 1,
        description="Further expenses that the same message names.",
    )

    @property
    def rows(self) -> list[ExpenseArguments]:
        return [self, *self.more]


class _OneExpense(Arguments):
    id: UUID | None = Field(None, description="As a result gave it; otherwise use which.")
    which: Which | None = None

    @model_validator(mode="after")
    def _names_one(self) -> _OneExpense:
        if self.id is None and self.which is None:
            raise ValueError("id or which is needed")
        return self


class UpdateArguments(_OneExpense):
    item: Item | None = None
    amount: Amount | None = None
    currency: Currency | None = None
    date: Day | None = None
    category: Slug | None = None
    note: Note | None = None
    # The version that was shown: what has been changed since is not written over.
    version: int | None = None


class DeleteArguments(_OneExpense):
    version: int | None = None


class BalanceArguments(Arguments):
    range: str | None = Field(
        None, max_length=120, description="Words for a time: today, last month, since 1 June."
    )
    category: Slug | None = None
    currency: Currency | None = None
    matching: str | None = Field(None, max_length=100, description="Words of the item.")
    mine: bool = Field(False, description="Only what this person has spent.")


class ListArguments(BalanceArguments):
    page: int = Field(1, ge=1, le=10_000)
