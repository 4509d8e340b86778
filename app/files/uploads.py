"""Taking in files: examined, tidied, kept for a while, then for good or not at all.

A file is temporary until something that is sent holds it; a draft holds its files with
`hold_files`. What nobody holds is removed after a day (`app.files.clean_up`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import IO
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError

from app.db import ScopedSession, utc_now
from app.errors import N_, InvalidInput, TooMany
from app.files.errors import StorageAway
from app.files.kinds import ENDINGS, LARGEST_BYTES, MIB, Unfit
from app.files.models import StoredFile
from app.files.result import ExaminedFile
from app.files.sandbox import examine
from app.files.spool import digest_of, size_of
from app.files.storage import Storage, new_key, preview_of
from app.text.plain_text import clean_line, compose, printable

LONGEST_UPLOAD_KEY = 64
# What one person may have waiting for a form to be sent.
MOST_WAITING_BYTES = 500 * MIB
# What one person sends in a day, whatever becomes of it.
MOST_BYTES_A_DAY = 1024 * MIB
LONGEST_STEM = 80
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_NOT_IN_NAMES = re.compile(r'[<>:"|?*/\\]')


def _unreadable() -> InvalidInput:
    return InvalidInput("What the page sent could not be read. Reload it and try again.")


def store_upload(
    session: ScopedSession,
    storage: Storage,
    stream: IO[bytes],
    name: str,
    *,
    kinds: Collection[str],
    largest_bytes: int = LARGEST_BYTES,
    upload_key: str = "",
) -> StoredFile:
    """Take in a file of one of `kinds`; what has the same key is the same upload once more.

    Called within `app.files.posted_files.examination`, and before the session's transaction
    has begun: looking at a file takes its time, and no connection is kept from others meanwhile.
    Never commits; bytes whose row is never committed are removed by the clean-up.

    Raises:
        InvalidInput: it is not taken; the message says why, and what to do.
        TooMany: this person has too much waiting.
        StorageAway: it cannot be kept just now.
    """
    if session.in_transaction():
        raise RuntimeError("a file is examined before a transaction begins")
    if "\0" in upload_key:
        raise _unreadable()
    most = min(largest_bytes, LARGEST_BYTES)
    if size_of(stream) > most:
        raise too_large(most)
    examined = _examine(stream, kinds, storage)
    with examined.file:
        key = new_key()
        storage.put(key, examined.file)
        if examined.preview:
            storage.put(preview_of(key), examined.preview)
        try:
            file = _write_row(session, key, examined, name, upload_key[:LONGEST_UPLOAD_KEY])
        except Exception:
            _let_go(storage, key)
            raise
        if file.key != key:
            _let_go(storage, key)
        return file


def _write_row(
    session: ScopedSession, key: str, examined: ExaminedFile, name: str, upload_key: str
) -> StoredFile:
    """The row of these bytes, or that of the same upload which has come in before."""
    size = size_of(examined.file)
    digest = digest_of(examined.file)
    if upload_key and (earlier := _find_upload(session, upload_key)):
        return earlier
    _check_room(session, size)
    file = StoredFile(
        group_id=session.scope.group_id,
        user_id=session.scope.user_id,
        key=key,
        upload_key=upload_key or None,
        name=tidy_name(name, examined.media_type),
        kind=examined.kind,
        media_type=examined.media_type,
        size=size,
        sha256=digest,
    )
    try:
        with session.begin_nested():
            session.add(file)
    except IntegrityError:
        # The same upload has just come in twice; or in another restaurant of theirs, before.
        earlier = _find_upload(session, upload_key)
        if earlier is None:
            raise _unreadable() from None
        return earlier
    return file


def _let_go(storage: Storage, key: str) -> None:
    """Remove bytes that have no row; where that does not work the clean-up finds them."""
    with suppress(StorageAway):
        storage.remove(preview_of(key))
        storage.remove(key)


def hold_files(session: ScopedSession, file_ids: Iterable[UUID], kind: str, owner_id: UUID) -> None:
    """Keep the clean-up from one's own files for as long as what is named needs them."""
    wanted = list(file_ids)
    if not wanted:
        return
    session.execute(
        update(StoredFile)
        .where(
            StoredFile.id.in_(wanted),
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
            StoredFile.owner_id.is_(None),
        )
        .values(owner_kind=kind, owner_id=owner_id)
    )


def list_own_files(session: ScopedSession, file_ids: Sequence[UUID]) -> list[StoredFile]:
    """One's own files of these, in their order; what is not there any more is left out."""
    found = session.scalars(
        select(StoredFile).where(
            StoredFile.id.in_(file_ids),
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
        )
    )
    by_id = {file.id: file for file in found}
    return [by_id[file_id] for file_id in file_ids if file_id in by_id]


def too_large(largest_bytes: int) -> InvalidInput:
    """What is said of a file that is larger than that."""
    error = InvalidInput(
        "The file is larger than %(limit)s MB. Make it smaller, or take the "
        "photo at a lower resolution.",
        limit=largest_bytes // MIB,
    )
    error.status, error.code = 413, "too_large"
    return error


