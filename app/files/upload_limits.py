"""How many files one person may add, and how much with them: on all routes together."""

from __future__ import annotations

from flask import g
from flask_login import current_user
from limits import RateLimitItem, RateLimitItemPerMinute, parse_many

from app.errors import TooMany
from app.extensions import limiter
from app.files.kinds import MIB
from app.web.request_body import MOST_FILES
from app.web.shared_counters import ask_counters, seconds_until_anew, wait_in_words

# Files of one person, on all routes together.
UPLOADS = f"{MOST_FILES} per minute; 600 per hour"
# What one person sends in forms with files, in MiB: a disk that writes keeps others waiting.
VOLUME = RateLimitItemPerMinute(200)


def check_limits() -> None:
    """Refuse what could not be counted anyway, before it is read and written to the disk.

    For forms in which nothing but files is sent: what is typed beside them is to be kept.

    Raises:
        TooMany: this person has added all that may be added for now.
    """
    for limit in parse_many(UPLOADS) if limiter.enabled else ():
        if _hit(limit, 0) >= limit.amount:
            _refuse(limit)


def count_volume(size: int) -> None:
    """Count what is about to be read, by its whole MiB; what is refused does not count.

    `size` is in bytes. Smaller files are bounded by their number.

    Raises:
        TooMany: it would be more than the limit allows.
    """
    mebibytes = size // MIB
    if not mebibytes or not limiter.enabled:
        return
    if _hit(VOLUME, mebibytes) > VOLUME.amount:
        _hit(VOLUME, -mebibytes)
        _refuse(VOLUME)


def count_files(files: int) -> None:
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


def uncount_files() -> None:
    """Count the files of this request no more, because they were not looked at.

    What began to count anew since has no credit.
    """
    files = g.pop("counted_files", 0)
    for limit in parse_many(UPLOADS) if files else ():
        if _hit(limit, 0) >= files:
            _hit(limit, -files)


def _hit(limit: RateLimitItem, amount: int) -> int:
    """Count, and return how many there are now."""
    key = _key(limit)
    return ask_counters(lambda counters: counters.incr(key, limit.get_expiry(), amount=amount))


def _key(limit: RateLimitItem) -> str:
    what = "upload volume" if limit is VOLUME else "uploads"
    return limit.key_for(what, str(current_user.user_id))


def _refuse(limit: RateLimitItem) -> None:
    key = _key(limit)
    seconds = seconds_until_anew(key)
    raise TooMany(
        "That is more files than can be added in so short a time, so none were "
        "added. Try again in %(wait)s.",
        retry_after=seconds,
        wait=wait_in_words(seconds),
    )
