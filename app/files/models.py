"""What is known of an uploaded file; its bytes are in the storage (app.files.storage)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, new_id, utc_now


class StoredFile(Base):
    """One file. It is temporary until something that is written for good refers to it.

    `key` is its random name in the storage, `name` what its owner called it. `upload_key` is
    what the browser called the upload, so that a repeated one is known again. `owner_kind` and
    `owner_id` name what needs it; see `app.files.access` for who may see it.
    """

    __tablename__ = "files"
    __table_args__ = (
        UniqueConstraint("user_id", "upload_key"),
        Index("ix_files_temporary", "state", "created_at"),
        Index("ix_files_owner", "owner_id"),
        CheckConstraint("state IN ('temporary', 'kept')", name="state"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    key: Mapped[str] = mapped_column(unique=True)
    upload_key: Mapped[str | None]
    name: Mapped[str]
    kind: Mapped[str]  # image, pdf, text or office
    media_type: Mapped[str]
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    state: Mapped[str] = mapped_column(default="temporary")
    owner_kind: Mapped[str] = mapped_column(default="")
    owner_id: Mapped[UUID | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
