"""The files of a posted form: how many there may be is decided before any of them is looked at.

Every route that takes files does so with these three, in this order: `allow_files` before the form
is read, `get_posted_files` before anything is done with them, and `examination` while they are
examined. tests/test_architecture.py checks that nothing else reads them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import cast
from uuid import UUID

from flask import request
from flask_login import current_user
from werkzeug.datastructures import FileStorage

from app.errors import InvalidInput, TooMany
from app.extensions import ComandaRequest, services
from app.files.examination_queue import MOST_AT_ONCE, line_is_full
from app.files.upload_limits import count_files, count_volume, uncount_files
from app.web.pages import (
    REFUSED_SECONDS,
    enter_lane_again,
    give_back_connection,
    leave_lanes,
)
from app.web.request_body import FEW_PARTS, MOST_FILES

PostedFiles = dict[str, list[FileStorage]]

# The forms with files that each person is sending to this process.
_sending: Counter[UUID] = Counter()
_sending_lock = Lock()


def allow_files(largest_body: int, most: int = MOST_FILES, parts: int = FEW_PARTS) -> None:
    """Let the form of this request bring up to `most` files, in up to `largest_body` bytes.

    It has so many `parts` at most, files and fields. Called before anything reads the form, as the
    search for its token does. What is typed may be as long as on any other page, because it is
    kept in memory.

    Raises:
        TooMany: this person is sending as many forms with files as may be sent at once, or has
            sent too much in the last minute.
    """
    posted = cast(ComandaRequest, request)
    if posted.mimetype != "multipart/form-data":
        return
    with _refused_late():
        count_volume(min(posted.content_length or largest_body, largest_body))
        posted.held.enter_context(_body_of(current_user.user_id))
    # A form with files may take long to come, and has the limits above. What it is, with files or
    # without, is answered in turn.
    leave_lanes()
    posted.when_read = enter_lane_again
    posted.most_text = posted.max_content_length
    posted.max_content_length, posted.most_files = largest_body, most
    posted.max_form_parts = parts


@contextmanager
def _refused_late() -> Iterator[None]:
    """Whoever sends the next form as soon as one is refused does so once a second."""
    try:
        yield
    except TooMany:
        give_back_connection()
        time.sleep(REFUSED_SECONDS)
        raise


@contextmanager
def _body_of(person: UUID) -> Iterator[None]:
    """Count a form with files while it is read and answered."""
    with _sending_lock:
        if _sending[person] >= MOST_AT_ONCE:
            raise line_is_full()
        _sending[person] += 1
    try:
        yield
    finally:
        with _sending_lock:
            _sending[person] -= 1
            if not _sending[person]:
                del _sending[person]


def get_posted_files(most: Mapping[str, int]) -> PostedFiles:
    """The files that were chosen in these fields, which take so many each; counted for the person.

    Fields in which none was chosen are left out, and so is what was sent under other names.

    Raises:
        InvalidInput: a field, which the error names, has more than it takes; none is counted.
        TooMany: this person has added too many in the last minute or hour; none is counted.
    """
    found = _find_chosen(most)
    for name, files in found.items():
        if len(files) > most[name]:
            raise InvalidInput(
                "More files than fit here were chosen, so none was added. Choose fewer.",
                field=name,
            )
    if found:
        count_files(sum(map(len, found.values())))
    return found


def list_chosen(fields: Iterable[str]) -> list[str]:
    """Those of these fields in which files were chosen, to say of each what became of them."""
    return list(_find_chosen(fields))


def list_chosen_names(fields: Iterable[str]) -> dict[str, list[str]]:
    """What the files are called that were chosen in these fields; nothing is done with them."""
    found = _find_chosen(fields)
    return {name: [file.filename or "" for file in files] for name, files in found.items()}


def _find_chosen(fields: Iterable[str]) -> PostedFiles:
    found = {name: [f for f in request.files.getlist(name) if f.filename] for name in fields}
    return {name: files for name, files in found.items() if files}


@contextmanager
def examination() -> Iterator[None]:
    """This person's turn to have files examined, which they have once at a time.

    Meanwhile their other requests go on, and no connection to the database is kept.

    Raises:
        TooMany: too many of their posts are waiting already; the files of this one do not count.
    """
    give_back_connection()
    leave_lanes()
    with ExitStack() as turn:
        try:
            with _refused_late():
                turn.enter_context(services().examinations.turn_of(str(current_user.user_id)))
        except TooMany:
            uncount_files()
            raise
        yield
    enter_lane_again()
