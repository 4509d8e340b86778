"""Signing in and out, which group one is in, and tokens for programs.

Every function works for the person and group of the session's scope, and commits what it did,
except `issue_api_token`, which the operator's commands use with the owner's database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import Row, delete, func, select, text, update

from app.accounts.audit import record
from app.accounts.models import Credential, Group, Membership, SignIn
from app.accounts.names_and_emails import fold_email
from app.accounts.passwords import hash_password, needs_rehash, verify_password
from app.accounts.tokens import API_DAYS, API_PREFIX, hash_token, new_token
from app.db import Scope, ScopedSession, utc_now
from app.errors import InvalidInput, NotFound

USER_AGENT_LENGTH = 200
# Signing in again and again must make neither the page nor the table longer without end.
MOST_SHOWN = 50
MOST_SIGN_INS = 200

log = structlog.get_logger()


@dataclass(frozen=True)
class Device:
    """Where somebody signs in: what the browser calls itself, and for how long it is in."""

    user_agent: str
    days: int


@dataclass(frozen=True)
class SignInList:
    """The sign-ins of a person that a page shows, and how many more there are."""

    shown: list[SignIn]
    more: int


def sign_in(
    session: ScopedSession,
    email: str,
    password: str,
    device: Device,
    *,
    replaces: UUID | None = None,
    join: Callable[[ScopedSession], None] | None = None,
) -> str:
    """Check the password and return the token of a new sign-in.

    `replaces` is the sign-in of the same browser that ends with it, and `join` lets somebody who
    is in no group enter one. Afterwards the session serves the person who signed in.

    Raises:
        InvalidInput: the same words for an unknown address and for a wrong password.
    """
    found = find_credentials(session, email)
    if not verify_password(found.password_hash if found else None, password) or found is None:
        log.info("sign-in refused", known=found is not None)
        raise _wrong_password()
    if found.group_id is None and join is None:
        raise in_no_group()
    fresh_hash = hash_password(password) if needs_rehash(found.password_hash) else None
    before = session.scope
    if found.group_id is None:
        session.rescope(Scope(None, found.user_id))
    else:
        enter_group(session, found.user_id, found.group_id)
    if not confirm_credentials(session, found.password_hash, fresh_hash):
        raise _wrong_password()
    if found.group_id is None and join is not None:
        join(session)
    if replaces:
        _end_replaced(session, replaces, before)
    token = start_sign_in(session, device)
    record(session, "sign_in")
    session.commit()
    return token


def in_no_group() -> InvalidInput:
    return InvalidInput(
        "You are not in any group now. Ask a manager for a new invitation.", field="email"
    )


def _wrong_password() -> InvalidInput:
    return InvalidInput("This email and password don't match.", field="password")


def confirm_credentials(session: ScopedSession, known: str, fresh: str | None = None) -> bool:
    """Whether `known` is still the hash of the person's password; it stays so until the commit.

    Checking a password takes a while, in which another one may be set: whoever signs in with
    the one before must not come in after everybody was signed out. `fresh` is a newer hash of
    the same password to keep instead.
    """
    statement = text("SELECT confirm_credentials(:known, :fresh)")
    return bool(session.scalar(statement, {"known": known, "fresh": fresh}))


def find_credentials(session: ScopedSession, email: str) -> Row[Any] | None:
    """Whose address this is, with the hash of their password and their first group."""
    found = session.execute(
        text("SELECT * FROM find_credentials(:email)"), {"email": fold_email(email)}
    ).one_or_none()
    # Hashing waits its turn; it must not keep a connection waiting with it.
    session.commit()
    return found


def enter_group(session: ScopedSession, user_id: UUID, group_id: UUID) -> None:
    """Let the session serve this person in this group from now on."""
    session.rescope(Scope(group_id, user_id))
    role = session.scalars(
        select(Membership.role).where(
            Membership.user_id == user_id, Membership.group_id == group_id
        )
    ).one()
    session.rescope(Scope(group_id, user_id, role))


def start_sign_in(session: ScopedSession, device: Device) -> str:
    """Add a browser's sign-in for the session's person; return its token.

    It ends those of the person's other browsers that are beyond `MOST_SIGN_INS`.
    """
    token = new_token()
    added = SignIn(
        token_hash=hash_token(token),
        user_id=session.scope.user_id,
        group_id=session.scope.group_id,
        user_agent=device.user_agent[:USER_AGENT_LENGTH],
        expires_at=utc_now() + timedelta(days=device.days),
    )
    session.add(added)
    session.flush()
    _end_oldest(session, added.id)
    return token


def sign_out(session: ScopedSession, sign_in_id: UUID) -> None:
    """End one sign-in; its cookie or token is worth nothing from this moment."""
    _end_sign_in(session, sign_in_id)
    record(session, "sign_out")
    session.commit()


def sign_out_everywhere(session: ScopedSession, *, except_for: UUID | None = None) -> None:
    """End all the person's sign-ins, browsers and API clients, but for one if given."""
    _end_all_sign_ins(session, except_for)
    record(session, "sign_out_everywhere")
    session.commit()


