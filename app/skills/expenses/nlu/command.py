"""What somebody wants of the ledger, as far as it was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from app.skills.expenses.nlu.rows import Row, day_of
from app.text.money import FoundAmount

ADD, BALANCE, LIST = "add_expense", "get_balance", "list_expenses"
UPDATE, DELETE = "update_expense", "delete_expense"
# What an update may change; one of them has to be said.
CHANGES = ("item", "amount", "currency", "date", "category", "note")
# In the place of `amount`: the two sums that the same words may be, "2.50" and "250" of "two
# fifty". Which of them is asked, so that no tool is ever called with this.
EITHER = "either"


@dataclass(frozen=True)
class Command:
    """A tool, the arguments that were said for it, and the fields still to ask for, in order.

    `missing` names fields of the tool; "change" is what an update should change.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def lacking(self, *names: str) -> Command:
        return replace(self, missing=names)


def rows_of(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows that the arguments of an addition tell: the first, and `more`."""
    first = {name: value for name, value in arguments.items() if name != "more"}
    more = arguments.get("more") or []
    return [first, *(dict(row) for row in more if isinstance(row, Mapping))]


def arguments_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The arguments that tell these rows."""
    first, *more = rows or [{}]
    return {**first, "more": [dict(row) for row in more]} if more else dict(first)


def unsure_row(arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first row whose sum may be one of two; None where each is certain."""
    return next((row for row in rows_of(arguments) if EITHER in row), None)


def settle(arguments: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """With the sum that was answered in the place of the first that may be two.

    Whoever left out "hundred" once did so each time: the answer tells the other rows as well.
    """
    rows = rows_of(arguments)
    place = next(place for place, row in enumerate(rows) if EITHER in row)
    choices, amount = rows[place].pop(EITHER), values["amount"]
    rows[place] |= values
    if amount in choices:
        for row in rows:
            if EITHER in row:
                row["amount"] = row.pop(EITHER)[choices.index(amount)]
    return arguments_of(rows)


def sum_arguments(amount: FoundAmount) -> dict[str, Any]:
    """A sum as arguments carry it, "200" or "4.50", or as `EITHER` of two; and its currency."""
    said = {"currency": amount.currency} if amount.currency else {}
    if amount.or_value is not None:
        return {EITHER: [_written(amount.value), _written(amount.or_value)], **said}
    return {"amount": _written(amount.value), **said}


def _written(value: Decimal) -> str:
    return f"{value:.2f}" if value.as_tuple().exponent else f"{value}"


def row_arguments(row: Row) -> dict[str, Any]:
    """What was said of a row, and nothing else."""
    day = day_of(row)
    said = {
        "item": row.item,
        **(sum_arguments(row.amount) if row.amount else {}),
        "date": day.isoformat() if day else "",
        "category": row.category,
        "note": row.note,
    }
    return {name: value for name, value in said.items() if value}


def addition(rows: list[Row]) -> Command:
    """The command to add these rows; a time of more than one day is asked about."""
    arguments = arguments_of([row_arguments(row) for row in rows])
    is_vague = any(row.time and not row.time.day for row in rows)
    lacking = lacks(arguments, ("item", "amount"))
    return Command(ADD, arguments, (*lacking, "date") if is_vague else lacking)


def lacks(arguments: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    """Those of these that are still to ask for; a sum that may be two is."""
    is_unsure = unsure_row(arguments) is not None
    return tuple(
        name for name in names if name not in arguments or (name == "amount" and is_unsure)
    )


def change(which: str, changed: Mapping[str, Any]) -> Command:
    """The command to change a row in this way."""
    arguments = {"which": which, **changed} if which else dict(changed)
    lacking = [] if which else ["which"]
    if EITHER in changed:
        lacking.append("amount")
    elif not any(name in changed for name in CHANGES):
        lacking.append("change")
    return Command(UPDATE, arguments, tuple(lacking))
