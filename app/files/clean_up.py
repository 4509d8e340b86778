"""Removing files: what was uploaded and never sent, and bytes that belong to no row."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from typing import NamedTuple

from sqlalchemy import text

from app.db import Database, utc_now
from app.files.storage import Storage, base_of, preview_of

# For how long an upload that nothing holds is kept.
TEMPORARY_HOURS = 24
# Longer than any upload takes, and than it takes to notice that the wrong database was restored.
ORPHAN_DAYS = 3
_BATCH = 500


class CleanedUp(NamedTuple):
    """How many files were let go of, and how many names without any file."""

    files: int
    orphans: int


def clean_up_files(database: Database, storage: Storage) -> CleanedUp:
    """Remove what was uploaded and never sent, and what a dead process left behind.

    Rows go first, then their bytes: bytes without a row are found again, and a row without bytes
    is a broken promise.
    """
    with database.transaction() as session:
        hours = {"hours": TEMPORARY_HOURS}
        keys = session.scalars(text("SELECT forget_abandoned_files(:hours)"), hours).all()
    for key in keys:
        storage.remove(preview_of(key))
        storage.remove(key)
    before = utc_now() - timedelta(days=ORPHAN_DAYS)
    orphans = 0
    old = storage.old_names(before)
    while names := list(islice(old, _BATCH)):
        orphans += _remove_orphans(database, storage, names)
    return CleanedUp(len(keys), orphans)


def _remove_orphans(database: Database, storage: Storage, names: Iterable[str]) -> int:
    by_key: dict[str, list[str]] = {}
    for name in names:
        by_key.setdefault(base_of(name), []).append(name)
    with database.transaction() as session:
        query = text("SELECT known_files(:keys)")
        known = set(session.scalars(query, {"keys": list(by_key)}))
    orphans = [name for key, of_key in by_key.items() if key not in known for name in of_key]
    for name in orphans:
        storage.remove(name)
    return len(orphans)
