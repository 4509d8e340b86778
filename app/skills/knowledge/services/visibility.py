"""What readers may see of the manual: one rule for all who make, move, change or restore.

Nothing is shown below what is hidden: it would be found, but not from the contents.
"""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import select

from app.db import ScopedSession
from app.errors import Conflict, InvalidInput
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.editor_tree import is_hidden


def check_may_show(session: ScopedSession, parent_id: UUID | None) -> None:
    """Whether something may be shown under that section (None: at the top).

    Raises:
        Conflict: that section, or one above it, is hidden.
    """
    if parent_id is not None and is_hidden(session, parent_id):
        raise Conflict(
            "Readers don't see the section this one would go under. Show that one "
            "first, or hide this one.",
            field="is_published",
        )


def check_shown(session: ScopedSession, section: ManualSection, shown: bool) -> None:
    """Whether a section may be shown, or hidden, where it stands.

    Raises:
        Conflict: it would be shown below a hidden one.
        InvalidInput: it would be hidden above one that is shown.
    """
    if shown and not section.is_published:
        check_may_show(session, section.parent_id)
    if section.is_published and not shown:
        _check_nothing_below(session, section)


def _check_nothing_below(session: ScopedSession, section: ManualSection) -> None:
    below = select(ManualSection.id).where(
        ManualSection.group_id == session.scope.group_id,
        ManualSection.parent_id == section.id,
        ManualSection.is_published,
    )
    if session.scalar(below.limit(1)) is not None:
        raise InvalidInput(
            "There are other sections under it. “Withdraw” hides them along with it.",
            field="is_published",
        )
