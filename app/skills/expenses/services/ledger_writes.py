"""What the pages write: each of these is one transaction, with its line in the audit log."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid5

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.db import ScopedSession
from app.errors import Conflict
from app.files.models import StoredFile
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import (
    CHANGEABLE,
    Row,
    add_expenses,
    change_expense,
    delete_expense,
    load_expense,
    note_in_audit,
    require_editor,
    restore_expense,
    values_of,
)
from app.skills.expenses.services.receipt_files import keep_receipt, let_receipt_go
from app.skills.expenses.services.settings import Ledger


def add_once(session: ScopedSession, row: Row, file: StoredFile | None, key: UUID) -> Expense:
    """Write a checked row; what has the same key and says the same is there already. Commits.

    A receipt that only the second brings is put to it.

    Raises:
        Conflict: the key is another person's.
    """
    known = _find_own(session, key)
    if known is not None and not _says(known, row):
        # Somebody went back to the form and wrote another expense on it: once, too.
        key = uuid5(key, repr(replace(row, file_id=None)))
        known = _find_own(session, key)
    if known is not None:
        if file is not None and known.file_id is None:
            _add_receipt(session, known, file)
        return known
    try:
        with session.begin_nested():
            [expense] = add_expenses(session, [row], [key])
    except IntegrityError:
        # The same has just come in twice.
        return _find_own(session, key) or _refuse()
    if file is not None:
        keep_receipt(session, expense, file)
    note_in_audit(session, "add", expense)
    session.commit()
    return expense


def _add_receipt(session: ScopedSession, expense: Expense, file: StoredFile) -> None:
    """The answer to the first was lost, and a photo was put to the second."""
    expense.file_id, expense.version = file.id, expense.version + 1
    keep_receipt(session, expense, file)
    note_in_audit(session, "change", expense)
    session.commit()


def _refuse() -> Expense:
    raise Conflict("This page has been open for too long. Reload it and try again.")


def _find_own(session: ScopedSession, expense_id: UUID) -> Expense | None:
    return session.scalar(
        select(Expense).where(
            Expense.id == expense_id,
            Expense.group_id == session.scope.group_id,
            Expense.user_id == session.scope.user_id,
        )
    )


def _says(expense: Expense, row: Row) -> bool:
    """Whether it is the same but for its receipt, which comes anew where it comes with a form."""
    names = [name for name in CHANGEABLE if name != "file_id"]
    return all(getattr(expense, name) == getattr(row, name) for name in names)


def save_row(
    session: ScopedSession,
    ledger: Ledger,
    expense_id: UUID,
    row: Row,
    file: StoredFile | None,
    version: int,
) -> Expense:
    """Change an expense to what was typed; what stays the same is no change. Commits.

    Raises:
        Forbidden, NotFound, InvalidInput, Conflict: as `change_expense`.
    """
    require_editor(session)
    before = values_of(load_expense(session, expense_id))
    changes = {
        name: getattr(row, name) for name in CHANGEABLE if getattr(row, name) != before[name]
    }
    if not changes:
        return load_expense(session, expense_id)
    expense, before = change_expense(session, ledger, expense_id, changes, version)
    if before["file_id"] != expense.file_id:
        if before["file_id"]:
            let_receipt_go(session, before["file_id"])
        if file is not None:
            keep_receipt(session, expense, file)
    note_in_audit(session, "change", expense)
    session.commit()
    return expense


def remove_expense(session: ScopedSession, expense_id: UUID, version: int | None) -> Expense:
    """Delete one, to be restored for 30 days. Commits.

    Raises:
        Forbidden, NotFound, Conflict: as `delete_expense`.
    """
    expense = delete_expense(session, expense_id, version)
    note_in_audit(session, "delete", expense)
    session.commit()
    return expense


def bring_back(session: ScopedSession, expense_id: UUID) -> Expense:
    """Restore a deleted one. Commits.

    Raises:
        Forbidden, NotFound, Conflict: as `restore_expense`.
    """
    expense = restore_expense(session, expense_id)
    note_in_audit(session, "restore", expense)
    session.commit()
    return expense
