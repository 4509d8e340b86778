"""People, the groups (restaurants) they work for, and how they get in."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, new_id, utc_now

ROLES = ("staff", "manager", "admin")


class Group(Base):
    """A restaurant: the tenant that owns nearly everything else."""

    __tablename__ = "groups"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    timezone: Mapped[str] = mapped_column(default="America/Chicago")
    currency: Mapped[str] = mapped_column(default="USD")
    language: Mapped[str] = mapped_column(default="en")
    # The country, by its code of two letters, and whom one calls there in danger.
    region: Mapped[str] = mapped_column(default="US")
    emergency_number: Mapped[str] = mapped_column(default="911")
    # None: as the settings say; 0: none at all (app.assistant.usage.message_quotas).
    daily_message_limit: Mapped[int | None] = mapped_column(
        CheckConstraint("daily_message_limit >= 0", name="daily_message_limit")
    )
    monthly_message_limit: Mapped[int | None] = mapped_column(
        CheckConstraint("monthly_message_limit >= 0", name="monthly_message_limit")
    )
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    email: Mapped[str] = mapped_column(unique=True)  # kept in lower case
    name: Mapped[str]
    is_active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Credential(Base):
    """A password's hash. The app's role has no right at all here: it asks doors such as
    `find_credentials` and `set_password` (docs/security.md). The database's function
    `write_password` alone sets a password, and ends what the one before had opened.
    """

    __tablename__ = "credentials"

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    password_hash: Mapped[str]
    changed_at: Mapped[datetime] = mapped_column(default=utc_now)


class Membership(Base):
    __tablename__ = "memberships"

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    role: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class UserProfile(Base):
    """What the assistant should know about a person; explicit, never guessed."""

    __tablename__ = "user_profiles"

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    language: Mapped[str] = mapped_column(default="en")
    theme: Mapped[str] = mapped_column(default="system")
    units: Mapped[str] = mapped_column(default="us")
    allergens: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    diets: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    cuisines: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)


class SignIn(Base):
    """One signed-in browser or API client; deleting the row signs it out at once."""

    __tablename__ = "sign_ins"
    __table_args__ = (
        # Somebody removed from the group is signed out of it by the database itself.
        ForeignKeyConstraint(
            ["user_id", "group_id"],
            ["memberships.user_id", "memberships.group_id"],
            name="fk_sign_ins_membership",
            ondelete="CASCADE",
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    token_hash: Mapped[str] = mapped_column(unique=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    # The group this browser is looking at; membership is checked on every request.
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(default="browser")
    user_agent: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    last_seen_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime]


class Invitation(Base):
    """An invitation by link; the link's token is kept only as a hash."""

    __tablename__ = "invitations"
    __table_args__ = (UniqueConstraint("group_id", "email"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    email: Mapped[str]
    role: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    invited_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime]
    accepted_at: Mapped[datetime | None]

    @property
    def sent(self) -> str:
        """When it was made, to the microsecond: inviting the address again makes it another one."""
        return self.created_at.isoformat()


class PasswordReset(Base):
    __tablename__ = "password_resets"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class AuditEntry(Base):
    """Who did what, when. Rows are only ever added (the app's role cannot change them)."""

    __tablename__ = "audit_log"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID | None] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    action: Mapped[str]
    subject: Mapped[str] = mapped_column(default="")
    digest: Mapped[str] = mapped_column(default="")
    at: Mapped[datetime] = mapped_column(default=utc_now, index=True)
