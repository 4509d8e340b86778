"""Files of forms: those that come with the form itself, and whom they belong to meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import update
from werkzeug.datastructures import FileStorage, MultiDict

from app.db import ScopedSession, read_id
from app.errors import ComandaError, TooMany
from app.extensions import services
from app.fields.definitions import (
    FILE_TYPES,
    LARGEST_FILE_MIB,
    MIB,
    FileField,
    FormField,
    PhotoField,
)
from app.fields.form_data import shape_of
from app.fields.values import Problem, Values
from app.files.models import StoredFile
from app.files.posted_files import (
    PostedFiles,
    examination,
    get_posted_files,
    list_chosen,
    list_chosen_names,
)
from app.files.storage import Storage
from app.files.uploads import hold_files, store_upload
from app.skills.forms.models import FormDraft

OWNER_KIND = "form_draft"
SUBMITTED_KIND = "form_submission"
# A form with three of the largest files in it.
LARGEST_FORM = 64 * MIB


class Received(NamedTuple):
    """A form with the ids of the files that came with it, and why others were not taken.

    `is_too_many` says that none was, because this person has added too many already.
    """

    form: MultiDict[str, str]
    refused: dict[str, Problem]
    is_too_many: bool = False


def receive_files(
    session: ScopedSession, fields: Sequence[FormField], form: MultiDict[str, str]
) -> Received:
    """Take in the files that came with a form, as browsers without scripts send them.

    Called before the draft is held: nothing of it is locked, and no connection is kept, while
    files are examined. Commits what is stored, as temporary files. Where a field has more than
    it takes, or this person has added too many, none of the form's files is.
    """
    by_input = {f"u-{field.name}": field for field in fields if field.type in FILE_TYPES}
    room = {name: _room(field, form) for name, field in by_input.items()}
    try:
        posted = get_posted_files(room)
        if not posted:
            return Received(form, {})
        with examination():
            return _store_all(session, by_input, posted, form)
    except ComandaError as error:
        session.rollback()
        chosen = [by_input[name].name for name in list_chosen(by_input)]
        refused = {name: Problem(error.message, **error.params) for name in chosen}
        if error.field:
            culprit = by_input[error.field].name
            others = Problem(
                "These files were not added either, because another field had too many."
                " Choose them again."
            )
            refused = dict.fromkeys(chosen, others) | {culprit: refused[culprit]}
        return Received(form, refused, isinstance(error, TooMany))


def list_form_files(fields: Sequence[FormField]) -> dict[str, list[str]]:
    """The names of the files that came with a form which takes none any more, by field."""
    by_input = {f"u-{field.name}": field.name for field in fields if field.type in FILE_TYPES}
    return {by_input[name]: names for name, names in list_chosen_names(by_input).items()}


def _store_all(
    session: ScopedSession,
    by_input: Mapping[str, FormField],
    posted: PostedFiles,
    form: MultiDict[str, str],
) -> Received:
    taken, refused = MultiDict(form), dict[str, Problem]()
    for name, files in posted.items():
        field = by_input[name]
        for file in files:
            try:
                stored = _store(session, services().files, field, file)
            except ComandaError as error:
                session.rollback()
                refused[field.name] = Problem(error.message, **error.params)
            else:
                taken.add(f"v-{field.name}", str(stored.id))
                session.commit()
    return Received(taken, refused)


def _room(field: FormField, form: MultiDict[str, str]) -> int:
    """How many files fit into a field, besides those that it keeps."""
    most = field.most if isinstance(field, FileField | PhotoField) else 1
    return max(0, most - len(set(filter(None, map(read_id, form.getlist(f"v-{field.name}"))))))


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
