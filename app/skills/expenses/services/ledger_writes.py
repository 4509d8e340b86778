"""What the pages write: each of these is one transaction, with its line in the audit log."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid5

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.db import ScopedSession
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


def id_of(session: ScopedSession, row: Row, key: UUID) -> UUID:
    """The id of the expense that a row with this key is, whatever its receipt."""
    return uuid5(key, f"{session.scope.user_id} {replace(row, file_id=None)!r}")


def add_once(session: ScopedSession, row: Row, file: StoredFile | None, key: UUID) -> Expense:
    """Write a checked row; what came with the same key and said the same is one. Commits.

    It is one, too, where the expense has been changed or deleted since. Who goes back to the form
    and writes something else on it writes another expense. A receipt that only the second brings
    is put to what nobody has changed since.
    """
    expense_id = id_of(session, row, key)
    known = _find_own(session, expense_id)
    if known is not None:
        is_untouched = known.version == 1 and known.deleted_at is None
        if file is not None and file.owner_id is None and is_untouched:
            _add_receipt(session, known, file)
        return known
    try:
        with session.begin_nested():
            [expense] = add_expenses(session, [row], [expense_id])
    except IntegrityError:
        # The same has just come in twice.
        return load_expense(session, expense_id)
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


def _find_own(session: ScopedSession, expense_id: UUID) -> Expense | None:
    return session.scalar(
        select(Expense).where(
            Expense.id == expense_id,
            Expense.group_id == session.scope.group_id,
            Expense.user_id == session.scope.user_id,
        )
    )


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
            let_receipt_go(session, expense, before["file_id"])
        if file is not None:
            keep_receipt(session, expense, file)
    note_in_audit(session, "change", expense)
    session.commit()
    return expense


def remove_expense(session: ScopedSession, expense_id: UUID, version: int) -> Expense:
    """Delete one of this version, to be restored for 30 days. Commits.

    Raises:
        Forbidden, NotFound, Conflict: as `delete_expense`.
    """
    expense = delete_expense(session, expense_id, version)
    note_in_audit(session, "delete", expense)
    session.commit()
    return expense


def bring_back(session: ScopedSession, expense_id: UUID, version: int) -> Expense:
    """Restore a deleted one that is of this version. Commits.

    Raises:
        Forbidden, NotFound, Conflict: as `restore_expense`.
    """
    expense = restore_expense(session, expense_id, version)
    note_in_audit(session, "restore", expense)
    session.commit()
    return expense
