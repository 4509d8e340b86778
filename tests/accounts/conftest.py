"""A house with one person of each role, a second house, and browsers that behave like one."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts.models import Credential, Group, Membership, User
from app.accounts.passwords import hash_password
from app.db import Database, Scope
from app.notifications.mail import OutgoingMail

PASSWORD = "seven green avocados"


@cache
def password_hash() -> str:
    return hash_password(PASSWORD)


@dataclass(frozen=True)
class Member:
    user_id: UUID
    group_id: UUID
    email: str
    name: str
    role: str
    password: str = PASSWORD

    @property
    def scope(self) -> Scope:
        return Scope(self.group_id, self.user_id, self.role)


@dataclass(frozen=True)
class House:
    group_id: UUID
    slug: str
    name: str
    staff: Member
    manager: Member
    admin: Member


def found_house(owner: Database, language: str = "en") -> House:
    """A new group with three people whose addresses nobody else has."""
    mark = secrets.token_hex(4)
    with owner.transaction() as session:
        group = Group(slug=f"house-{mark}", name=f"House {mark}", language=language)
        session.add(group)
        session.flush()
        members = {}
        for role in ("staff", "manager", "admin"):
            user = User(email=f"{role}-{mark}@example.com", name=f"{role.title()} {mark}")
            session.add(user)
            session.flush()
            session.add(Credential(user_id=user.id, password_hash=password_hash()))
            session.add(Membership(user_id=user.id, group_id=group.id, role=role))
            members[role] = Member(user.id, group.id, user.email, user.name, role)
        return House(group.id, group.slug, group.name, **members)


@dataclass
class Browser:
    """A browser: keeps cookies, has an address of its own, sends the page's CSRF token."""

    app: Flask
    address: str = field(default_factory=lambda: "10." + ".".join(_bytes(3)))

    def __post_init__(self) -> None:
        self.client = self.app.test_client()
        self.client.environ_base["REMOTE_ADDR"] = self.address

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.client.get(path, **options)

    def csrf_token(self) -> str:
        page = self.get("/forgot-password").text
        found = re.search(r'<meta name="csrf-token" content="([^"]+)"', page)
        assert found, "the page carries no CSRF token"
        return found[1]

    def post(self, path: str, data: dict[str, Any] | None = None, **options: Any) -> TestResponse:
        form = {"csrf_token": self.csrf_token(), **(data or {})}
        return self.client.post(path, data=form, **options)

    def sign_in(self, member: Member, password: str | None = None, **more: str) -> TestResponse:
        form = {"email": member.email, "password": password or member.password, **more}
        return self.post("/sign-in", form)

    def cookie(self, name: str = "comanda") -> str | None:
        found = self.client.get_cookie(name)
        return found.value if found else None

    def is_signed_in(self) -> bool:
        return self.get("/profile").status_code == 200


def _bytes(count: int) -> list[str]:
    return [str(secrets.randbelow(254) + 1) for _ in range(count)]


@pytest.fixture
def house(owner: Database) -> House:
    return found_house(owner)


@pytest.fixture
def other_house(owner: Database) -> House:
    return found_house(owner)


@pytest.fixture
def browser(app: Flask) -> Browser:
    return Browser(app)


@pytest.fixture
def signed_in(app: Flask) -> Callable[[Member], Browser]:
    """Makes a browser in which somebody is signed in."""

    def sign_in(member: Member) -> Browser:
        browser = Browser(app)
        assert browser.sign_in(member).status_code == 303
        return browser

    return sign_in


@pytest.fixture
def mail_to(owner: Database) -> Callable[[str], list[OutgoingMail]]:
    """What waits in the outbox for an address, the oldest first."""

    def read(address: str) -> list[OutgoingMail]:
        with owner.transaction() as session:
            query = select(OutgoingMail).where(OutgoingMail.to_address == address)
            return list(session.scalars(query.order_by(OutgoingMail.id)))

    return read


@pytest.fixture
def join_group(owner: Database) -> Callable[[Member, House, str], None]:
    """Makes somebody a member of a second house too."""

    def join(member: Member, house: House, role: str) -> None:
        with owner.transaction() as session:
            session.add(Membership(user_id=member.user_id, group_id=house.group_id, role=role))

    return join


def link_in(mail: OutgoingMail) -> str:
    """The path of the link that a message carries."""
    found = re.search(r"https?://[^/\s]+(/\S+)", mail.body)
    assert found, mail.body
    return found[1]
