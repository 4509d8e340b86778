"""The lines of the bell: telling somebody something, and what they have not read of it yet.

Nothing here commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, ForeignKey, Index, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, ScopedSession, new_id, utc_now
from app.errors import NotFound
from app.text.bilingual import in_language

PAGE = 30
# More than that many are not counted: the bell says "99+".
MOST_COUNTED = 100


class Notification(Base):
    """A line for one person, in both languages, and the page that it is about.

    The database's policy hides the lines about a request, or a form that somebody has sent, that
    this person may not open any more.
    """

    __tablename__ = "notifications"
    __table_args__ = (
        Index("ix_notifications_person", "group_id", "user_id", "id"),
        Index(
            "ix_notifications_unread",
            "group_id",
            "user_id",
            postgresql_where=text("read_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    text_en: Mapped[str]
    text_es: Mapped[str]
    url: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    read_at: Mapped[datetime | None]

    def text(self, language: str) -> str:
        return in_language(language, self.text_en, self.text_es)


def notify(session: ScopedSession, user_id: UUID, texts: Mapping[str, str], url: str) -> None:
    """Tell somebody of the session's group `texts` {en, es}; `url` is a page of this site."""
    if not url.startswith("/") or url.startswith("//"):
        raise ValueError("a notification leads to a page of this site")
    # Not by the ORM: what is written for somebody else cannot be read back.
    session.execute(
        insert(Notification).values(
            id=new_id(),
            group_id=session.scope.group_id,
            user_id=user_id,
            text_en=texts["en"],
            text_es=texts["es"],
            url=url,
            created_at=utc_now(),
        )
    )


def _own(session: ScopedSession) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    scope = session.scope
    return Notification.group_id == scope.group_id, Notification.user_id == scope.user_id


def count_unread(session: ScopedSession) -> int:
    """How many lines the session's person has not read, up to MOST_COUNTED."""
    unread = (
        select(Notification.id)
        .where(*_own(session), Notification.read_at.is_(None))
        .limit(MOST_COUNTED)
    )
    return session.scalar(select(func.count()).select_from(unread.subquery())) or 0


def list_notifications(
    session: ScopedSession, before: UUID | None = None
) -> tuple[list[Notification], bool]:
    """A page of the person's lines before one of them, newest first, and whether there are more."""
    query = select(Notification).where(*_own(session))
    if before is not None:
        query = query.where(Notification.id < before)
    found = session.scalars(query.order_by(Notification.id.desc()).limit(PAGE + 1)).all()
    return list(found[:PAGE]), len(found) > PAGE


def open_notification(session: ScopedSession, notification_id: UUID) -> str:
    """Mark a line as read; returns the page that it is about.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    found = session.scalar(
        select(Notification).where(*_own(session), Notification.id == notification_id)
    )
    if found is None:
        raise NotFound("This notification does not exist, or it is not yours.")
    if found.read_at is None:
        found.read_at = utc_now()
    return found.url


def read_about(session: ScopedSession, url: str) -> bool:
    """Mark all lines about a page, or a place on it, as read; returns whether there were any."""
    return _mark(session, func.split_part(Notification.url, "#", 1) == url)


def read_all(session: ScopedSession, until: UUID) -> bool:
    """Mark this line and all before it as read; returns whether there were any.

    What is told while the page that lists it stands open has not been seen.
    """
    return _mark(session, Notification.id <= until)


def _mark(session: ScopedSession, *which: ColumnElement[bool]) -> bool:
    marked = session.execute(
        update(Notification)
        .where(*_own(session), Notification.read_at.is_(None), *which)
        .values(read_at=utc_now())
        .returning(Notification.id)
    )
    return marked.first() is not None
