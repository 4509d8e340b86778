"""What a reply of one's own cited, as it was given to the model then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from app.assistant.models import Message, Thread
from app.assistant.tools.parts import Citation
from app.db import ScopedSession


@dataclass(frozen=True)
class CitedThen:
    """A citation, and when the reply that it stands in was written."""

    citation: Citation
    at: datetime


def load_citation(session: ScopedSession, message_id: UUID, document_id: UUID) -> CitedThen | None:
    """What a message in one of the session's person's own threads cited from that document.

    None where it is not theirs, cites no such thing, or is from before passages were kept.
    """
    message = session.scalar(
        select(Message)
        .join(Thread, Thread.id == Message.thread_id)
        .where(
            Message.id == message_id,
            Message.group_id == session.scope.group_id,
            Message.user_id == session.scope.user_id,
            Thread.deleted_at.is_(None),
        )
    )
    if message is None:
        return None
    for stored in message.citations:
        if stored.get("document_id") == str(document_id) and stored.get("quote"):
            return CitedThen(Citation.model_validate(stored), message.created_at)
    return None
