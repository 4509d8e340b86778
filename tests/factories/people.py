"""Groups and the people who work there, made as the owner: no form is filled in."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from app.accounts.models import Credential, Group, Membership, SignIn, User, UserProfile
from app.accounts.passwords import hash_password
from app.accounts.tokens import API_PREFIX, hash_token, new_token
from app.assistant.prompts.system_prompt import seed_prompts
from app.assistant.tools.registry import Registry
from app.db import Database, Scope, new_id, utc_now
from app.skills import SKILLS

PASSWORD = "a pinch of sea salt"
REGISTRY = Registry(SKILLS)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Member:
    """Somebody who works in a group, and what a test needs to act as them."""

    user_id: UUID
    group_id: UUID
    email: str
    name: str
    role: str
    language: str

    @property
    def scope(self) -> Scope:
        return Scope(self.group_id, self.user_id, self.role)


def make_group(owner: Database, name: str = "Test House", **facts: Any) -> UUID:
    """A group with the prompt rows that every group starts with; returns its id."""
    with owner.transaction() as session:
        group = Group(slug=f"house-{new_id()}", name=name, **facts)
        session.add(group)
        session.flush()
        seed_prompts(session, group.id, REGISTRY)
        return group.id


@cache
def _password_hash() -> str:
    return hash_password(PASSWORD)


def make_user(
    owner: Database,
    group_id: UUID | None = None,
    role: str = "staff",
    *,
    language: str = "en",
    name: str = "",
    **profile: Any,
) -> Member:
    """Somebody with the password PASSWORD, in a group of their own when none is given."""
    group_id = group_id or make_group(owner)
    number = next(_numbers)
    with owner.transaction() as session:
        user = User(email=f"person-{new_id()}@example.com", name=name or f"Person {number}")
        session.add(user)
        session.flush()
        session.add_all(
            [
                Credential(user_id=user.id, password_hash=_password_hash()),
                Membership(user_id=user.id, group_id=group_id, role=role),
                UserProfile(user_id=user.id, language=language, **profile),
            ]
        )
        return Member(user.id, group_id, user.email, user.name, role, language)


def _add_sign_in(owner: Database, member: Member, token: str, kind: str) -> str:
    with owner.transaction() as session:
        session.add(
            SignIn(
                token_hash=hash_token(token),
                user_id=member.user_id,
                group_id=member.group_id,
                kind=kind,
                user_agent="a test",
                expires_at=utc_now() + timedelta(days=1),
            )
        )
    return token


def browser_token(owner: Database, member: Member) -> str:
    """The token of a browser where this person has signed in."""
    return _add_sign_in(owner, member, new_token(), "browser")


def api_token(owner: Database, member: Member) -> str:
    """A bearer token for this person."""
    return _add_sign_in(owner, member, new_token(API_PREFIX), "api")
