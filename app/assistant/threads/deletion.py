"""Deleting one's own conversations: off every list at once, and for good soon after.

Until then the deletion can be undone. What becomes of the words is `forget_deleted_chats` in
migrations/versions/20261128_2330_deleted_chats.py, for all groups at once.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select, text

from app.assistant.feedback.feedback import take_back_copies
from app.assistant.models import Thread, own
from app.assistant.threads.threads import CHAT, load_thread
from app.assistant.turns.cancel import stop_turns
from app.db import Database, ScopedSession, utc_now
from app.errors import Conflict, NotFound

UNDO = timedelta(minutes=30)
# Longer than that, so that nothing is removed while somebody presses "Undo".
KEPT = timedelta(hours=1)
_BATCH = 100


def delete_thread(session: ScopedSession, thread_id: UUID) -> None:
    """End what is being answered there, and take the conversation off every list.

    What its person had let the admins have of it is taken back: there would be no way to it.
    """
    # Held, so that no message is taken into a conversation that is no more.
    thread = load_thread(session, thread_id, lock=True)
    if thread.context_type != CHAT:
        # What is talked about beside something goes with that.
        raise NotFound("This chat does not exist, or it is not yours.")
    stop_turns(session, thread_id)
    take_back_copies(session, thread_id)
    thread.deleted_at = utc_now()
    session.commit()


def deleted_lately(session: ScopedSession) -> Thread | None:
    """The conversation that its person has deleted last, while that can be undone."""
    mine = select(Thread).where(*own(session, Thread), Thread.deleted_at > utc_now() - UNDO)
    return session.scalar(mine.order_by(Thread.deleted_at.desc()).limit(1))


def restore_thread(session: ScopedSession, thread_id: UUID) -> Thread:
    """Undo a deletion; twice is the same as once.

    Raises:
        NotFound: it is not theirs, or its words are gone. Conflict: it is too late.
    """
    mine = select(Thread).where(Thread.id == thread_id, *own(session, Thread))
    thread = session.scalar(mine.with_for_update())
    if thread is None:
        raise NotFound("This chat does not exist, or it is not yours.")
    if thread.deleted_at is not None and thread.deleted_at <= utc_now() - UNDO:
        raise Conflict("It is too late to undo this. The chat is being removed for good.")
    thread.deleted_at = None
    session.commit()
    return thread


def forget_deleted_chats(database: Database) -> int:
    """Remove the conversations that were deleted a while ago, of every group; returns how many."""
    query = text("SELECT forget_deleted_chats(:minutes, :most)")
    values = {"minutes": KEPT // timedelta(minutes=1), "most": _BATCH}
    removed = 0
    while True:
        with database.transaction() as session:
            found = session.scalar(query, values) or 0
        removed += found
        if found < _BATCH:
            return removed
