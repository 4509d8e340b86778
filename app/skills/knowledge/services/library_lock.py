"""Who may write to a group's library: one import with all of it, or people beside each other."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from app.db import ScopedSession
from app.errors import InvalidInput


def lock_library(session: ScopedSession) -> None:
    """Until the transaction ends, nobody else in the group writes to its library."""
    session.execute(select(func.pg_advisory_xact_lock(_key(session))))


def share_library(session: ScopedSession) -> None:
    """Write to it beside others; an import waits for the end of this transaction.

    An import holds the library for up to minutes: nobody waits for that with a page open.

    Raises:
        InvalidInput: an import holds it.
    """
    if not session.scalar(select(func.pg_try_advisory_xact_lock_shared(_key(session)))):
        raise InvalidInput(
            "A file is being imported into the library right now. Nothing is saved "
            "yet: try again in a minute."
        )


def _key(session: ScopedSession) -> Any:
    return func.hashtextextended(f"library {session.scope.group_id}", 0)
