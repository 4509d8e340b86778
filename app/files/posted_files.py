"""The files of a posted form: how many there may be is decided before any of them is looked at.

Every route that takes files does so with these three, in this order: `allow_files` before the form
is read, `get_posted_files` before anything is done with them, and `examination` while they are
examined. tests/test_architecture.py checks that nothing else reads them.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from threading import Lock
from typing import TypeVar, cast
from uuid import UUID

import structlog
from flask import g, request
from flask_babel import format_timedelta
from flask_login import current_user
from limits import RateLimitItem, RateLimitItemPerMinute, parse_many
from limits.errors import StorageError
from limits.storage import MemoryStorage, Storage
from redis.exceptions import RedisError
from werkzeug.datastructures import FileStorage

from app.errors import InvalidInput, TooMany
from app.extensions import ComandaRequest, limiter, services
from app.files.examination_queue import MOST_AT_ONCE, line_is_full
from app.files.kinds import MIB
from app.web.request_body import MOST_FILES

# Files of one person, on all routes together.
UPLOADS = f"{MOST_FILES} per minute; 600 per hour"
# What one person sends in forms with files, in MiB: a disk that writes keeps others waiting.
VOLUME = RateLimitItemPerMinute(200)

PostedFiles = dict[str, list[FileStorage]]
Answer = TypeVar("Answer")

log = structlog.get_logger()

# Takes over while Redis is away, for this process alone.
_own_counters = MemoryStorage()
# The forms with files that each person is sending to this process.
_sending: Counter[UUID] = Counter()
_sending_lock = Lock()


def allow_files(largest_body: int, most: int = MOST_FILES) -> None:
    """Let the form of this request bring up to `most` files, in up to `largest_body` bytes.

    Called before anything reads the form, as the search for its token does. What is typed may be
    as long as on any other page, because it is kept in memory.

    Raises:
        TooMany: this person is sending as many forms with files as may be sent at once, or has
            sent too much in the last minute.
    """
    posted = cast(ComandaRequest, request)
    if posted.mimetype != "multipart/form-data":
        return
    _count_volume(min(posted.content_length or largest_body, largest_body))
    posted.held.enter_context(_body_of(current_user.user_id))
    posted.most_text = posted.max_content_length
    posted.max_content_length, posted.most_files = largest_body, most


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


def check_limits() -> None:
    """Refuse what could not be counted anyway, before it is read and written to the disk.

    For forms in which nothing but files is sent: what is typed beside them is to be kept.

    Raises:
        TooMany: this person has added all that may be added for now.
    """
    for limit in parse_many(UPLOADS) if limiter.enabled else ():
        if _hit(limit, 0) >= limit.amount:
            _refuse(limit)


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
        _count(sum(map(len, found.values())))
    return found


def list_chosen(fields: Iterable[str]) -> list[str]:
    """Those of these fields in which files were chosen, to say of each what became of them."""
    return list(_find_chosen(fields))


def _find_chosen(fields: Iterable[str]) -> PostedFiles:
    found = {name: [f for f in request.files.getlist(name) if f.filename] for name in fields}
    return {name: files for name, files in found.items() if files}


@contextmanager
def examination() -> Iterator[None]:
    """This person's turn to have files examined, which they have once at a time.

    Raises:
        TooMany: too many of their posts are waiting already; the files of this one do not count.
    """
    with ExitStack() as turn:
        try:
            turn.enter_context(services().examinations.turn_of(str(current_user.user_id)))
        except TooMany:
            _give_back(g.pop("counted_files", 0))
            raise
        yield


def _count_volume(size: int) -> None:
    """Count what is about to be read, in bytes; what is refused does not count.

    Raises:
        TooMany: it would be more than the limit allows.
    """
    mebibytes = size // MIB
    if not mebibytes or not limiter.enabled:
        return
    if _hit(VOLUME, mebibytes) > VOLUME.amount:
        _hit(VOLUME, -mebibytes)
        _refuse(VOLUME)


def _count(files: int) -> None:
    """Count files before they are taken, all of them or none.

    Raises:
        TooMany: they would be more than the limits allow.
    """
    if not limiter.enabled:
        return
    counted: list[RateLimitItem] = []
    for limit in parse_many(UPLOADS):
        counted.append(limit)
        if _hit(limit, files) > limit.amount:
            for each in counted:
                _hit(each, -files)
            _refuse(limit)
    g.counted_files = files


def _give_back(files: int) -> None:
    """Count files no more that were not looked at; what began to count anew since has no credit."""
    for limit in parse_many(UPLOADS) if files else ():
        if _hit(limit, 0) >= files:
            _hit(limit, -files)


def _hit(limit: RateLimitItem, amount: int) -> int:
    """Count, and return how many there are now."""
    key = _key(limit)
    return _ask(lambda counters: counters.incr(key, limit.get_expiry(), amount=amount))


def _key(limit: RateLimitItem) -> str:
    what = "upload volume" if limit is VOLUME else "uploads"
    return limit.key_for(what, str(current_user.user_id))


def _refuse(limit: RateLimitItem) -> None:
    key = _key(limit)
    reset_at = _ask(lambda counters: counters.get_expiry(key))
    seconds = max(1, math.ceil(reset_at - time.time()))
    whole = seconds if seconds < 90 else 60 * math.ceil(seconds / 60)
    raise TooMany(
        "These are more files than can be added in so short a time, so none was. Try again in"
        " %(wait)s.",
        retry_after=seconds,
        wait=format_timedelta(timedelta(seconds=whole), threshold=1.5),
    )


def _ask(question: Callable[[Storage], Answer]) -> Answer:
    """Put the question to the shared counters, or to our own while those are away."""
    try:
        return question(limiter.storage)
    except (RedisError, StorageError) as error:
        log.warning("shared counters away", error=type(error).__name__)
        return question(_own_counters)
