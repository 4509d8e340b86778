"""The reply envelope: one shape for the JSON API, the command line and voice."""

from __future__ import annotations

from app.assistant.limits import Usage
from app.assistant.models import Message
from app.assistant.parts import Envelope

FINISHED = ("complete", "stopped", "interrupted", "failed")


def envelope(reply: Message, usage: Usage | None = None) -> Envelope:
    """A finished reply as envelope 1.0, with how much of the nearest limit is used by now."""
    words = reply.content or _first_notice(reply)
    return Envelope(
        message=words,
        answer=words,
        language=reply.language,
        mode="action" if reply.mode == "action" else "search",
        session_id=reply.thread_id,
        sessionId=reply.thread_id,
        message_id=reply.id,
        status=reply.status,
        citations=reply.citations,
        parts=reply.parts,
        suggestions=reply.suggestions,
        actions=reply.actions,
        usage=usage.as_json() if usage else None,
        degraded=reply.degraded,
    )


def _first_notice(reply: Message) -> str:
    """What a reply without words has to say for itself."""
    for part in reply.parts:
        if part.get("type") == "notice":
            return str(part["text"])
    return ""