def _end_sign_in(session: ScopedSession, sign_in_id: UUID) -> None:
    session.execute(
        delete(SignIn).where(SignIn.id == sign_in_id, SignIn.user_id == session.scope.user_id)
    )


def _end_replaced(session: ScopedSession, sign_in_id: UUID, before: Scope) -> None:
    """End the sign-in that the browser had, be it of the same person or of another one.

    After the credentials are locked, never before: a password that is being set locks them,
    and then ends the same sign-in.
    """
    now = session.scope
    session.rescope(before)
    _end_sign_in(session, sign_in_id)
    session.rescope(now)


def _end_all_sign_ins(session: ScopedSession, except_for: UUID | None) -> None:
    mine = delete(SignIn).where(SignIn.user_id == session.scope.user_id)
    session.execute(mine.where(SignIn.id != except_for) if except_for else mine)


def _end_oldest(session: ScopedSession, present: UUID) -> None:
    """End the sign-ins beyond the most that a person may have, those longest unused first.

    An API token neither counts nor ends here: an operator made it for a program, which cannot
    sign in again.
    """
    ended = (
        select(SignIn.id)
        .where(
            SignIn.user_id == session.scope.user_id,
            SignIn.kind == "browser",
            SignIn.id != present,
        )
        .order_by(SignIn.last_seen_at.desc(), SignIn.id.desc())
        .offset(MOST_SIGN_INS - 1)
    )
    session.execute(delete(SignIn).where(SignIn.id.in_(ended)))


def list_sign_ins(session: ScopedSession, present: UUID) -> SignInList:
    """Where the person is signed in now: the `present` sign-in, then the last used first."""
    found = session.execute(
        select(SignIn, func.count().over())
        .where(SignIn.user_id == session.scope.user_id, SignIn.expires_at > utc_now())
        .order_by((SignIn.id == present).desc(), SignIn.last_seen_at.desc(), SignIn.id.desc())
        .limit(MOST_SHOWN)
    ).all()
    total = found[0][1] if found else 0
    return SignInList([row[0] for row in found], total - len(found))


def list_groups(session: ScopedSession) -> list[Group]:
    """The groups that the person belongs to, by name."""
    return list(
        session.scalars(
            select(Group)
            .join(Membership, Membership.group_id == Group.id)
            .where(Membership.user_id == session.scope.user_id)
            .order_by(Group.name)
        )
    )


def switch_group(session: ScopedSession, sign_in_id: UUID, group_id: UUID) -> None:
    """Look at another of one's groups from this browser; an API token stays where it is.

    Raises:
        NotFound: the person does not belong to it, or there is none.
    """
    if group_id not in {group.id for group in list_groups(session)}:
        raise NotFound("This group does not exist, or you are not in it.")
    session.execute(
        update(SignIn)
        .where(
            SignIn.id == sign_in_id,
            SignIn.user_id == session.scope.user_id,
            SignIn.kind == "browser",
        )
        .values(group_id=group_id)
    )
    session.commit()


def issue_api_token(
    session: ScopedSession, user_id: UUID, group_id: UUID, *, days: int = API_DAYS
) -> str:
    """A token for API clients to act as this person, with the owner's session.

    The caller commits; the token cannot be shown again. Until then the person's credentials
    are locked: a password that is set meanwhile waits, and ends this token with the others.
    """
    locked = select(Credential.user_id).where(Credential.user_id == user_id).with_for_update()
    session.execute(locked)
    token = new_token(API_PREFIX)
    session.add(
        SignIn(
            token_hash=hash_token(token),
            user_id=user_id,
            group_id=group_id,
            kind="api",
            expires_at=utc_now() + timedelta(days=days),
        )
    )
    session.flush()
    return token
