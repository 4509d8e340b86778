"""The ledger: adding, changing, deleting and finding expenses. Nothing here commits."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from itertools import chain, repeat
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import undefer

from app.accounts.audit import record
from app.db import ScopedSession, new_id, utc_now
from app.errors import Conflict, Forbidden, InvalidInput, NotFound, TooMany
from app.skills.expenses.models import LARGEST_AMOUNT, LONGEST_ITEM, LONGEST_NOTE, Expense
from app.skills.expenses.services.settings import EDITORS, OTHER, Ledger
from app.text.edits import check_same
from app.text.free_text import MOST_WORDS, limit_search
from app.text.normalize import words
from app.text.plain_text import clean_line, clean_lines

PAGE = 50
UNDO_DAYS = 30
# Of one person, on the page, in the chat and by programs together.
MOST_A_DAY = 1_000
# What is older is a slip of the finger.
EARLIEST = dt.date(2000, 1, 1)
CENT = Decimal("0.01")
CHANGEABLE = ("item", "amount", "currency", "date", "category", "note", "file_id")


@dataclass(frozen=True)
class Row:
    """An expense as it is to be written: whole, checked by `check_row`."""

    item: str
    amount: Decimal
    currency: str
    date: dt.date
    category: str
    note: str = ""
    file_id: UUID | None = None


@dataclass(frozen=True)
class Filters:
    """Which expenses are meant; `end` is the day after the last one."""

    start: dt.date | None = None
    end: dt.date | None = None
    category: str = ""
    currency: str = ""
    user_id: UUID | None = None
    words: str = ""

    def of(self, user_id: UUID | None) -> Filters:
        """The same, of one person."""
        return replace(self, user_id=user_id)


def may_see_all(session: ScopedSession) -> bool:
    """Whether this person sees what everybody in the group has spent."""
    return session.scope.role in EDITORS


def require_editor(session: ScopedSession) -> None:
    """Raises Forbidden for those who may only add."""
    if session.scope.role not in EDITORS:
        raise Forbidden(
            "Only managers can change or delete expenses. Ask one of them, or add a new expense."
        )


def check_row(ledger: Ledger, row: Row) -> Row:
    """The row as it is written, or what is wrong with it, with the field.

    Raises:
        InvalidInput: the first thing that is wrong.
    """
    item, note = clean_line(row.item), clean_lines(row.note).strip()
    if not item:
        raise InvalidInput("Say what the expense was for.", field="item")
    if len(item) > LONGEST_ITEM:
        raise InvalidInput(
            "Say what it was for in at most %(limit)d characters.", field="item", limit=LONGEST_ITEM
        )
    if len(note) > LONGEST_NOTE:
        raise InvalidInput(
            "A note can have up to %(limit)d characters.", field="note", limit=LONGEST_NOTE
        )
    amount = check_amount(row.amount)
    if row.currency not in ledger.currencies:
        raise InvalidInput(
            "%(code)s is not used here. Use one of: %(known)s.",
            field="currency",
            code=row.currency,
            known=", ".join(ledger.currencies),
        )
    check_date(ledger, row.date)
    if row.category not in {each["slug"] for each in ledger.offered}:
        raise InvalidInput(
            "This category does not exist. Choose one from the list.", field="category"
        )
    return replace(row, item=item, amount=amount, note=note)


def check_amount(amount: Decimal) -> Decimal:
    """The amount with two places.

    Raises:
        InvalidInput: it is not more than zero, too large, or has fractions of a cent.
    """
    if not amount.is_finite() or amount <= 0:
        raise InvalidInput("The amount must be more than zero.", field="amount")
    if amount > LARGEST_AMOUNT:
        raise InvalidInput(
            "The amount can be at most 1,000,000. Check it, or split it.", field="amount"
        )
    if amount != amount.quantize(CENT):
        raise InvalidInput("The amount can have two decimal places.", field="amount")
    return amount.quantize(CENT)


def check_date(ledger: Ledger, date: dt.date) -> None:
    """Raises InvalidInput for a date that has not come, or is too long ago to be meant."""
    if date > ledger.today + timedelta(days=1):
        raise InvalidInput(
            "The date is in the future. Log the expense on the day that it is paid.", field="date"
        )
    if date < EARLIEST:
        raise InvalidInput("The date is too far in the past. Check the year.", field="date")


def category_for(ledger: Ledger, slug: str | None) -> str:
    """The category to write: what is said, else the one for everything else."""
    return slug or next((each["slug"] for each in ledger.offered if each["slug"] == OTHER), OTHER)


def add_expenses(
    session: ScopedSession, rows: Iterable[Row], ids: Sequence[UUID] = ()
) -> list[Expense]:
    """Write checked rows as the session's person's own, with these ids where some are given.

    Raises:
        TooMany: they have added as many today as one person may, in whatever way.
    """
    scope, rows = session.scope, list(rows)
    _check_day(session, len(rows))
    added = [
        Expense(
            id=expense_id or new_id(),
            group_id=scope.group_id,
            user_id=scope.user_id,
            item=row.item,
            amount=row.amount,
            currency=row.currency,
            date=row.date,
            category=row.category,
            note=row.note,
            file_id=row.file_id,
        )
        for row, expense_id in zip(rows, chain(ids, repeat(None)), strict=False)
    ]
    session.add_all(added)
    session.flush()
    return added


def _check_day(session: ScopedSession, more: int) -> None:
    """The sums of a ledger are made from its rows: nobody fills it by themselves."""
    added = session.scalar(
        select(func.count())
        .select_from(Expense)
        .where(
            Expense.group_id == session.scope.group_id,
            Expense.user_id == session.scope.user_id,
            Expense.created_at > utc_now() - timedelta(days=1),
        )
    )
    if (added or 0) + more > MOST_A_DAY:
        raise TooMany(
            "You have added %(limit)s expenses in one day, and that is the limit. "
            "Add more tomorrow.",
            limit=MOST_A_DAY,
        )


def load_expense(
    session: ScopedSession, expense_id: UUID, *, lock: bool = False, deleted: bool = False
) -> Expense:
    """An expense that this person may see.

    Raises:
        NotFound: there is none, it is deleted, or it is not theirs to see.
    """
    query = _visible(session).where(Expense.id == expense_id)
    query = query.where(
        Expense.deleted_at.is_not(None) if deleted else Expense.deleted_at.is_(None)
    )
    if lock:
        query = query.with_for_update(of=Expense)
    found = session.scalar(query.execution_options(populate_existing=True))
    if found is None:
        raise NotFound("This expense is no longer there, or it is not yours.")
    return found


def change_expense(
    session: ScopedSession,
    ledger: Ledger,
    expense_id: UUID,
    changes: Mapping[str, Any],
    version: int | None = None,
) -> tuple[Expense, dict[str, Any]]:
    """Change what is named; returns the expense and what it was before.

    Raises:
        Forbidden: the role. NotFound. InvalidInput: with the field.
        Conflict: it is not the `version` that was looked at any more.
    """
    require_editor(session)
    expense = load_expense(session, expense_id, lock=True)
    if version is not None and expense.version != version:
        raise Conflict("Somebody else changed this in the meantime. Look at it again, then save.")
    before = values_of(expense)
    known = ledger.keeping(expense.currency, expense.category)
    row = check_row(known, Row(**{**before, **changes}))
    _write(expense, {name: getattr(row, name) for name in CHANGEABLE})
    session.flush()
    return expense, before


def delete_expense(session: ScopedSession, expense_id: UUID, version: int) -> Expense:
    """Delete one; it can be restored for 30 days.

    Raises:
        Forbidden: the role. NotFound. Conflict: as for changing.
    """
    require_editor(session)
    expense = load_expense(session, expense_id, lock=True)
    check_same(version, expense.version)
    _delete(session, expense)
    return expense


def restore_expense(
    session: ScopedSession, expense_id: UUID, version: int | None = None
) -> Expense:
    """Bring back what was deleted; twice is the same as once.

    With `version`, the one that deleting it made it, that deletion alone is undone.

    Raises:
        Forbidden: the role. NotFound. Conflict: it is too late, or it has been restored and
            deleted again.
    """
    require_editor(session)
    try:
        expense = load_expense(session, expense_id, lock=True, deleted=True)
    except NotFound:
        return load_expense(session, expense_id)
    if expense.deleted_at is None or expense.deleted_at < utc_now() - timedelta(days=UNDO_DAYS):
        raise Conflict("It is too late to undo this from here.")
    if version is not None and expense.version != version:
        raise Conflict("It has been changed again since, so it was not restored.")
    expense.deleted_at, expense.deleted_by = None, None
    expense.version += 1
    session.flush()
    return expense


def take_back_added(session: ScopedSession, expense_ids: Sequence[UUID]) -> None:
    """Take back what its own person has just added.

    What somebody has deleted since is deleted once more: who brings back that deletion learns
    that its person does not want it any more.

    Raises:
        Conflict: somebody has changed one of them since.
    """
    query = _visible(session).where(
        Expense.id.in_(expense_ids), Expense.user_id == session.scope.user_id
    )
    for expense in session.scalars(query.order_by(Expense.id).with_for_update(of=Expense)):
        if expense.deleted_at is None and expense.version != 1:
            raise Conflict("It has been changed since, so it was not undone. Ask a manager.")
        _delete(session, expense)


def put_back(session: ScopedSession, expense_id: UUID, before: Mapping[str, Any], to: int) -> None:
    """Give an expense the values it had before a change that made it version `to`.

    Raises:
        NotFound. Conflict: it has been changed again.
    """
    require_editor(session)
    expense = load_expense(session, expense_id, lock=True)
    if expense.version != to:
        raise Conflict("It has been changed again since, so this was not undone.")
    _write(expense, before)
    session.flush()


def values_of(expense: Expense) -> dict[str, Any]:
    """What an expense says, by the names of `Row`."""
    return {name: getattr(expense, name) for name in CHANGEABLE}


def note_in_audit(session: ScopedSession, action: str, expense: Expense) -> None:
    """A write by the page, in the audit log beside those that were confirmed in the chat."""
    record(session, f"expense.{action}", str(expense.id))


def find_expenses(
    session: ScopedSession, filters: Filters, *, page: int = 1, size: int = PAGE
) -> list[Expense]:
    """A page of the expenses that this person may see, the latest first."""
    query = (
        _visible(session)
        .where(Expense.deleted_at.is_(None), *conditions(filters))
        .order_by(Expense.date.desc(), Expense.id.desc())
        .limit(size)
        .offset((page - 1) * size)
    )
    with limit_search(session):
        return list(session.scalars(query))


def recent_expenses(session: ScopedSession, limit: int) -> list[Expense]:
    """What this person has added last, and for who may change them what the others have."""
    query = _visible(session).where(Expense.deleted_at.is_(None)).options(undefer(Expense.words))
    own_first = (Expense.user_id != session.scope.user_id, Expense.created_at.desc())
    since = utc_now() - timedelta(days=400)
    return list(
        session.scalars(query.where(Expense.created_at > since).order_by(*own_first).limit(limit))
    )


def list_deleted(session: ScopedSession) -> list[Expense]:
    """What was deleted and can still be restored, the latest first."""
    require_editor(session)
    since = utc_now() - timedelta(days=UNDO_DAYS)
    query = _visible(session).where(Expense.deleted_at > since)
    return list(session.scalars(query.order_by(Expense.deleted_at.desc()).limit(PAGE)))


def visible(session: ScopedSession) -> list[ColumnElement[bool]]:
    """The predicate of what this person may see: their own, and for editors the group's."""
    own = [Expense.group_id == session.scope.group_id]
    if not may_see_all(session):
        own.append(Expense.user_id == session.scope.user_id)
    return own


