"""An agent's reply in the conversation that its request came from, seen there at once."""

from __future__ import annotations

import json
from uuid import UUID

from sqlalchemy import text

from app.assistant.models import AGENT, AGENT_REPLY
from app.assistant.turns.events import EventLog
from app.db import ScopedSession, new_id
from app.extensions import services
from app.skills.service_requests.models import RequestUpdate, ServiceRequest

# The database looks once more whether this person may, and whether the conversation is there.
_REPLY = text(
    "SELECT reply_in_thread(:request, :message, :words, :spoken, CAST(:internal AS jsonb))"
)


def reply_in_thread(
    session: ScopedSession, request: ServiceRequest, update: RequestUpdate
) -> tuple[UUID | None, UUID | None]:
    """Put a reply at the end of its requester's conversation; returns that and the message.

    Both are None where the conversation is gone: the reply stands on the request's page.
    """
    message_id = new_id()
    internal = {
        "type": AGENT_REPLY,
        "request_id": str(request.id),
        "reference": request.reference,
        "author": update.author,
    }
    thread_id: UUID | None = session.scalar(
        _REPLY,
        {
            "request": request.id,
            "message": message_id,
            "words": update.body,
            "spoken": request.language,
            "internal": json.dumps(internal),
        },
    )
    return (thread_id, message_id) if thread_id else (None, None)


def announce_reply(thread_id: UUID | None, message_id: UUID | None) -> None:
    """Show it in the pages that have the conversation open; call it after the commit."""
    if thread_id is None:
        return
    told = {"message_id": str(message_id), "role": AGENT, "status": "complete"}
    EventLog(services().redis).announce(thread_id, "message", told)
