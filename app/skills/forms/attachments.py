"""Files of forms: those that come with the form itself, and whom they belong to meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from sqlalchemy import update
from werkzeug.datastructures import FileStorage, MultiDict

from app.db import ScopedSession, read_id
from app.errors import ComandaError
from app.extensions import services
from app.fields.definitions import (
    FILE_TYPES,
    LARGEST_FILE_MIB,
    MIB,
    FileField,
    FormField,
)
from app.fields.typed import shape_of
from app.fields.values import Problem, Values
from app.files.models import StoredFile
from app.files.storage import Storage
from app.files.uploads import hold_files, store_upload
from app.skills.forms.drafts import read_fields_of
from app.skills.forms.models import FormDraft

OWNER_KIND = "form_draft"
SUBMITTED_KIND = "form_submission"
# A form with three of the largest files in it.
LARGEST_FORM = 64 * MIB


def receive_files(
    session: ScopedSession,
    draft: FormDraft,
    form: MultiDict[str, str],
    files: MultiDict[str, FileStorage],
) -> tuple[MultiDict[str, str], dict[str, Problem]]:
    """Take in the files that came with a form, as browsers without scripts send them.

    Returns:
        The form with the files' ids among its values, and why others were not taken.
    """
    taken, refused = MultiDict(form), dict[str, Problem]()
    for field in read_fields_of(session, draft):
        if field.type not in FILE_TYPES:
            continue
        for file in files.getlist(f"u-{field.name}"):
            if not file.filename:
                continue
            try:
                stored = _store(session, services().files, field, file)
            except ComandaError as error:
                refused[field.name] = Problem(error.message, **error.params)
            else:
                taken.add(f"v-{field.name}", str(stored.id))
    return taken, refused


def _store(
    session: ScopedSession, storage: Storage, field: FormField, file: FileStorage
) -> StoredFile:
    kinds: tuple[str, ...] = ("image",)
    largest = LARGEST_FILE_MIB
    if isinstance(field, FileField):
        kinds, largest = field.kinds, field.largest_mib
    name = file.filename or ""
    return store_upload(
        session, storage, file.stream, name, kinds=kinds, largest_bytes=largest * MIB
    )


def hold_draft_files(session: ScopedSession, draft: FormDraft, fields: Sequence[FormField]) -> None:
    """Keep the files of a draft from the clean-up for as long as it is open."""
    held = [each for field in fields if field.type in FILE_TYPES
            for each in shape_of(field, draft.typed.get(field.name))]  # fmt: skip
    ids = list(filter(None, map(read_id, held)))
    if ids:
        hold_files(session, ids, OWNER_KIND, draft.id)


def let_draft_files_go(session: ScopedSession, draft: FormDraft) -> None:
    """What only a draft needed that was thrown away is removed by the clean-up."""
    session.execute(
        update(StoredFile)
        .where(
            StoredFile.owner_id == draft.id,
            StoredFile.state == "temporary",
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
        )
        .values(owner_kind="", owner_id=None)
    )


def keep_submitted_files(
    session: ScopedSession, fields: Sequence[FormField], values: Values, submission_id: UUID
) -> None:
    """From now on the files belong to the submission, and stay."""
    ids = list(_file_ids(fields, values))
    if not ids:
        return
    session.execute(
        update(StoredFile)
        .where(
            StoredFile.id.in_(ids),
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
        )
        .values(state="kept", owner_kind=SUBMITTED_KIND, owner_id=submission_id)
    )


def _file_ids(fields: Sequence[FormField], values: Values) -> Iterator[UUID]:
    for field in fields:
        if field.type in FILE_TYPES:
            files: Sequence[Mapping[str, str]] = values.get(field.name) or ()
            yield from (UUID(each["id"]) for each in files)
