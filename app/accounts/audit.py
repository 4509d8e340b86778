"""The log of who did what. Rows are only ever added (the app's role cannot do otherwise)."""

from __future__ import annotations

from app.accounts.models import AuditEntry
from app.db import ScopedSession


def record(session: ScopedSession, action: str, subject: str = "", digest: str = "") -> None:
    """Note that the session's person did `action`, as part of the same transaction."""
    session.add(
        AuditEntry(
            group_id=session.scope.group_id,
            user_id=session.scope.user_id,
            action=action,
            subject=subject,
            digest=digest,
        )
    )