def conditions(filters: Filters) -> list[ColumnElement[bool]]:
    """What filters come to, but for the deleted ones. Whoever asks with them limits the search."""
    found: list[ColumnElement[bool]] = []
    if filters.start is not None:
        found.append(Expense.date >= filters.start)
    if filters.end is not None:
        found.append(Expense.date < filters.end)
    if filters.category:
        found.append(Expense.category == filters.category)
    if filters.currency:
        found.append(Expense.currency == filters.currency)
    if filters.user_id is not None:
        found.append(Expense.user_id == filters.user_id)
    asked = words(filters.words)[:MOST_WORDS]
    return [*found, *(Expense.words.contains(f" {word}", autoescape=True) for word in asked)]


def count_expenses(session: ScopedSession, filters: Filters) -> int:
    """How many expenses the filters let through; for words, which the sums do not know."""
    which = [*visible(session), Expense.deleted_at.is_(None), *conditions(filters)]
    with limit_search(session):
        return session.scalar(select(func.count()).select_from(Expense).where(*which)) or 0


def _visible(session: ScopedSession) -> Select[Expense]:
    return select(Expense).where(*visible(session))


def _write(expense: Expense, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(expense, name, value)
    expense.version += 1


def _delete(session: ScopedSession, expense: Expense) -> None:
    expense.deleted_at, expense.deleted_by = utc_now(), session.scope.user_id
    expense.version += 1
    session.flush()
