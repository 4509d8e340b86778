"""The reply envelope: one shape for the JSON API, the command line and voice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.assistant.models import Message
from app.assistant.tools.parts import Envelope
from app.assistant.usage.message_quotas import Usage
from app.extensions import services
from app.web.urls import with_urls

BACKTICK, ESCAPED = "`", "\\u0060"
FINISHED = ("complete", "stopped", "interrupted", "failed")


def envelope(reply: Message, usage: Usage | None = None) -> Envelope:
    """A finished reply as envelope 1.0, with how much of the nearest limit is used by now.

    Needs a request context, because citations and parts hold links.
    """
    words = words_of(reply)
    return Envelope(
        message=words,
        answer="\n\n".join(filter(None, [words, *_blocks(reply.actions)])),
        language=reply.language,
        mode="action" if reply.mode == "action" else "search",
        session_id=reply.thread_id,
        sessionId=reply.thread_id,
        message_id=reply.id,
        status=reply.status,
        citations=with_urls(reply.citations),
        parts=with_urls(reply.parts),
        suggestions=reply.suggestions,
        actions=reply.actions,
        usage=usage.as_json() if usage else None,
        degraded=reply.degraded,
    )


def words_of(reply: Message) -> str:
    """What the reply says; where it has no words, what its first notice does."""
    return reply.content or _first_notice(reply)


def _blocks(actions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The actions of a reply as the blocks of JSON that other clients look for in its words."""
    types = dict.fromkeys(action["type"] for action in actions)
    for type_ in types:
        write = services().registry.action_blocks.get(type_)
        if write is not None:
            said = write([action["payload"] for action in actions if action["type"] == type_])
            block = json.dumps(said, ensure_ascii=False, indent=2)
            # What somebody wrote must not end the fence.
            yield f"```json\n{block.replace(BACKTICK, ESCAPED)}\n```"


def _first_notice(reply: Message) -> str:
    """What a reply without words has to say for itself."""
    for part in reply.parts:
        if part.get("type") == "notice":
            return str(part["text"])
    return ""
