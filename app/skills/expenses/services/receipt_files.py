"""Receipts: the file that proves an expense, temporary until the expense is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import ColumnElement, select, update
from werkzeug.datastructures import FileStorage, MultiDict

from app.db import ScopedSession, read_id
from app.errors import ComandaError, InvalidInput, NotFound, TooMany
from app.files.kinds import FORM_BYTES, LARGEST_BYTES
from app.files.models import StoredFile
from app.files.posted_files import examination, get_posted_files
from app.files.storage import Storage
from app.files.uploads import list_own_files, store_upload
from app.skills.expenses.models import Expense

OWNER_KIND = "expense"
KINDS = ("image", "pdf")
LARGEST_FORM = LARGEST_BYTES + FORM_BYTES


def take_receipt(
    session: ScopedSession,
    storage: Storage,
    form: MultiDict[str, str],
    name: str,
    expense: Expense | None = None,
    new_id: UUID | None = None,
) -> StoredFile | None:
    """The receipt of a form's field: what comes with the form, else the first that it names.

    It is the one that the expense has already, be it a new one that will have this `new_id`, or
    one's own that nothing needs yet. What comes with the form is committed; nothing else may be
    under way, because what the session has done so far is forgotten.

    Raises:
        InvalidInput: the file is not taken, or none that is named can be; its field is `receipt`,
            its status says why.
    """
    session.rollback()
    if sent := _take_sent(session, storage, f"u-{name}"):
        return sent
    named = [file_id for text in form.getlist(f"v-{name}") if (file_id := read_id(text))]
    shown = [str(each) for each in named] or [""]
    if expense is not None and form.getlist(f"was-{name}") == shown:
        # Whatever has become of it meanwhile: nobody has touched it on this page.
        return find_receipts(session, [expense]).get(expense.id)
    if expense is not None and expense.file_id in named and len(named) == 1:
        return find_receipts(session, [expense]).get(expense.id)
    others = [each for each in named if not _is_of(expense, each)]
    own = reversed(list_own_files(session, others))
    found = next((file for file in own if _is_free(file) or _belongs_to(new_id, file)), None)
    if others and found is None:
        # A form may stand open for longer than a file waits for it.
        raise InvalidInput("The receipt is no longer there. Add it again.", field="receipt")
    return found


def _take_sent(session: ScopedSession, storage: Storage, field: str) -> StoredFile | None:
    """The file that came in a field, once it is stored; None where none came."""
    try:
        posted = get_posted_files({field: 1})
        return _store(session, storage, posted[field][0]) if posted else None
    except ComandaError as error:
        session.rollback()
        # Told at its field, whatever the files say.
        refused = InvalidInput(error.message, field="receipt", **error.params)
        refused.status = error.status if isinstance(error, TooMany) else refused.status
        raise refused from None


def _store(session: ScopedSession, storage: Storage, sent: FileStorage) -> StoredFile:
    with examination():
        file = store_upload(session, storage, sent.stream, sent.filename or "", kinds=KINDS)
        session.commit()
    return file


def _is_of(expense: Expense | None, file_id: UUID) -> bool:
    return expense is not None and expense.file_id == file_id


def _belongs_to(expense_id: UUID | None, file: StoredFile) -> bool:
    return expense_id is not None and file.owner_id == expense_id


def _is_free(file: StoredFile) -> bool:
    return file.kind in KINDS and file.state == "temporary" and file.owner_id is None


def keep_receipt(session: ScopedSession, expense: Expense, file: StoredFile) -> None:
    """From now on the file belongs to the expense, and stays.

    Raises:
        InvalidInput: it has become another one's meanwhile; its field is `receipt`.
    """
    values = {"state": "kept", "owner_kind": OWNER_KIND, "owner_id": expense.id}
    if not _write_owner(session, file.id, StoredFile.owner_id.is_(None), values):
        raise InvalidInput("This file does not exist, or it is not yours.", field="receipt")


def let_receipt_go(session: ScopedSession, expense: Expense, file_id: UUID) -> None:
    """What an expense does not need any more is removed by the clean-up."""
    # It stays a receipt by kind: as such those who look after expenses may still change it.
    values = {"state": "temporary", "owner_kind": OWNER_KIND, "owner_id": None}
    _write_owner(session, file_id, StoredFile.owner_id == expense.id, values)


def _write_owner(
    session: ScopedSession,
    file_id: UUID,
    while_: ColumnElement[bool],
    values: Mapping[str, object],
) -> bool:
    """Whether the file was still as it has to be: of two at once, one is the first."""
    written = session.execute(
        update(StoredFile)
        .where(StoredFile.id == file_id, StoredFile.group_id == session.scope.group_id, while_)
        .values(**values)
        .returning(StoredFile.id)
        .execution_options(synchronize_session=False)
    )
    return written.first() is not None


def find_receipts(session: ScopedSession, expenses: Iterable[Expense]) -> dict[UUID, StoredFile]:
    """The receipts of expenses that this person may see, by the expense's id."""
    wanted = {each.file_id: each.id for each in expenses if each.file_id}
    if not wanted:
        return {}
    query = select(StoredFile).where(
        StoredFile.id.in_(wanted),
        StoredFile.group_id == session.scope.group_id,
        StoredFile.owner_kind == OWNER_KIND,
    )
    return {wanted[file.id]: file for file in session.scalars(query)}


def load_receipt(session: ScopedSession, expense: Expense) -> StoredFile:
    """The receipt of an expense that this person may see, or NotFound."""
    found = find_receipts(session, [expense]).get(expense.id)
    if found is None:
        raise NotFound("This expense has no receipt, or it is not yours.")
    return found


def load_fresh_picture(session: ScopedSession, file_id: UUID) -> StoredFile:
    """One's own picture that has just come and is nobody's receipt yet, or NotFound."""
    found = list_own_files(session, [file_id])
    if not found or found[0].kind != "image" or not _is_free(found[0]):
        raise NotFound("This file does not exist, or it is not yours.")
    return found[0]
