"""Another password: one's own, one by a link that comes by mail, or one that an operator sets.

Every function works for the person of the session's scope, and commits what it did, except
`set_password`, which is given the owner's session.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from sqlalchemy import text

from app.accounts import emails
from app.accounts.audit import record
from app.accounts.models import User
from app.accounts.names_and_emails import fold_email
from app.accounts.passwords import check_password, hash_password, verify_password
from app.accounts.profile import load_profile
from app.accounts.sign_in import Device, confirm_credentials, find_credentials, start_sign_in
from app.accounts.tokens import RESET_MINUTES, hash_token, new_token
from app.db import NOBODY, Scope, ScopedSession, new_id, utc_now
from app.errors import InvalidInput, NotFound
from app.notifications.mail import queue_mail


def change_password(session: ScopedSession, current: str, new: str, device: Device) -> str:
    """Replace the person's password; every sign-in, API token and reset link of theirs ends.

    Returns the token of a new sign-in on `device`, from where the password was changed.

    Raises:
        InvalidInput: the current password is wrong, or the new one will not do.
    """
    user = session.get_one(User, session.scope.user_id)
    known = find_credentials(session, user.email)
    if known is None or not verify_password(known.password_hash, current):
        raise _not_yours()
    check_password(new, user.email, user.name, field="new_password")
    password_hash = hash_password(new)
    if not confirm_credentials(session, known.password_hash):
        raise _not_yours()
    # Sign-ins, API tokens and reset links end with it, in the database.
    session.execute(text("SELECT set_password(:hash)"), {"hash": password_hash})
    token = start_sign_in(session, device)
    tell_password_changed(session, user)
    record(session, "password_changed")
    session.commit()
    return token


def _not_yours() -> InvalidInput:
    return InvalidInput("That is not your current password.", field="current_password")


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
    queue_mail(session, user.email, letter.subject, letter.body, is_awaited=True)


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
    queue_mail(
        session, fold_email(email) if person else "", letter.subject, letter.body, is_awaited=True
    )
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