def _examine(file: IO[bytes], kinds: Collection[str], storage: Storage) -> ExaminedFile:
    only_pictures = InvalidInput("Only pictures can be added here: JPEG, PNG, WebP or GIF.")
    try:
        examined = examine(file, storage.spool)
    except Unfit as unfit:
        # What else might be sent is no help where nothing else is taken.
        if set(kinds) == {"image"} and unfit.code in OF_NO_KIND:
            raise only_pictures from None
        raise InvalidInput(UNFIT.get(unfit.code, UNFIT["broken"])) from None
    if examined.kind in kinds:
        return examined
    if set(kinds) == {"image"}:
        raise only_pictures
    raise InvalidInput(
        "This type of file can't be added here. See below the field which types can."
    )


def _find_upload(session: ScopedSession, upload_key: str) -> StoredFile | None:
    return session.scalar(
        select(StoredFile).where(
            StoredFile.group_id == session.scope.group_id,
            StoredFile.user_id == session.scope.user_id,
            StoredFile.upload_key == upload_key,
        )
    )


def _check_room(session: ScopedSession, size: int) -> None:
    """Nobody fills the disk, neither with what is never sent nor with what is."""
    sizes = func.coalesce(func.sum(StoredFile.size), 0)
    own = (
        StoredFile.group_id == session.scope.group_id,
        StoredFile.user_id == session.scope.user_id,
    )
    today = StoredFile.created_at > utc_now() - timedelta(days=1)
    waiting = session.scalar(select(sizes).where(*own, StoredFile.state == "temporary"))
    sent = session.scalar(select(sizes).where(*own, today))
    if int(sent or 0) + size > MOST_BYTES_A_DAY:
        raise TooMany("You have added 1 GB of files within a day. Add more tomorrow.")
    if int(waiting or 0) + size > MOST_WAITING_BYTES:
        raise TooMany(
            "You have many files in forms that are not sent yet. Send or discard "
            "some of those forms first; files that are not in any form are deleted "
            "after a day."
        )


# Files that are none of the kinds that are taken anywhere.
OF_NO_KIND = (
    "unknown", "markup", "archive", "old_office", "programs", "embedded", "loads", "unsafe",
)  # fmt: skip
# What is wrong with a file, by the code of `Unfit`.
UNFIT = {
    "empty": N_("The file is empty. Choose another one."),
    "two_kinds": N_(
        "The file is two kinds of file at once, which is not safe. Open it, save "
        "it again, and add that."
    ),
    "broken_image": N_(
        "The picture can't be opened: it is damaged or didn't arrive complete. "
        "Add it again, or take a new one."
    ),
    "too_many_pixels": N_(
        "The picture has too many pixels. Make it smaller, or take it at a lower resolution."
    ),
    "heic": N_(
        "This picture is HEIC or AVIF, which not every device can show. Save it as JPEG, or set"
        " the camera to “Most compatible”."
    ),
    "locked": N_("The file is protected with a password. Save a copy without one and choose that."),
    "broken": N_("The file is damaged or incomplete. Save it again, or download it again."),
    "old_office": N_(
        "This file is from an old version of Office. Save it as .docx or .xlsx and choose that."
    ),
    "programs": N_(
        "The file has macros, which are programs. Save it as .docx or .xlsx and choose that."
    ),
    "embedded": N_(
        "The file has other files in it, such as an object from another program. "
        "Save it as a PDF and add that."
    ),
    "loads": N_(
        "The file loads something or starts another program when it is opened: a "
        "linked picture, a template, or data from another program. Save it as a "
        "PDF and add that."
    ),
    "unsafe": N_(
        "The file refers to other files in a way that is not safe. Save it again and choose that."
    ),
    "bomb": N_("The file unpacks to far more than it should. Save it again without attachments."),
    "archive": N_("Compressed folders (.zip) are not accepted. Add the files inside one by one."),
    "markup": N_(
        "Web pages and drawings made of code (HTML, SVG, XML) are not accepted. "
        "Save the file as a PDF or a picture, then add that."
    ),
    "too_many_pages": N_("The PDF has more than 500 pages. Add only the pages that matter."),
    "too_much": N_(
        "This file takes too much time or memory to check. Save a smaller version and add that."
    ),
    "unknown": N_(
        "This kind of file is not accepted. Add a picture, a PDF, a text file, "
        "or an Office document."
    ),
}


def tidy_name(raw: str, media_type: str) -> str:
    """A name as its owner wrote it, where that is safe on every system.

    The last part of `raw` without what is unseen or has a meaning, its ending as it is.
    """
    last = re.split(r"[/\\]", raw)[-1]
    seen = printable(last)
    plain = _NOT_IN_NAMES.sub("_", compose(clean_line(seen)))
    ending = _ENDING.search(plain)
    stem = _ENDING.sub("", plain)[:LONGEST_STEM].strip(" .") or "file"
    known = ENDINGS[media_type]
    kept = ending[0].lower() if ending and ending[0].lower() in known else known[0]
    return stem + kept
