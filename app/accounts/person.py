"""Who is asking: the signed-in person of this request, found with one query."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from flask import Request, request, session
from sqlalchemy import text, update

from app.accounts.models import SignIn
from app.accounts.tokens import hash_token
from app.db import Database, Scope, utc_now
from app.extensions import services

SignInKind = Literal["browser", "api"]

# Seen is written at most this often: reading a page should not cost a write.
SEEN_EVERY = timedelta(minutes=5)

_FIND = text("SELECT * FROM find_sign_in(:token_hash)")


@dataclass(frozen=True)
class Person:
    """Somebody signed in, the group they are looking at, and their role in it now."""

    token: str = field(repr=False)
    sign_in_id: UUID
    kind: SignInKind
    user_id: UUID
    email: str
    name: str
    language: str
    theme: str
    group_id: UUID
    group_name: str
    group_count: int
    timezone: str
    role: str
    last_seen_at: datetime

    # What flask-login asks of everybody.
    is_authenticated = True
    is_active = True
    is_anonymous = False

    @property
    def scope(self) -> Scope:
        return Scope(self.group_id, self.user_id, self.role)

    @property
    def draft_owner(self) -> str:
        """Whose words a device keeps until they are sent: this person's, in this group."""
        return f"{self.user_id}:{self.group_id}"

    @property
    def zone(self) -> ZoneInfo:
        """The group's time zone, in which everything is shown."""
        return ZoneInfo(self.timezone)

    def get_id(self) -> str:
        """What the cookie carries: the sign-in's token, never the person's own id."""
        return self.token


def find_person(database: Database, token: str, kind: SignInKind) -> Person | None:
    """Whose token this is; None when it is unknown, expired, signed out or of another kind.

    Membership and role are those of this moment: somebody removed is out at once.
    """
    # Outside any scope and transaction: the door below is all that this question needs.
    with database.engine.connect() as connection:
        plain = connection.execution_options(isolation_level="AUTOCOMMIT")
        row = plain.execute(_FIND, {"token_hash": hash_token(token)}).one_or_none()
    if row is None or row.kind != kind:
        return None
    person = Person(token=token, **row._mapping)
    if utc_now() - person.last_seen_at > SEEN_EVERY:
        _note_seen(database, person)
    return person


def _note_seen(database: Database, person: Person) -> None:
    with database.transaction(person.scope) as db:
        db.execute(
            update(SignIn)
            .where(SignIn.id == person.sign_in_id, SignIn.user_id == person.user_id)
            .values(last_seen_at=utc_now())
        )


def bearer_token() -> str | None:
    """The token of `Authorization: Bearer …`; empty when the header brings none."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def presented_token() -> str:
    """The token that the request brings, which nobody has looked up; empty when it brings none."""
    bearer = bearer_token()
    return str(session.get("_user_id", "")) if bearer is None else bearer


def load_from_cookie(token: str) -> Person | None:
    """The person of the session cookie, unless the request speaks for itself."""
    if bearer_token() is not None:
        return None
    return find_person(services().database, token, "browser")


def load_from_bearer(_request: Request) -> Person | None:
    """The person of an API client's token."""
    token = bearer_token()
    return find_person(services().database, token, "api") if token else None


def start_browser_session(token: str) -> None:
    """Put a fresh sign-in into the cookie; nothing of the session before it survives."""
    session.clear()
    session.permanent = True
    session["_user_id"] = token  # where flask-login looks for it


def end_browser_session() -> None:
    session.clear()
