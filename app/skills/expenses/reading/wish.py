"""What somebody wants of the ledger, as far as it was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.amounts import FoundAmount
from app.skills.expenses.reading.rows import Row, day_of

ADD, BALANCE, LIST = "add_expense", "get_balance", "list_expenses"
UPDATE, DELETE = "update_expense", "delete_expense"
# What an update may change; one of them has to be said.
CHANGES = ("item", "amount", "currency", "date", "category", "note")


@dataclass(frozen=True)
class Wish:
    """A tool, the arguments that were said for it, and the fields still to ask for, in order.

    `missing` names fields of the tool; "change" is what an update should change.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def lacking(self, *names: str) -> Wish:
        return replace(self, missing=names)


def amount_text(amount: FoundAmount) -> str:
    """The sum as arguments carry it: "200", "4.50"."""
    return f"{amount.value:.2f}" if amount.value.as_tuple().exponent else f"{amount.value}"


def row_arguments(row: Row) -> dict[str, Any]:
    """What was said of a row, and nothing else."""
    day = day_of(row)
    said = {
        "item": row.item,
        "amount": amount_text(row.amount) if row.amount else "",
        "currency": row.amount.currency if row.amount else "",
        "date": day.isoformat() if day else "",
        "category": row.category,
        "note": row.note,
    }
    return {name: value for name, value in said.items() if value}


def addition(rows: list[Row]) -> Wish:
    """The wish to add these rows; a time of more than one day is asked about."""
    first, *more = [row_arguments(row) for row in rows] or [{}]
    arguments = {**first, "more": more} if more else first
    is_vague = any(row.time and not row.time.day for row in rows)
    lacking = [name for name in ("item", "amount") if name not in first]
    return Wish(ADD, arguments, (*lacking, "date") if is_vague else tuple(lacking))


def change(which: str, changed: Mapping[str, Any]) -> Wish:
    """The wish to change a row in this way."""
    arguments = {"which": which, **changed} if which else dict(changed)
    lacking = [] if which else ["which"]
    if not any(name in changed for name in CHANGES):
        lacking.append("change")
    return Wish(UPDATE, arguments, tuple(lacking))
