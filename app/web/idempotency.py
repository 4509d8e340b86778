"""Idempotency-Key: a request that comes twice is answered once, and the answer told again."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, ForeignKey, delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonObject, ScopedSession, new_id, utc_now
from app.errors import InvalidInput

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
LONGEST_KEY = 200


class KeyedAnswer(Base):
    """What a person's request with a key came to; without a `status` it is not answered yet.

    `id` is another one where the key is used again after it was forgotten.
    """

    __tablename__ = "keyed_answers"

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    key: Mapped[str] = mapped_column(primary_key=True)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    id: Mapped[UUID] = mapped_column(default=new_id)
    digest: Mapped[str]
    status: Mapped[int | None]
    body: Mapped[JsonObject | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


def begin(session: ScopedSession, key: str, request: Any) -> KeyedAnswer:
    """Note a request under its key; what it was answered with before stands in it.

    Commits, so that another of the same key sees it.

    Raises:
        InvalidInput: the key is too long, or was used for another request.
    """
    if len(key) > LONGEST_KEY:
        raise InvalidInput(
            "The Idempotency-Key has at most %(limit)d characters.", field=HEADER, limit=LONGEST_KEY
        )
    scope, digest = session.scope, _digest(request)
    mine = (KeyedAnswer.user_id == scope.user_id, KeyedAnswer.group_id == scope.group_id)
    session.execute(delete(KeyedAnswer).where(*mine, KeyedAnswer.created_at < utc_now() - KEPT))
    session.execute(
        insert(KeyedAnswer)
        .values(user_id=scope.user_id, group_id=scope.group_id, key=key, digest=digest)
        .on_conflict_do_nothing()
    )
    session.commit()
    found = session.scalar(select(KeyedAnswer).where(*mine, KeyedAnswer.key == key))
    if found is None or found.digest != digest:
        raise InvalidInput(
            "This Idempotency-Key was used for another request. Use a new one.", field=HEADER
        )
    return found


def finish(session: ScopedSession, answer_id: UUID, body: dict[str, Any], status: int) -> None:
    """Keep what a request came to, for a day, unless its key is another's by now. Commits."""
    session.execute(
        update(KeyedAnswer).where(*_unanswered(session, answer_id)).values(body=body, status=status)
    )
    session.commit()


def forget(session: ScopedSession, answer_id: UUID) -> None:
    """Let a request be tried anew that came to nothing, unless it is by now. Commits."""
    session.execute(delete(KeyedAnswer).where(*_unanswered(session, answer_id)))
    session.commit()


def _unanswered(session: ScopedSession, answer_id: UUID) -> tuple[ColumnElement[bool], ...]:
    return (
        KeyedAnswer.user_id == session.scope.user_id,
        KeyedAnswer.id == answer_id,
        KeyedAnswer.status.is_(None),
    )


def _digest(request: Any) -> str:
    canonical = json.dumps(request, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()
