"""What somebody should know of, wherever in the house they are."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, new_id, utc_now
from app.text.bilingual import in_language


class Notification(Base):
    """A line for one person, in both languages, and the page that it is about."""

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
