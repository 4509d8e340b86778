"""What has just happened, told above the list: added, deleted (with the way back), restored."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app.db import ScopedSession
from app.errors import NotFound
from app.skills.expenses.services.expenses import load_expense, may_see_all
from app.skills.expenses.web.presenters import Told

# What an address tells of, and whether the expense is a deleted one then.
KINDS = {"added": False, "changed": False, "deleted": True, "restored": False}


def told_of(session: ScopedSession, arguments: Mapping[str, str]) -> Told | None:
    """What the address tells of an expense that this person may see; an old one tells nothing."""
    for kind, is_deleted in KINDS.items():
        if kind not in arguments or (is_deleted and not may_see_all(session)):
            continue
        try:
            found = load_expense(session, UUID(arguments[kind]), deleted=is_deleted)
        except (ValueError, NotFound):
            continue
        return Told(kind, found)
    return None
