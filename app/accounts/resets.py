"""A new password by a link that reaches only whoever reads the person's mail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from sqlalchemy import text

from app.accounts import emails
from app.accounts.audit import record
from app.accounts.models import User
from app.accounts.passwords import check_password, hash_password
from app.accounts.services import tell_password_changed
from app.accounts.text import fold_email
from app.accounts.tokens import hash_token, new_token
from app.db import NOBODY, Scope, ScopedSession, new_id, utc_now
from app.errors import InvalidInput, NotFound
from app.notifications.mail import queue_mail

RESET_MINUTES = 60


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
    return _confirm(session, user_id, password)


def _confirm(session: ScopedSession, user_id: UUID, password: str) -> str:
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
