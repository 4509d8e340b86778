"""Signing in and out, one's password and a new one by mail, and the first people of a group.

Every function works for the person and group of the session's scope, and commits what it
did, except `create_group`, `create_user`, `set_membership` and `issue_api_token`, which
the operator's commands and the seeds use with the owner's database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import Row, delete, func, select, text, update

from app.accounts import emails
from app.accounts.audit import record
from app.accounts.choices import ROLES
from app.accounts.models import Credential, Group, Membership, SignIn, User, UserProfile
from app.accounts.passwords import check_password, hash_password, needs_rehash, verify_password
from app.accounts.profile import load_profile
from app.accounts.text import clean_email, clean_name, fold_email
from app.accounts.tokens import API_PREFIX, hash_token, new_token
from app.db import NOBODY, Scope, ScopedSession, new_id, utc_now
from app.errors import Conflict, InvalidInput, NotFound
from app.notifications.mail import queue_mail

API_DAYS = 365
RESET_MINUTES = 60
USER_AGENT_LENGTH = 200

log = structlog.get_logger()


@dataclass(frozen=True)
class Device:
    """Where somebody signs in: what the browser calls itself, and for how long it is in."""

    user_agent: str
    days: int


def sign_in(
    session: ScopedSession,
    email: str,
    password: str,
    device: Device,
    *,
    replaces: UUID | None = None,
) -> str:
    """Check the password and return the token of a new sign-in.

    `replaces` is the sign-in of the same browser that ends with it. Afterwards the
    session serves the person who signed in.

    Raises:
        InvalidInput: the same words for an unknown address and for a wrong password.
    """
    found = _find_credentials(session, email)
    if not verify_password(found.password_hash if found else None, password) or found is None:
        log.info("sign-in refused", known=found is not None)
        raise _wrong_password()
    if found.group_id is None:
        raise InvalidInput(
            "You are not in any group now. Ask a manager for a new invitation.", field="email"
        )
    fresh_hash = hash_password(password) if needs_rehash(found.password_hash) else None
    before = session.scope
    enter_group(session, found.user_id, found.group_id)
    if not _confirm_credentials(session, found.password_hash, fresh_hash):
        raise _wrong_password()
    if replaces:
        _end_replaced(session, replaces, before)
    token = start_sign_in(session, device)
    record(session, "sign_in")
    session.commit()
    return token


def _wrong_password() -> InvalidInput:
    return InvalidInput("This e-mail and password do not go together.", field="password")


def _confirm_credentials(session: ScopedSession, known: str, fresh: str | None = None) -> bool:
    """Whether `known` is still the hash of the person's password; it stays so until the commit.

    Checking a password takes a while, in which another one may be set: whoever signs in with
    the one before must not come in after everybody was signed out. `fresh` is a newer hash of
    the same password to keep instead.
    """
    statement = text("SELECT confirm_credentials(:known, :fresh)")
    return bool(session.scalar(statement, {"known": known, "fresh": fresh}))


def _find_credentials(session: ScopedSession, email: str) -> Row[Any] | None:
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
    """Add a browser's sign-in for the session's person; return its token."""
    token = new_token()
    session.add(
        SignIn(
            token_hash=hash_token(token),
            user_id=session.scope.user_id,
            group_id=session.scope.group_id,
            user_agent=device.user_agent[:USER_AGENT_LENGTH],
            expires_at=utc_now() + timedelta(days=device.days),
        )
    )
    session.flush()
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


def list_sign_ins(session: ScopedSession) -> list[SignIn]:
    """Where the person is signed in now, the last used first."""
    return list(
        session.scalars(
            select(SignIn)
            .where(SignIn.user_id == session.scope.user_id, SignIn.expires_at > utc_now())
            .order_by(SignIn.last_seen_at.desc())
        )
    )


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
    """Look at another of one's groups from this browser.

    Raises:
        NotFound: the person does not belong to it, or there is none.
    """
    if group_id not in {group.id for group in list_groups(session)}:
        raise NotFound("This group does not exist, or you are not in it.")
    session.execute(
        update(SignIn)
        .where(SignIn.id == sign_in_id, SignIn.user_id == session.scope.user_id)
        .values(group_id=group_id)
    )
    session.commit()


def change_password(
    session: ScopedSession, current: str, new: str, device: Device | None
) -> str | None:
    """Replace the person's password; every sign-in, API token and reset link of theirs ends.

    Returns the token of a new sign-in on `device`, from where the password was changed; None
    without a device.

    Raises:
        InvalidInput: the current password is wrong, or the new one will not do.
    """
    user = session.get_one(User, session.scope.user_id)
    known = _find_credentials(session, user.email)
    if known is None or not verify_password(known.password_hash, current):
        raise _not_yours()
    check_password(new, user.email, user.name, field="new_password")
    password_hash = hash_password(new)
    if not _confirm_credentials(session, known.password_hash):
        raise _not_yours()
    # Sign-ins, API tokens and reset links end with it, in the database.
    session.execute(text("SELECT set_password(:hash)"), {"hash": password_hash})
    token = start_sign_in(session, device) if device else None
    tell_password_changed(session, user)
    record(session, "password_changed")
    session.commit()
    return token


def _not_yours() -> InvalidInput:
    return InvalidInput("That is not your password now.", field="current_password")


def set_password(session: ScopedSession, user_id: UUID, password: str) -> None:
    """Set anybody's password, with the owner's session; the caller checks it and commits.

    Their sign-ins, API tokens and open reset links end with it.
    """
    session.execute(
        text("SELECT write_password(:user_id, :hash)"),
        {"user_id": user_id, "hash": hash_password(password)},
    )


def tell_password_changed(session: ScopedSession, user: User) -> None:
    """Let somebody know, wherever they are, that their password is another one now."""
    letter = emails.password_changed(load_profile(session).language, user.name)
    queue_mail(session, user.email, letter.subject, letter.body)


def request_password_reset(
    session: ScopedSession, email: str, link: Callable[[str], str], *, language: str
) -> None:
    """Send a link for a new password, if somebody has this address.

    `link` makes a token's address. Nothing tells the caller whether there is such a
    person, not even the time it takes: the same message is made for nobody.
    """
    token = new_token()
    person = session.execute(
        text("SELECT * FROM start_password_reset(:id, :email, :token_hash, :expires)"),
        {
            "id": new_id(),
            "email": fold_email(email),
            "token_hash": hash_token(token),
            "expires": utc_now() + timedelta(minutes=RESET_MINUTES),
        },
    ).one_or_none()
    letter = emails.password_reset(
        person.language if person else language,
        person.name if person else "",
        link(token),
        RESET_MINUTES,
    )
    queue_mail(session, fold_email(email) if person else "", letter.subject, letter.body)
    session.commit()


def check_password_reset(session: ScopedSession, token: str) -> None:
    """Raise NotFound unless the link still works."""
    found = session.scalar(
        text("SELECT password_reset_is_open(:token_hash)"), {"token_hash": hash_token(token)}
    )
    if not found:
        raise NotFound("This link has expired or was used already. Ask for a new one.")


def reset_password(session: ScopedSession, token: str, password: str) -> str:
    """Set a new password with a link's token; sign out everywhere; return the e-mail.

    Raises:
        NotFound: the link was used, has expired, or never was.
        InvalidInput: the password will not do; the link can be used again.
    """
    check_password_reset(session, token)
    check_password(password)
    # Hashing waits its turn; it must not keep a connection waiting with it.
    session.commit()
    password_hash = hash_password(password)
    user_id = session.scalar(
        text("SELECT finish_password_reset(:token_hash, :hash)"),
        {"token_hash": hash_token(token), "hash": password_hash},
    )
    if user_id is None:
        raise NotFound("This link has expired or was used already. Ask for a new one.")
    return _finish_reset(session, user_id, password)


def _finish_reset(session: ScopedSession, user_id: UUID, password: str) -> str:
    """Finish as the person themselves; only now is it known whose name to look for."""
    session.rescope(Scope(user_id=user_id))
    user = session.get_one(User, user_id)
    try:
        check_password(password, user.email, user.name)
    except InvalidInput:
        session.rollback()
        session.rescope(NOBODY)
        raise
    tell_password_changed(session, user)
    record(session, "password_reset")
    session.commit()
    return user.email


def create_group(
    session: ScopedSession,
    slug: str,
    name: str,
    *,
    timezone: str = "America/Chicago",
    currency: str = "USD",
    language: str = "en",
) -> Group:
    """Found a group, with the owner's session; the caller commits.

    Raises:
        Conflict: the slug is taken.
    """
    if session.scalar(select(func.count()).where(Group.slug == slug)):
        raise Conflict("There is a group %(slug)s already.", field="slug", slug=slug)
    group = Group(
        slug=slug, name=clean_name(name), timezone=timezone, currency=currency, language=language
    )
    session.add(group)
    session.flush()
    return group


def create_user(
    session: ScopedSession,
    email: str,
    name: str,
    password: str,
    memberships: dict[UUID, str],
    **profile: Any,
) -> User:
    """Add a person with the owner's session; the caller commits.

    `memberships` is group id -> role; `profile` as for `update_profile`.

    Raises:
        Conflict: the e-mail is taken.
        InvalidInput: the e-mail, the password or a role will not do.
    """
    address = clean_email(email)
    check_password(password, address, name)
    if session.scalar(select(func.count()).where(User.email == address)):
        raise Conflict("Somebody has the e-mail %(email)s already.", field="email", email=address)
    user = User(email=address, name=clean_name(name))
    session.add(user)
    session.flush()
    set_password(session, user.id, password)
    for group_id, role in memberships.items():
        set_membership(session, user.id, group_id, role)
    if profile:
        session.add(UserProfile(user_id=user.id, **profile))
    session.flush()
    return user


def set_membership(session: ScopedSession, user_id: UUID, group_id: UUID, role: str) -> None:
    """Give somebody a role in a group, with the owner's session; the caller commits."""
    if role not in ROLES:
        raise InvalidInput("Choose from the list.", field="role")
    session.merge(Membership(user_id=user_id, group_id=group_id, role=role))
    session.flush()


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
