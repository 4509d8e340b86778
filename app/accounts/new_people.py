"""The first people of a group, for the operator's commands and the demo.

Every function is given the owner's session, and the caller commits.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from app.accounts.choices import ROLES
from app.accounts.models import Group, Membership, User, UserProfile
from app.accounts.names_and_emails import clean_email, clean_name
from app.accounts.password_change import set_password
from app.accounts.passwords import check_password
from app.db import ScopedSession
from app.errors import Conflict, InvalidInput


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
        raise Conflict("Somebody already uses the email %(email)s.", field="email", email=address)
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
