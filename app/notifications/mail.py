"""Mail: put into an outbox with the work that causes it; `mail_delivery` sends it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, ScopedSession, new_id, utc_now

NOTIFY_CHANNEL = "mail"


class OutgoingMail(Base):
    """A message that waits to be sent, or was. Once sent its body, which may hold a link
    that lets somebody in, is emptied. The app's role may only add rows.
    """

    __tablename__ = "outgoing_mail"
    __table_args__ = (
        Index(
            "ix_outgoing_mail_waiting",
            text("is_awaited DESC"),
            "next_try_at",
            postgresql_where=text("sent_at IS NULL"),
        ),
        Index(
            "ix_outgoing_mail_handed_over",
            "handed_over_at",
            postgresql_where=text("handed_over_at IS NOT NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    to_address: Mapped[str]
    subject: Mapped[str]
    body: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    attempts: Mapped[int] = mapped_column(default=0)
    # Claiming a message moves this ahead, which is the lease of whoever claimed it;
    # empty when nothing more will be tried.
    next_try_at: Mapped[datetime | None] = mapped_column(default=utc_now)
    handed_over_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(default="")
    # It lets somebody in, or tells that others may have got in: it goes before all the rest.
    is_awaited: Mapped[bool] = mapped_column(default=False)
    # Who did what it tells of: nobody's letters keep those of others waiting. Only compared.
    sender_id: Mapped[UUID | None]


def queue_mail(
    session: ScopedSession, to: str, subject: str, body: str, *, is_awaited: bool = False
) -> None:
    """Put a message into the outbox; it leaves once the session's transaction commits.

    A message to nobody (an empty address) costs the same work and is thrown away by the
    mailer, so that the time an answer takes does not tell whether an address is known.
    """
    line = " ".join(subject.split())
    session.add(
        OutgoingMail(
            to_address=to,
            subject=line,
            body=body,
            is_awaited=is_awaited,
            sender_id=session.scope.user_id,
        )
    )
    session.flush()
    session.execute(text("SELECT pg_notify(:channel, '')"), {"channel": NOTIFY_CHANNEL})
